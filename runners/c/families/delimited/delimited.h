/* The lines of a delimited text file (runners/PROTOCOL.md, "Delimited text files"), whole, those of one segment, or
   added up. */
#ifndef RP_DELIMITED_H
#define RP_DELIMITED_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "adapter.h"

typedef struct delimited_lines {
    char *name, *buffer, *plain; /* `plain`: a value without its escapes */
    size_t capacity, plain_bytes;
    char delimiter;
} delimited_lines;

/* Takes the line [at, end); `taker` is its own. */
typedef void delimited_taker(void *taker, const char *at, const char *end, rp_sink *sink);

void delimited_make(delimited_lines *lines, const char *directory, const char *table, char delimiter);
void delimited_release(delimited_lines *lines);

/* The value without its escapes, in `plain`; its length. */
size_t delimited_without_escapes(delimited_lines *lines, const char *value, const char *end);

typedef struct delimited_aggregate delimited_aggregate;

/* What the phase's columns ask for; NULL after rp_fail. */
delimited_aggregate *delimited_aggregate_of(const rp_phase *phase);
void delimited_release_aggregate(delimited_aggregate *aggregate);

/* The row of sums over every line. */
bool delimited_add_up(delimited_aggregate *aggregate, delimited_lines *lines, const rp_phase *phase, rp_sink *sink);

/* What follows is inline: it is done to every line or every value inside the clock. */

/* Where the value that begins at `at` ends: at a delimiter that is not escaped, or at the line's end. */
static inline const char *delimited_value_end(const delimited_lines *lines, const char *at, const char *end,
                                              bool escapes) {
    if (!escapes) {
        const char *stop = memchr(at, lines->delimiter, (size_t)(end - at));
        return stop != NULL ? stop : end;
    }
    while (at < end && *at != lines->delimiter)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at;
}

static inline bool delimited_has_escapes(const char *at, const char *end) {
    return memchr(at, '\\', (size_t)(end - at)) != NULL;
}

static inline bool delimited_is_null(const char *at, const char *end) {
    return end - at == 2 && at[0] == '\\' && at[1] == 'N';
}

/* The bytes to ask for: no more of what lies behind the segment than the end of its last line needs. */
static inline size_t delimited_room(const delimited_lines *lines, size_t kept, int64_t left) {
    size_t free_bytes = lines->capacity - kept, wanted = left > 4096 ? (size_t)left : 4096;
    return wanted < free_bytes ? wanted : free_bytes;
}

/* Every line of the open file whose first byte lies in [begin, end). Inlined, so that `take` is no call by pointer. */
__attribute__((always_inline)) static inline bool delimited_take_from(delimited_lines *lines, int file, int64_t begin,
                                                                      int64_t end, delimited_taker *take, void *taker,
                                                                      rp_sink *sink) {
    size_t kept = 0;        /* bytes of a line whose end was not read yet */
    bool other = begin > 0; /* the first line read began before the segment */
    int64_t at = other ? begin - 1 : 0;
    if (lseek(file, at, SEEK_SET) < 0) return rp_fail_errno(RP_SQL_ERROR, lines->name);
    while (at < end && !sink->broken) { /* `at`: where the buffer's first byte stands in the file */
        ssize_t count = read(file, lines->buffer + kept, delimited_room(lines, kept, end - at - (int64_t)kept));
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

__attribute__((always_inline)) static inline bool delimited_take_lines(delimited_lines *lines, int64_t begin,
                                                                       int64_t end, delimited_taker *take, void *taker,
                                                                       rp_sink *sink) {
    int file = open(lines->name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return rp_fail_errno(RP_CONNECT_ERROR, lines->name);
    rp_executed(sink);
    bool good = begin >= end || delimited_take_from(lines, file, begin, end, take, taker, sink);
    close(file);
    return good;
}

#endif
