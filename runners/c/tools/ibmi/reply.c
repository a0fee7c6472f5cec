/* Replies: a head, a template, then parameters, each with its length and code point. Runs of bytes may be shortened. */
#include <stdlib.h>
#include <string.h>

#include "ibmi.h"

enum { PREFIX_BYTES = 40, SQLCA_BYTES = 136, FIELD_BYTES = 48, RUNS = 0x3832, ESCAPE = 0x1B };

uint8_t *reply_room(struct reply *reply, size_t bytes) {
    uint8_t *at;
    if (reply->length + bytes > reply->room) {
        reply->room = (reply->length + bytes) * 2;
        reply->at = realloc(reply->at, reply->room);
        if (reply->at == NULL) abort();
    }
    at = memset(reply->at + reply->length, 0, bytes);
    reply->length += bytes;
    return at;
}

/* `class`, `code`: how the request ended; 0: well. */
void reply_begin(struct reply *reply, const uint8_t *request, int class, int code) {
    uint8_t *at;
    reply->length = 0;
    at = reply_room(reply, PREFIX_BYTES);
    memcpy(at + 6, request + 6, 10); /* server, instance, correlation */
    put16(at + 16, 20);
    put16(at + 18, 0x2800);
    put32(at + 20, get32(request + 20) & 0xFFFE0000u);
    memcpy(at + 28, request + 28, 2);
    memcpy(at + 30, request + 18, 2);
    put16(at + 34, (uint32_t)class);
    put32(at + 36, (uint32_t)code);
}

uint8_t *reply_parameter(struct reply *reply, uint16_t code_point, size_t bytes) {
    uint8_t *at = reply_room(reply, bytes + 6);
    put32(at, (uint32_t)bytes + 6);
    put16(at + 4, code_point);
    return at + 6;
}

void reply_sqlca(struct reply *reply, int code, const char *state, size_t rows) {
    uint8_t *at = reply_parameter(reply, 0x3807, SQLCA_BYTES);
    to_latin("SQLCA   ", 8, at, 8);
    put32(at + 8, SQLCA_BYTES);
    put32(at + 12, (uint32_t)code);
    put32(at + 104, (uint32_t)rows);
    memset(at + 120, 0x40, 11);
    to_latin(state, 5, at + 131, 5);
}

void reply_text(struct reply *reply, uint16_t code_point, const char *text, bool with_length) {
    size_t length = strlen(text), head = with_length ? 4 : 2, bytes = to_latin(text, length, NULL, 0);
    uint8_t *at = reply_parameter(reply, code_point, head + bytes);
    put16(at, CCSID_LATIN);
    if (with_length) put16(at + 2, (uint32_t)bytes);
    to_latin(text, length, at + head, bytes);
}

static uint16_t type_of(const struct column *column) {
    static const uint16_t types[] = {500, 496, 492, 484, 480, 480, 452, 448, 908, 384, 388, 392};
    return (uint16_t)(types[column->kind] + (column->nullable ? 1 : 0));
}

/* The columns of rows or of parameters. */
void reply_format(struct reply *reply, uint16_t code_point, const struct table *table, const int *columns, int count) {
    size_t begin = reply->length, names = 0;
    uint32_t record = 0;
    uint8_t *at = reply_parameter(reply, code_point, 16 + FIELD_BYTES * (size_t)count);
    put32(at + 4, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        const struct column *column = &table->columns[columns[i]];
        uint8_t *field = at + 16 + FIELD_BYTES * (size_t)i;
        size_t length = strlen(column->name);
        put16(field, FIELD_BYTES);
        put16(field + 2, type_of(column));
        put32(field + 4, column->bytes);
        put16(field + 8, column->scale);
        put16(field + 10, column->precision);
        put16(field + 12, column->ccsid);
        if (code_point == FORMAT_OF_PARAMETERS) field[14] = 0xF0; /* it goes in */
        put32(field + 32, (uint32_t)(FIELD_BYTES * (size_t)(count - i) + names));
        put32(field + 36, (uint32_t)length + 8);
        names += length + 8;
        record += column->bytes;
    }
    put32(at + 12, record);
    for (int i = 0; i < count; i++) {
        const char *name = table->columns[columns[i]].name;
        size_t length = strlen(name);
        uint8_t *to = reply_room(reply, length + 8);
        put32(to, (uint32_t)length + 8);
        put16(to + 4, 0x3840);
        put16(to + 6, CCSID_LATIN);
        to_latin(name, length, to + 8, length);
    }
    put32(reply->at + begin, (uint32_t)(reply->length - begin));
}

