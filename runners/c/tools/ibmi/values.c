/* Values in the form in which the i sends them: big-endian integers, packed decimals, EBCDIC or UTF-8 text. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ibmi.h"

static const char *const kinds[] = {"SMALLINT", "INTEGER", "BIGINT",    "DECIMAL", "REAL", "DOUBLE",
                                    "CHAR",     "VARCHAR", "VARBINARY", "DATE",    "TIME", "TIMESTAMP"};

int64_t integer_at(const struct column *column, const uint8_t *at) {
    switch (column->kind) {
    case SMALLINT: return (int16_t)get16(at);
    case INTEGER: return (int32_t)get32(at);
    default: return (int64_t)((uint64_t)get32(at) << 32 | get32(at + 4));
    }
}

bool put_integer(const struct column *column, uint8_t *to, int64_t value) {
    if (column->kind == SMALLINT) {
        put16(to, (uint16_t)value);
        return value >= INT16_MIN && value <= INT16_MAX;
    }
    if (column->kind == INTEGER) {
        put32(to, (uint32_t)value);
        return value >= INT32_MIN && value <= INT32_MAX;
    }
    put32(to, (uint32_t)((uint64_t)value >> 32));
    put32(to + 4, (uint32_t)value);
    return true;
}

static double floating(const struct column *column, const uint8_t *at) {
    uint64_t bits = get32(at);
    double wide;
    float narrow;
    if (column->kind == REAL) {
        uint32_t low = (uint32_t)bits;
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    }
    bits = bits << 32 | get32(at + 4);
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

static int compare_decimals(const uint8_t *a, const uint8_t *b, uint32_t bytes) {
    bool minus_a = (a[bytes - 1] & 0xF) == 0xD, minus_b = (b[bytes - 1] & 0xF) == 0xD;
    int order;
    if (minus_a != minus_b) return minus_a ? -1 : 1;
    order = memcmp(a, b, bytes - 1);
    if (order == 0) order = (a[bytes - 1] >> 4) - (b[bytes - 1] >> 4);
    return minus_a ? -order : order;
}

int compare(const struct column *column, const uint8_t *a, const uint8_t *b) {
    if (is_integer(column->kind)) {
        int64_t left = integer_at(column, a), right = integer_at(column, b);
        return left < right ? -1 : left > right;
    }
    if (column->kind == REAL || column->kind == DOUBLE) {
        double left = floating(column, a), right = floating(column, b);
        return left < right ? -1 : left > right;
    }
    if (column->kind == DECIMAL) return compare_decimals(a, b, column->bytes);
    if (is_variable(column->kind)) {
        uint32_t left = get16(a), right = get16(b);
        int order = memcmp(a + 2, b + 2, left < right ? left : right);
        return order != 0 ? order : (int)left - (int)right;
    }
    return memcmp(a, b, column->bytes);
}

static bool too_large(const struct column *column, struct problem *problem) {
    return fail(problem, -302, "22003", "Conversion error on input value for %s %s.", kinds[column->kind],
                column->name);
}

static bool not_valid(const struct column *column, const char *text, struct problem *problem) {
    return fail(problem, -302, "22018", "Value %.60s is not valid for %s %s.", text, kinds[column->kind], column->name);
}

static bool decimal(const struct column *column, const char *text, uint8_t *to, struct problem *problem) {
    char digits[64];
    uint32_t room = column->bytes * 2 - 1, whole = 0, fraction = 0;
    bool minus = *text == '-', point = false;
    memset(digits, '0', sizeof digits);
    for (text += minus || *text == '+'; *text != 0; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9') return not_valid(column, text, problem);
        if (point) {
            if (fraction++ >= column->scale) continue; /* cut, as the i does */
        } else
            whole++;
        memmove(digits, digits + 1, room - 1);
        digits[room - 1] = *text;
    }
    for (; fraction < column->scale; fraction++) {
        memmove(digits, digits + 1, room - 1);
        digits[room - 1] = '0';
    }
    if (whole + column->scale > room + 8) return too_large(column, problem);
    for (uint32_t i = 0; i < column->bytes; i++)
        to[i] = (uint8_t)((digits[2 * i] & 0xF) << 4 | (i + 1 < column->bytes ? digits[2 * i + 1] & 0xF
                                                        : minus               ? 0xD
                                                                              : 0xF));
    return true;
}

