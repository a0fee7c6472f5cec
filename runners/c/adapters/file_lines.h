/* The lines of a delimited text file (runners/PROTOCOL.md, "Delimited text files"), whole or those of one segment. */
#ifndef RP_FILE_LINES_H
#define RP_FILE_LINES_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rowpath.h"

#define BLOCK_BYTES (256 * 1024)

typedef struct file_lines {
    char *name, *buffer, *plain; /* `plain`: a value without its escapes */
    size_t capacity, plain_bytes;
    char delimiter;
} file_lines;

/* Takes the line [at, end); `taker` is its own. */
typedef void file_taker(void *taker, const char *at, const char *end, rp_sink *sink);

static inline void release_lines(file_lines *lines) {
    free(lines->name);
    free(lines->buffer);
    free(lines->plain);
}

static inline void make_lines(file_lines *lines, const char *directory, const char *table, char delimiter) {
    if (asprintf(&lines->name, "%s/%s.tbl", directory, table) < 0) abort();
    lines->capacity = BLOCK_BYTES;
    lines->buffer = malloc(lines->capacity);
    if (lines->buffer == NULL) abort();
    lines->delimiter = delimiter;
}

/* Where the value that begins at `at` ends: at a delimiter that is not escaped, or at the line's end. */
static inline const char *value_end(const file_lines *lines, const char *at, const char *end, bool escapes) {
    if (!escapes) {
        const char *stop = memchr(at, lines->delimiter, (size_t)(end - at));
        return stop != NULL ? stop : end;
    }
    while (at < end && *at != lines->delimiter)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at;
}

static inline bool has_escapes(const char *at, const char *end) {
    return memchr(at, '\\', (size_t)(end - at)) != NULL;
}

static inline bool is_null(const char *at, const char *end) {
    return end - at == 2 && at[0] == '\\' && at[1] == 'N';
}

/* The value without its escapes, in `plain`; its length. */
static inline size_t without_escapes(file_lines *lines, const char *value, const char *end) {
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
static inline size_t room(const file_lines *lines, size_t kept, int64_t left) {
    size_t free_bytes = lines->capacity - kept, wanted = left > 4096 ? (size_t)left : 4096;
    return wanted < free_bytes ? wanted : free_bytes;
}

/* Every line of the open file whose first byte lies in [begin, end). Inlined, so that `take` is no call by pointer. */
__attribute__((always_inline)) static inline bool take_lines_of(file_lines *lines, int file, int64_t begin, int64_t end,
                                                                file_taker *take, void *taker, rp_sink *sink) {
    size_t kept = 0;        /* bytes of a line whose end was not read yet */
    bool other = begin > 0; /* the first line read began before the segment */
    int64_t at = other ? begin - 1 : 0;
    if (lseek(file, at, SEEK_SET) < 0) return rp_fail_errno(RP_SQL_ERROR, lines->name);
    while (at < end && !sink->broken) { /* `at`: where the buffer's first byte stands in the file */
        ssize_t count = read(file, lines->buffer + kept, room(lines, kept, end - at - (int64_t)kept));
        if (count < 0) return rp_fail_errno(RP_SQL_ERROR, lines->name);
        if (count == 0) break;
        const char *line = lines->buffer, *last = lines->buffer + kept + count, *newline;
        for (const char *from = line + kept; (newline = memchr(from, '\n', (size_t)(last - from))) != NULL;
             line = from = newline + 1) {
            if (at + (line - lines->buffer) >= end) return true;
            if (RP_UNLIKELY(other))
                other = false;
            else
                take(taker, line, newline, sink);
        }
        at += line - lines->buffer;
        kept = (size_t)(last - line);
        memmove(lines->buffer, line, kept);
        if (kept < lines->capacity) continue;
        lines->capacity *= 2;
        lines->buffer = realloc(lines->buffer, lines->capacity);
        if (lines->buffer == NULL) abort();
    }
    if (kept > 0 && at < end && !sink->broken)
        return rp_fail(RP_VERIFY, "", "%s: the last line does not end", lines->name);
    return true;
}

__attribute__((always_inline)) static inline bool take_lines(file_lines *lines, int64_t begin, int64_t end,
                                                             file_taker *take, void *taker, rp_sink *sink) {
    int file = open(lines->name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return rp_fail_errno(RP_CONNECT_ERROR, lines->name);
    rp_executed(sink);
    bool good = begin >= end || take_lines_of(lines, file, begin, end, take, taker, sink);
    close(file);
    return good;
}

#endif
