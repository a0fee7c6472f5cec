/* The records of a file in the form of RFC 4180, split into fields. Values without quotes are not looked at byte by
   byte. */
#ifndef RP_DELIMITED_RECORDS_H
#define RP_DELIMITED_RECORDS_H

#include "delimited_values.h"

/* Where the field that begins at `at` ends: at a delimiter, CR LF or LF. NULL: its quote is not closed before `end`. */
static inline const char *delimited_take_field(const delimited_lines *lines, const char *at, const char *end,
                                               delimited_field *field) {
    field->quoted = lines->dialect.quote != '\0' && *at == lines->dialect.quote;
    field->doubled = false;
    if (!RP_UNLIKELY(field->quoted)) {
        const char *stop = delimited_next_sign(at, lines->dialect.delimiter, '\n');
        if (*stop == '\n' && stop > at && stop[-1] == '\r') stop--;
        field->at = at;
        field->length = (size_t)(stop - at);
        return stop;
    }
    field->at = ++at;
    for (;; at += 2) {
        at = memchr(at, lines->dialect.quote, (size_t)(end - at));
        if (at == NULL) return NULL;
        if (at[1] != lines->dialect.quote) break; /* a line feed stands before `end`, so there is a next byte */
        field->doubled = true;
    }
    field->length = (size_t)(at - field->at);
    return at + 1;
}

/* How many fields the record at `at` has, of which `most` are kept; `*next`: where the next one begins. 0: it does not
   end before `end`; -1: text follows a closing quote. */
static inline int delimited_split(const delimited_lines *lines, const char *at, const char *end,
                                  delimited_field *fields, int most, const char **next) {
    delimited_field beyond;
    for (int count = 0;;) {
        at = delimited_take_field(lines, at, end, count < most ? &fields[count] : &beyond);
        if (RP_UNLIKELY(at == NULL)) return 0;
        count++;
        if (*at == lines->dialect.delimiter) {
            at++;
            continue;
        }
        at += *at == '\r';
        *next = at + 1;
        return RP_UNLIKELY(*at != '\n') ? -1 : count;
    }
}

/* Whether the only field of a record is a blank line. */
static inline bool delimited_is_blank(const delimited_field *field) {
    return field->length == 0 && !field->quoted;
}

static inline bool delimited_is_null_field(const delimited_lines *lines, const delimited_field *field) {
    if (field->length > 0) return false;
    return field->quoted ? lines->dialect.null == DELIMITED_NULL_EMPTY : lines->dialect.null != DELIMITED_NULL_NONE;
}

/* The value of a field, its doubled quotes undone in `lines->plain`; sets `length`. */
static inline const char *delimited_field_text(delimited_lines *lines, const delimited_field *field, size_t *length) {
    *length = RP_UNLIKELY(field->doubled) ? delimited_without_doubles(lines, field) : field->length;
    return RP_UNLIKELY(field->doubled) ? lines->plain : field->at;
}

#endif
