/* COPY … FROM STDIN: rows of parameters as COPY's text, or in its binary format, sent in blocks; and one column of them
   as an array. Sources: PostgreSQL's manual, "COPY", File Formats, and "Arrays"; src/backend/utils/adt/arrayfuncs.c. */
#include <stdlib.h>

#include "postgresql.h"

#define COPY_BLOCK_BYTES (64 * 1024)

static char *room_for(pg_copy_buffer *copy, size_t bytes) {
    if (copy->capacity - copy->length < bytes) {
        copy->capacity = 2 * copy->capacity + bytes;
        copy->data = realloc(copy->data, copy->capacity);
        if (copy->data == NULL) abort();
    }
    return copy->data + copy->length;
}

static void put(pg_copy_buffer *copy, const void *bytes, size_t length) {
    memcpy(room_for(copy, length), bytes, length);
    copy->length += length;
}

static void put_integer(pg_copy_buffer *copy, int64_t value, size_t bytes) {
    uint64_t big = htobe64((uint64_t)value << (64 - 8 * bytes));
    put(copy, &big, bytes);
}

static void put_escaped(pg_copy_buffer *copy, const char *text, size_t length) {
    char *to = room_for(copy, 2 * length), *start = to;
    for (const char *end = text + length; text < end; text++) {
        char escape = *text == '\\' ? '\\' : *text == '\t' ? 't' : *text == '\n' ? 'n' : *text == '\r' ? 'r' : '\0';
        if (escape != '\0') *to++ = '\\';
        *to++ = escape != '\0' ? escape : *text;
    }
    copy->length += (size_t)(to - start);
}