static bool number(const struct column *column, const char *text, uint8_t *to, struct problem *problem) {
    char *end;
    errno = 0;
    if (is_integer(column->kind)) {
        long long value = strtoll(text, &end, 10);
        if (*end != 0 && *end != '.') return not_valid(column, text, problem);
        return (errno == 0 && put_integer(column, to, value)) || too_large(column, problem);
    }
    if (column->kind == DECIMAL) return decimal(column, text, to, problem);
    double value = strtod(text, &end);
    if (*end != 0) return not_valid(column, text, problem);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (column->kind == REAL) {
        float narrow = (float)value;
        uint32_t low;
        memcpy(&low, &narrow, sizeof low);
        put32(to, low);
        return true;
    }
    put32(to, (uint32_t)(bits >> 32));
    put32(to + 4, (uint32_t)bits);
    return true;
}

/* A moment as the i writes it, of a literal in ISO's or JDBC's form. */
static bool moment(const struct column *column, const char *text, uint8_t *to, struct problem *problem) {
    static const char shapes[][27] = {"0000-00-00", "00:00:00", "0000-00-00-00.00.00.000000"};
    const char *shape = shapes[column->kind - DATE];
    char normal[27];
    size_t length = strlen(text);
    memcpy(normal, shape, sizeof normal);
    if (length > column->bytes || length < (column->kind == TIMESTAMP ? 19 : column->bytes))
        return not_valid(column, text, problem);
    for (size_t i = 0; i < length; i++) {
        if ((shape[i] == '0') != (text[i] >= '0' && text[i] <= '9')) return not_valid(column, text, problem);
        if (shape[i] == '0') normal[i] = text[i];
    }
    to_latin(normal, column->bytes, to, column->bytes);
    return true;
}

static bool characters(const struct column *column, const char *text, size_t length, uint8_t *to,
                       struct problem *problem) {
    uint32_t head = column->kind == CHAR ? 0 : 2, room = column->bytes - head;
    uint8_t blank = column->ccsid == CCSID_LATIN ? 0x40 : ' ';
    if (column->ccsid == CCSID_LATIN)
        length = to_latin(text, length, to + head, room);
    else if (length <= room)
        memcpy(to + head, text, length);
    if (length > room) return fail(problem, -433, "22001", "Significant data truncated in %s.", column->name);
    if (head == 0)
        memset(to + length, blank, room - length);
    else
        put16(to, (uint32_t)length);
    return true;
}

static bool bytes(const struct column *column, const char *digits, size_t length, uint8_t *to,
                  struct problem *problem) {
    if (length % 2 != 0 || length / 2 > column->bytes - 2) return too_large(column, problem);
    for (size_t i = 0; i < length / 2; i++) {
        unsigned byte;
        if (sscanf(digits + 2 * i, "%2x", &byte) != 1) return not_valid(column, digits, problem);
        to[2 + i] = (uint8_t)byte;
    }
    put16(to, (uint32_t)length / 2);
    return true;
}

bool literal_value(const struct column *column, enum literal form, const char *text, size_t length, uint8_t *to,
                   struct problem *problem) {
    if ((form == HEXADECIMAL) != (column->kind == VARBINARY)) return not_valid(column, text, problem);
    if (form == HEXADECIMAL) return bytes(column, text, length, to, problem);
    if ((form == NUMBER) != (column->kind <= DOUBLE)) return not_valid(column, text, problem);
    if (form == NUMBER) return number(column, text, to, problem);
    if (column->kind >= DATE) return moment(column, text, to, problem);
    return characters(column, text, length, to, problem);
}
