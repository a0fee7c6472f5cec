#include <stdio.h>

#include "delimited.h"

#define BLOCK_BYTES (256 * 1024)

void delimited_release(delimited_lines *lines) {
    free(lines->name);
    free(lines->buffer);
    free(lines->plain);
}

void delimited_make(delimited_lines *lines, const char *directory, const char *table, char delimiter) {
    if (asprintf(&lines->name, "%s/%s.tbl", directory, table) < 0) abort();
    lines->capacity = BLOCK_BYTES;
    lines->buffer = malloc(lines->capacity);
    if (lines->buffer == NULL) abort();
    lines->delimiter = delimiter;
}

size_t delimited_without_escapes(delimited_lines *lines, const char *value, const char *end) {
    if (lines->plain_bytes < (size_t)(end - value)) {
        lines->plain_bytes = 2 * (size_t)(end - value);
        lines->plain = realloc(lines->plain, lines->plain_bytes);
        if (lines->plain == NULL) abort();
    }
    char *to = lines->plain;
    for (; value < end; value++) {
        if (*value == '\\' && value + 1 < end) {
            value++;
            *to++ = *value == 'n' ? '\n' : *value == 'r' ? '\r' : *value;
        } else {
            *to++ = *value;
        }
    }
    return (size_t)(to - lines->plain);
}
