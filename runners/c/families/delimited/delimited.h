/* The lines of a delimited text file (runners/PROTOCOL.md, "Files"), whole, those of one segment, or added up. */
#ifndef RP_DELIMITED_H
#define RP_DELIMITED_H

#include <stdlib.h>

#include "adapter.h"

#define DELIMITED_READ_BEYOND 16 /* bytes of the buffer behind the last line that may be read */

/* Which empty fields are NULL: all, those without quotes, none. */
typedef enum delimited_null { DELIMITED_NULL_EMPTY, DELIMITED_NULL_UNQUOTED, DELIMITED_NULL_NONE } delimited_null;

typedef struct delimited_dialect {
    char delimiter, quote; /* `quote`: NUL when there is none */
    bool own;              /* Rowpath's own form, with backslashes; else that of RFC 4180 */
    bool header;
    delimited_null null;
} delimited_dialect;

typedef struct delimited_field {
    const char *at;
    size_t length;        /* without the quotes around it */
    bool quoted, doubled; /* `doubled`: quotes in it are doubled */
} delimited_field;

typedef struct delimited_lines {
    char *name, *buffer, *plain; /* `plain`: a value without its escapes */
    size_t capacity, plain_bytes;
    delimited_dialect dialect;
    delimited_field *fields; /* of RFC 4180: of one record */
    int field_count;
} delimited_lines;

delimited_dialect delimited_dialect_of(const rp_options *options);

/* Takes the lines that begin in [at, limit) and returns where the next one begins; what ends at `end` are whole lines.
   A record that does not end before `end` comes again with what follows. After a line that does not fit, what it
   returns is not looked at. `taker` is its own. */
typedef const char *delimited_taker(void *taker, const char *at, const char *limit, const char *end, rp_sink *sink);

/* `fields`: of a record. */
void delimited_make(delimited_lines *lines, const char *directory, const char *table, const delimited_dialect *dialect,
                    int fields);
void delimited_release(delimited_lines *lines);

/* Every line of the file whose first byte lies in [begin, end). */
bool delimited_take_lines(delimited_lines *lines, int64_t begin, int64_t end, delimited_taker *take, void *taker,
                          rp_sink *sink);

/* The value without its escapes, in `plain`; its length. */
size_t delimited_without_escapes(delimited_lines *lines, const char *value, const char *end);

/* The same of a field with doubled quotes. */
size_t delimited_without_doubles(delimited_lines *lines, const delimited_field *field);

typedef struct delimited_aggregate delimited_aggregate;

/* What the phase's columns ask for; NULL after rp_fail. */
delimited_aggregate *delimited_aggregate_of(const rp_phase *phase);
void delimited_release_aggregate(delimited_aggregate *aggregate);

/* The row of sums over every line. */
bool delimited_add_up(delimited_aggregate *aggregate, delimited_lines *lines, const rp_phase *phase, rp_sink *sink);

/* What follows is inline: it is done to every line or every value inside the clock. */

static inline bool delimited_has_escapes(const char *at, const char *end) {
    return memchr(at, '\\', (size_t)(end - at)) != NULL;
}

/* Where the value that begins at `at` ends: at a delimiter that is not escaped, or at the line's end. */
static inline const char *delimited_value_end(const delimited_lines *lines, const char *at, const char *end,
                                              bool escapes) {
    if (!escapes) {
        const char *stop = memchr(at, lines->dialect.delimiter, (size_t)(end - at));
        return stop != NULL ? stop : end;
    }
    while (at < end && *at != lines->dialect.delimiter)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at;
}

static inline bool delimited_is_null(const char *at, const char *end) {
    return end - at == 2 && at[0] == '\\' && at[1] == 'N';
}

#endif