/* The same in the form that a package has. */
void reply_sqlda(struct reply *reply, const struct table *table, const int *columns, int count) {
    enum { HEAD = 16, VARIABLE = 80, MOST_OF_NAME = 30 };
    uint8_t *at = reply_room(reply, HEAD + VARIABLE * (size_t)count);
    to_latin("SQLDA   ", 8, at, 8);
    put32(at + 8, (uint32_t)(HEAD + VARIABLE * count));
    put16(at + 12, (uint32_t)count);
    put16(at + 14, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        const struct column *column = &table->columns[columns[i]];
        uint8_t *field = at + HEAD + VARIABLE * (size_t)i;
        uint32_t decimal = (uint32_t)column->precision << 8 | column->scale;
        size_t length = strlen(column->name) < MOST_OF_NAME ? strlen(column->name) : MOST_OF_NAME;
        put16(field, type_of(column));
        put16(field + 2, column->kind == DECIMAL ? decimal : column->bytes - (is_variable(column->kind) ? 2 : 0));
        put16(field + 18, column->ccsid);
        field[32] = 0xC9; /* a parameter goes in */
        put16(field + 48, (uint32_t)length);
        to_latin(column->name, length, field + 50, length);
    }
}

static uint32_t shortened(const struct statement *statement, const uint8_t *row) {
    const struct table *table = statement->table;
    uint32_t bytes = 4;
    for (int i = 0; i < statement->results; i++) {
        const struct column *column = &table->columns[statement->result[i]];
        const uint8_t *value = row + 2 * table->count + column->offset;
        bytes += is_variable(column->kind) ? get16(value) + 2u : column->bytes;
    }
    return bytes;
}

static uint8_t *put_row(const struct statement *statement, const uint8_t *row, uint8_t *indicators, uint8_t *to,
                        bool shorten) {
    const struct table *table = statement->table;
    const uint8_t *data = row + 2 * table->count;
    for (int i = 0; i < statement->results; i++) {
        const struct column *column = &table->columns[statement->result[i]];
        const uint8_t *value = data + column->offset;
        uint32_t bytes = shorten && is_variable(column->kind) ? get16(value) + 2u : column->bytes;
        memcpy(indicators + 2 * i, row + 2 * statement->result[i], 2);
        memcpy(to, value, bytes);
        to += bytes;
    }
    return to;
}

