/* COPY … FROM STDIN: rows of parameters as COPY's text, or in its binary format, sent in blocks.
   Source: PostgreSQL's manual, "COPY", File Formats. */
#ifndef RP_POSTGRESQL_COPY_H
#define RP_POSTGRESQL_COPY_H

#include <stdlib.h>

#include <libpq-fe.h>

#include "postgresql_binary.h"

#define COPY_BLOCK_BYTES (64 * 1024)

typedef struct copy_buffer {
    PGconn *pg;
    char *data;
    size_t length, capacity;
} copy_buffer;

static inline char *copy_room(copy_buffer *copy, size_t bytes) {
    if (copy->capacity - copy->length < bytes) {
        copy->capacity = 2 * copy->capacity + bytes;
        copy->data = realloc(copy->data, copy->capacity);
        if (copy->data == NULL) abort();
    }
    return copy->data + copy->length;
}

static inline void copy_put(copy_buffer *copy, const void *bytes, size_t length) {
    memcpy(copy_room(copy, length), bytes, length);
    copy->length += length;
}

static inline void copy_put_integer(copy_buffer *copy, int64_t value, size_t bytes) {
    uint64_t big = htobe64((uint64_t)value << (64 - 8 * bytes));
    copy_put(copy, &big, bytes);
}

static inline void copy_put_escaped(copy_buffer *copy, const char *text, size_t length) {
    char *to = copy_room(copy, 2 * length), *start = to;
    for (const char *end = text + length; text < end; text++) {
        char escape = *text == '\\' ? '\\' : *text == '\t' ? 't' : *text == '\n' ? 'n' : *text == '\r' ? 'r' : '\0';
        if (escape != '\0') *to++ = '\\';
        *to++ = escape != '\0' ? escape : *text;
    }
    copy->length += (size_t)(to - start);
}

static inline void copy_put_hexadecimal(copy_buffer *copy, const char *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    char *to = copy_room(copy, 3 + 2 * length), *start = to;
    to = mempcpy(to, "\\\\x", 3);
    for (size_t i = 0; i < length; i++) {
        *to++ = digits[(unsigned char)bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    copy->length += (size_t)(to - start);
}

static inline void copy_text_row(copy_buffer *copy, const rp_phase *phase, uint64_t row) {
    const rp_value *value = rp_parameters(phase, row);
    for (int i = 0; i < phase->parameter_column_count; i++, value++) {
        char scratch[RP_SCRATCH_BYTES];
        size_t length;
        if (i > 0) copy_put(copy, "\t", 1);
        if (value->type == RP_NULL) {
            copy_put(copy, "\\N", 2);
        } else if (value->type == RP_BINARY) {
            copy_put_hexadecimal(copy, value->text, value->length);
        } else {
            const char *text = rp_value_text(value, scratch, &length);
            copy_put_escaped(copy, text, length);
        }
    }
    copy_put(copy, "\n", 1);
}

/* A decimal in plain notation as groups of four digits around the point. */
static inline void copy_put_numeric(copy_buffer *copy, const char *text) {
    bool negative = *text == '-';
    text += negative;
    size_t whole = strcspn(text, "."), decimals = text[whole] == '.' ? strlen(text + whole + 1) : 0;
    size_t groups_before = (whole + 3) / 4, groups = groups_before + (decimals + 3) / 4;
    copy_put_integer(copy, (int64_t)(8 + 2 * groups), 4);
    copy_put_integer(copy, (int64_t)groups, 2);
    copy_put_integer(copy, (int64_t)groups_before - 1, 2); /* the first group's weight: 10000^this */
    copy_put_integer(copy, negative ? 0x4000 : 0, 2);
    copy_put_integer(copy, (int64_t)decimals, 2);
    size_t place = 4 * groups_before - whole; /* leading zeros of the first group */
    int group = 0;
    for (; *text != '\0'; text++) {
        if (*text == '.') continue;
        group = 10 * group + (*text - '0');
        if (++place % 4 > 0) continue;
        copy_put_integer(copy, group, 2);
        group = 0;
    }
    if (place % 4 == 0) return;
    for (; place % 4 > 0; place++)
        group *= 10;
    copy_put_integer(copy, group, 2);
}

static inline bool copy_binary_row(copy_buffer *copy, const rp_phase *phase, uint64_t row) {
    const rp_value *value = rp_parameters(phase, row);
    copy_put_integer(copy, phase->parameter_column_count, 2);
    for (int i = 0; i < phase->parameter_column_count; i++, value++) {
        const rp_column *column = &phase->parameter_columns[i];
        char scratch[RP_SCRATCH_BYTES];
        int size = value->type == column->type ? pg_put_binary(value, column, scratch) : -1;
        if (value->type == RP_NULL) {
            copy_put_integer(copy, -1, 4);
        } else if (size >= 0) {
            copy_put_integer(copy, size, 4);
            copy_put(copy, scratch, (size_t)size);
        } else if (column->type == RP_DECIMAL && value->type == RP_DECIMAL) {
            copy_put_numeric(copy, value->text);
        } else if (value->type == column->type) {
            copy_put_integer(copy, value->length, 4);
            copy_put(copy, value->text, value->length);
        } else {
            return rp_fail(RP_UNSUPPORTED, "", "column %s: a value without a binary form", column->name);
        }
    }
    return true;
}

static inline bool copy_send(copy_buffer *copy) {
    bool good = copy->length == 0 || PQputCopyData(copy->pg, copy->data, (int)copy->length) == 1;
    copy->length = 0;
    return good || rp_fail(RP_SQL_ERROR, "", "%s", PQerrorMessage(copy->pg));
}

static inline bool copy_rows(copy_buffer *copy, const rp_phase *phase, uint64_t row, uint64_t count, bool binary) {
    copy->length = 0;
    if (binary) copy_put(copy, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0", 19); /* signature, no flags, no extension */
    for (uint64_t last = row + count; row < last; row++) {
        if (!binary)
            copy_text_row(copy, phase, row);
        else if (!copy_binary_row(copy, phase, row))
            return false;
        if (copy->length >= COPY_BLOCK_BYTES && !copy_send(copy)) return false;
    }
    if (binary) copy_put_integer(copy, -1, 2);
    return copy_send(copy);
}

#endif