static void put_hexadecimal(pg_copy_buffer *copy, const char *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    char *to = room_for(copy, 3 + 2 * length), *start = to;
    to = mempcpy(to, "\\\\x", 3);
    for (size_t i = 0; i < length; i++) {
        *to++ = digits[(unsigned char)bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    copy->length += (size_t)(to - start);
}

static void put_text_row(pg_copy_buffer *copy, const rp_phase *phase, uint64_t row) {
    const rp_value *value = rp_parameters(phase, row);
    for (int i = 0; i < phase->parameter_column_count; i++, value++) {
        char scratch[RP_SCRATCH_BYTES];
        size_t length;
        if (i > 0) put(copy, "\t", 1);
        if (value->type == RP_NULL) {
            put(copy, "\\N", 2);
        } else if (value->type == RP_BINARY) {
            put_hexadecimal(copy, value->text, value->length);
        } else {
            const char *text = rp_value_text(value, scratch, &length);
            put_escaped(copy, text, length);
        }
    }
    put(copy, "\n", 1);
}

/* A decimal in plain notation as groups of four digits around the point; nan, inf and -inf are signs. */
static void put_numeric(pg_copy_buffer *copy, const char *text) {
    if (text[0] == 'n' || text[0] == 'i' || text[1] == 'i') {
        put_integer(copy, 8, 4);
        put_integer(copy, 0, 4);
        put_integer(copy, text[0] == 'n' ? 0xc000 : text[0] == 'i' ? 0xd000 : 0xf000, 2);
        put_integer(copy, 0, 2);
        return;
    }
    bool negative = *text == '-';
    text += negative;
    size_t whole = strcspn(text, "."), decimals = text[whole] == '.' ? strlen(text + whole + 1) : 0;
    size_t groups_before = (whole + 3) / 4, groups = groups_before + (decimals + 3) / 4;
    put_integer(copy, (int64_t)(8 + 2 * groups), 4);
    put_integer(copy, (int64_t)groups, 2);
    put_integer(copy, (int64_t)groups_before - 1, 2); /* the first group's weight: 10000^this */
    put_integer(copy, negative ? 0x4000 : 0, 2);
    put_integer(copy, (int64_t)decimals, 2);
    size_t place = 4 * groups_before - whole; /* leading zeros of the first group */
    int group = 0;
    for (; *text != '\0'; text++) {
        if (*text == '.') continue;
        group = 10 * group + (*text - '0');
        if (++place % 4 > 0) continue;
        put_integer(copy, group, 2);
        group = 0;
    }
    if (place % 4 == 0) return;
    for (; place % 4 > 0; place++)
        group *= 10;
    put_integer(copy, group, 2);
}

/* The length of a value's binary form and the form itself, as COPY and arrays have them. */
static bool put_binary_value(pg_copy_buffer *copy, const rp_column *column, const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length;
    bool wide = column->type == RP_INTEGER && column->bits > 64;
    int size = value->type == column->type ? pg_put_binary(value, column, scratch) : -1;
    if (value->type == RP_NULL) {
        put_integer(copy, -1, 4);
    } else if (size >= 0) {
        put_integer(copy, size, 4);
        put(copy, scratch, (size_t)size);
    } else if (wide || (column->type == RP_DECIMAL && value->type == RP_DECIMAL)) {
        put_numeric(copy, rp_value_text(value, scratch, &length));
    } else if (value->type == column->type) {
        put_integer(copy, value->length, 4);
        put(copy, value->text, value->length);
    } else {
        return rp_fail(RP_UNSUPPORTED, "", "column %s: a value without a binary form", column->name);
    }
    return true;
}

static bool put_binary_row(pg_copy_buffer *copy, const rp_phase *phase, uint64_t row) {
    const rp_value *value = rp_parameters(phase, row);
    put_integer(copy, phase->parameter_column_count, 2);
    for (int i = 0; i < phase->parameter_column_count; i++)
        if (!put_binary_value(copy, &phase->parameter_columns[i], &value[i])) return false;
    return true;
}

static bool send_block(pg_copy_buffer *copy) {
    bool good = copy->length == 0 || PQputCopyData(copy->pg, copy->data, (int)copy->length) == 1;
    copy->length = 0;
    return good || rp_fail(RP_SQL_ERROR, "", "%s", PQerrorMessage(copy->pg));
}

bool pg_copy_rows(pg_copy_buffer *copy, const rp_phase *phase, uint64_t row, uint64_t count, bool binary) {
    copy->length = 0;
    if (binary) put(copy, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0", 19); /* signature, no flags, no extension */
    for (uint64_t last = row + count; row < last; row++) {
        if (!binary)
            put_text_row(copy, phase, row);
        else if (!put_binary_row(copy, phase, row))
            return false;
        if (copy->length >= COPY_BLOCK_BYTES && !send_block(copy)) return false;
    }
    if (binary) put_integer(copy, -1, 2);
    return send_block(copy);
}

static void put_quoted(pg_copy_buffer *copy, const char *text, size_t length) {
    char *to = room_for(copy, 2 * length), *start = to;
    for (const char *end = text + length; text < end; text++) {
        if (*text == '\\' || *text == '"') *to++ = '\\';
        *to++ = *text;
    }
    copy->length += (size_t)(to - start);
}

static void put_text_element(pg_copy_buffer *copy, const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length;
    if (value->type == RP_NULL) {
        put(copy, "NULL", 4);
        return;
    }
    put(copy, "\"", 1);
    if (value->type == RP_BINARY) {
        put_hexadecimal(copy, value->text, value->length);
    } else {
        const char *text = rp_value_text(value, scratch, &length);
        put_quoted(copy, text, length);
    }
    put(copy, "\"", 1);
}

bool pg_put_array(pg_copy_buffer *copy, const rp_phase *phase, int column, uint64_t row, uint64_t count,
                  unsigned element, bool binary) {
    if (binary) {
        put_integer(copy, 1, 4); /* dimensions */
        put_integer(copy, 1, 4); /* NULLs may be in it */
        put_integer(copy, element, 4);
        put_integer(copy, (int64_t)count, 4);
        put_integer(copy, 1, 4); /* the lower bound */
    }
    for (uint64_t at = row; at < row + count; at++) {
        const rp_value *value = rp_parameters(phase, at) + column;
        if (!binary) put(copy, at == row ? "{" : ",", 1);
        if (!binary)
            put_text_element(copy, value);
        else if (!put_binary_value(copy, &phase->parameter_columns[column], value))
            return false;
    }
    if (!binary) put(copy, "}", 2); /* with the closing NUL */
    return true;
}