/* As many rows as the driver asked for: a number of them, or as many as fit into that many bytes. */
void reply_rows(struct reply *reply, const struct statement *statement, struct cursor *cursor, uint32_t most_rows,
                uint32_t most_bytes, bool shorten) {
    const struct table *table = statement->table;
    size_t columns = (size_t)statement->results, begin = reply->length, room = 0, filled = 20;
    uint32_t row_bytes = 0, rows = 0;
    int64_t *numbers = NULL;
    bool variable = false;
    for (size_t i = 0; i < columns; i++) {
        row_bytes += table->columns[statement->result[i]].bytes;
        variable = variable || is_variable(table->columns[statement->result[i]].kind);
    }
    shorten = shorten && variable;
    for (; cursor->waiting >= 0 && (most_rows == 0 || rows < most_rows); cursor_step(cursor, statement)) {
        const uint8_t *row = table_row(table, (size_t)cursor->waiting);
        size_t more = 2 * columns + (shorten ? shortened(statement, row) : row_bytes);
        if (most_bytes > 0 && rows > 0 && filled + more > most_bytes) break;
        if (rows == room) {
            room = room * 2 + 64;
            numbers = realloc(numbers, room * sizeof *numbers);
            if (numbers == NULL) abort();
        }
        numbers[rows++] = cursor->waiting;
        filled += more;
    }
    filled += shorten ? 4 : 0;
    uint8_t *at = reply_parameter(reply, 0x380E, filled), *indicators = at + 20,
            *heads = indicators + 2 * columns * rows;
    uint8_t *to = heads + (shorten ? 4 + 4 * (size_t)rows : 0);
    put32(at + 4, rows);
    put16(at + 8, (uint32_t)columns);
    put16(at + 10, 2);
    put32(at + 16, row_bytes);
    if (shorten) {
        put32(heads, 4);
        reply->at[21] |= 1;
    }
    for (uint32_t i = 0; i < rows; i++) {
        if (shorten) put32(heads + 4 + 4 * (size_t)i, (uint32_t)(to - heads));
        to = put_row(statement, table_row(table, (size_t)numbers[i]), indicators + 2 * columns * i, to, shorten);
    }
    put32(reply->at + begin, (uint32_t)filled + 6);
    free(numbers);
}

/* Pairs of bytes that come often enough become five bytes: escape, the pair, how often. 0: it does not pay. */
static size_t compress_runs(const uint8_t *from, size_t length, uint8_t *to) {
    size_t at = 0, filled = 0, most = length - (length / 10 > 512 ? length / 10 : 512);
    while (at < length) {
        size_t count = 1;
        if (filled + 5 > most) return 0;
        if (from[at] == ESCAPE) {
            to[filled++] = ESCAPE;
            to[filled++] = from[at++];
            continue;
        }
        if (at + 1 < length && from[at + 1] != ESCAPE)
            while (count < 65535 && at + 2 * count + 1 < length && from[at + 2 * count] == from[at] &&
                   from[at + 2 * count + 1] == from[at + 1])
                count++;
        if (count >= 5) {
            to[filled] = ESCAPE;
            memcpy(to + filled + 1, from + at, 2);
            put16(to + filled + 3, (uint32_t)count);
            filled += 5;
            at += 2 * count;
        } else
            to[filled++] = from[at++];
    }
    return filled;
}

bool expand_runs(const uint8_t *from, size_t length, uint8_t *to, size_t expected) {
    size_t filled = 0;
    for (size_t at = 0; at < length;) {
        size_t count = 1;
        if (from[at] != ESCAPE) {
            if (filled == expected) return false;
            to[filled++] = from[at++];
            continue;
        }
        if (at + 1 < length && from[at + 1] == ESCAPE) {
            if (filled == expected) return false;
            to[filled++] = ESCAPE;
            at += 2;
            continue;
        }
        if (at + 5 > length) return false;
        count = get16(from + at + 3);
        if (filled + 2 * count > expected) return false;
        for (; count > 0; count--, filled += 2)
            memcpy(to + filled, from + at + 1, 2);
        at += 5;
    }
    return filled == expected;
}

void reply_end(struct reply *reply, bool compress) {
    size_t length = reply->length - PREFIX_BYTES, shorter;
    if (compress && length > 1024) {
        uint8_t *to = malloc(length);
        if (to == NULL) abort();
        shorter = compress_runs(reply->at + PREFIX_BYTES, length, to);
        if (shorter > 0) {
            uint8_t *at = reply->at;
            put32(at + 24, 0x80000000u);
            put32(at + 40, (uint32_t)shorter + 10);
            put16(at + 44, RUNS);
            put32(at + 46, (uint32_t)length);
            memcpy(at + 50, to, shorter);
            reply->length = shorter + 50;
        }
        free(to);
    }
    put32(reply->at, (uint32_t)reply->length);
}
