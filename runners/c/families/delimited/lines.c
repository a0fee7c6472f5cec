#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "delimited.h"

#define BLOCK_BYTES (256 * 1024)

void delimited_release(delimited_lines *lines) {
    free(lines->name);
    free(lines->buffer);
    free(lines->plain);
}

static void grow(delimited_lines *lines) {
    lines->capacity = lines->capacity > 0 ? 2 * lines->capacity : BLOCK_BYTES;
    lines->buffer = realloc(lines->buffer, lines->capacity + DELIMITED_READ_BEYOND);
    if (lines->buffer == NULL) abort();
}

void delimited_make(delimited_lines *lines, const char *directory, const char *table, char delimiter) {
    if (asprintf(&lines->name, "%s/%s.tbl", directory, table) < 0) abort();
    lines->delimiter = delimiter;
    grow(lines);
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

/* The bytes to ask for: no more of what lies behind the segment than the end of its last line needs. */
static size_t room(const delimited_lines *lines, size_t kept, int64_t left) {
    size_t free_bytes = lines->capacity - kept, wanted = left > 4096 ? (size_t)left : 4096;
    return wanted < free_bytes ? wanted : free_bytes;
}

static bool take_from(delimited_lines *lines, int file, int64_t begin, int64_t end, delimited_taker *take, void *taker,
                      rp_sink *sink) {
    size_t kept = 0;        /* bytes of a line whose end was not read yet */
    bool other = begin > 0; /* the first line read began before the segment */
    int64_t at = other ? begin - 1 : 0;
    if (lseek(file, at, SEEK_SET) < 0) return rp_fail_errno(RP_SQL_ERROR, lines->name);
    while (at < end) { /* `at`: where the buffer's first byte stands in the file */
        ssize_t count = read(file, lines->buffer + kept, room(lines, kept, end - at - (int64_t)kept));
        if (count < 0) return rp_fail_errno(RP_SQL_ERROR, lines->name);
        if (count == 0) break;
        const char *line = lines->buffer, *last = line + kept + count,
                   *newline = memrchr(line + kept, '\n', (size_t)count);
        const char *whole = newline != NULL ? newline + 1 : line,
                   *limit = whole - line < end - at ? whole : line + (end - at);
        if (RP_UNLIKELY(other && newline != NULL)) {
            line = (const char *)memchr(line, '\n', (size_t)(whole - line)) + 1;
            other = false;
        }
        if (line < limit) line = take(taker, line, limit, whole, sink);
        if (sink->broken) return true;
        if (limit < whole) return true;
        at += line - lines->buffer;
        kept = (size_t)(last - line);
        memmove(lines->buffer, line, kept);
        if (kept == lines->capacity) grow(lines);
    }
    return kept == 0 || at >= end || rp_fail(RP_VERIFY, "", "%s: the last line does not end", lines->name);
}

bool delimited_take_lines(delimited_lines *lines, int64_t begin, int64_t end, delimited_taker *take, void *taker,
                          rp_sink *sink) {
    int file = open(lines->name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return rp_fail_errno(RP_CONNECT_ERROR, lines->name);
    rp_executed(sink);
    bool good = begin >= end || take_from(lines, file, begin, end, take, taker, sink);
    close(file);
    return good;
}
