#include "codec.h"

#include <stdio.h>
#include <stdlib.h>

static void put(rp_bytes *bytes, const void *data, size_t length) {
    if (bytes->capacity - bytes->length < length) {
        bytes->capacity = 2 * (bytes->length + length) + 256;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (bytes->data == NULL) abort();
    }
    if (length > 0) memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

static void put_byte(rp_bytes *bytes, uint8_t byte) {
    put(bytes, &byte, 1);
}

static void put_little(rp_bytes *bytes, uint64_t value, int size) {
    for (int i = 0; i < size; i++)
        put_byte(bytes, (uint8_t)(value >> 8 * i));
}

void rp_put_null(rp_bytes *bytes) {
    put_byte(bytes, 0);
}

void rp_put_text(rp_bytes *bytes, char tag, const char *text, size_t length) {
    put_byte(bytes, (uint8_t)tag);
    put_little(bytes, length, 4);
    put(bytes, text, length);
}

void rp_put_integer(rp_bytes *bytes, int64_t value) {
    char text[24];
    int length = snprintf(text, sizeof text, "%lld", (long long)value);
    rp_put_text(bytes, 'N', text, (size_t)length);
}

void rp_put_scaled(rp_bytes *bytes, int64_t scaled, int scale) {
    char text[40];
    int length = snprintf(text, sizeof text, "%llde-%d", (long long)scaled, scale);
    rp_put_decimal(bytes, text, (size_t)length);
}

#define MOST_EXPONENT 1000000 /* of a number that is written out */

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

/* The digits of a number in the order of their places: the `place` of the first one is a power of ten. */
typedef struct digits {
    const char *text;
    size_t length;
    long place, first, last; /* `first` and `last`: places of the first and last digit that is not zero */
    bool negative, any;
} digits;

static bool read_digits(const char *text, size_t length, digits *found) {
    size_t at = 0, point = 0, end;
    bool pointed = false, digit = false;
    if (at < length && (text[at] == '-' || text[at] == '+')) at++;
    *found = (digits){.negative = at > 0 && text[0] == '-', .text = text + at};
    for (end = at; end < length && (is_digit(text[end]) || (text[end] == '.' && !pointed)); end++) {
        if (text[end] == '.') {
            pointed = true;
            point = end;
        } else {
            digit = true;
        }
    }
    if (!pointed) point = end;
    found->length = end - at;
    long exponent = 0;
    if (end < length && (text[end] == 'e' || text[end] == 'E')) {
        size_t i = end + 1;
        bool minus = i < length && text[i] == '-';
        if (i < length && (text[i] == '-' || text[i] == '+')) i++;
        if (i == length) return false;
        for (; i < length && is_digit(text[i]) && exponent < MOST_EXPONENT; i++)
            exponent = 10 * exponent + (text[i] - '0');
        if (minus) exponent = -exponent;
        end = i;
    }
    if (!digit || end != length || labs(exponent) > MOST_EXPONENT) return false;
    found->place = (long)(point - at) - 1 + exponent;
    long place = found->place;
    for (size_t i = 0; i < found->length; i++) {
        char byte = found->text[i];
        if (byte == '.') continue;
        if (byte != '0') {
            if (!found->any) found->first = place;
            found->any = true;
            found->last = place;
        }
        place--;
    }
    return true;
}

bool rp_put_decimal(rp_bytes *bytes, const char *text, size_t length) {
    digits found;
    if (!read_digits(text, length, &found)) return false;
    if (!found.any) {
        rp_put_text(bytes, 'N', "0", 1);
        return true;
    }
    long from = found.first > 0 ? found.first : 0, to = found.last < 0 ? found.last : 0;
    put_byte(bytes, 'N');
    put_little(bytes, (uint64_t)(from - to + 1 + (to < 0) + found.negative), 4);
    if (found.negative) put_byte(bytes, '-');
    const char *next = found.text;
    long place = found.place;
    for (long wanted = from; wanted >= to; wanted--) {
        if (wanted == -1) put_byte(bytes, '.');
        while (next < found.text + found.length && (*next == '.' || place > wanted)) {
            if (*next != '.') place--;
            next++;
        }
        bool here = next < found.text + found.length && place == wanted;
        put_byte(bytes, here ? (uint8_t)*next : '0');
    }
    return true;
}

void rp_put_float(rp_bytes *bytes, double value) {
    uint64_t bits = 0x7ff8000000000000u;
    if (value == 0) value = 0;
    if (!isnan(value)) memcpy(&bits, &value, sizeof bits);
    if (value == 0) bits = 0;
    put_byte(bytes, 'F');
    put_little(bytes, bits, 8);
}

void rp_put_boolean(rp_bytes *bytes, bool value) {
    put_byte(bytes, 'L');
    put_byte(bytes, value);
}

void rp_put_date(rp_bytes *bytes, int32_t days) {
    put_byte(bytes, 'd');
    put_little(bytes, (uint32_t)days, 4);
}

void rp_put_time(rp_bytes *bytes, int64_t ns) {
    put_byte(bytes, 't');
    put_little(bytes, (uint64_t)ns, 8);
}

void rp_put_timetz(rp_bytes *bytes, int64_t ns, int32_t offset_s) {
    put_byte(bytes, 'y');
    put_little(bytes, (uint64_t)ns, 8);
    put_little(bytes, (uint32_t)offset_s, 4);
}

void rp_put_no_day(rp_bytes *bytes, const rp_moment *moment, int64_t ns) {
    put_byte(bytes, 'Y');
    put_little(bytes, (uint64_t)moment->year, 4);
    put_byte(bytes, (uint8_t)moment->month);
    put_byte(bytes, (uint8_t)moment->day);
    put_little(bytes, (uint64_t)ns, 8);
}

void rp_put_timestamp(rp_bytes *bytes, char tag, int64_t seconds, uint32_t ns) {
    put_byte(bytes, (uint8_t)tag);
    put_little(bytes, (uint64_t)seconds, 8);
    put_little(bytes, ns, 4);
}

void rp_put_interval(rp_bytes *bytes, int32_t months, int32_t days, int64_t ns) {
    put_byte(bytes, 'I');
    put_little(bytes, (uint32_t)months, 4);
    put_little(bytes, (uint32_t)days, 4);
    put_little(bytes, (uint64_t)ns, 8);
}

void rp_put_uuid(rp_bytes *bytes, const uint8_t uuid[16]) {
    put_byte(bytes, 'U');
    put(bytes, uuid, 16);
}

void rp_put_bits(rp_bytes *bytes, const uint8_t *data, size_t first, uint32_t count) {
    put_byte(bytes, 'b');
    put_little(bytes, count, 4);
    for (uint32_t i = 0; i < count; i += 8) {
        uint8_t byte = 0;
        for (uint32_t bit = i; bit < i + 8; bit++) {
            size_t at = first + bit;
            byte = (uint8_t)(byte << 1 | (bit < count ? data[at / 8] >> (7 - at % 8) & 1 : 0));
        }
        put_byte(bytes, byte);
    }
}

void rp_put_bound(rp_bytes *bytes, int32_t lower) {
    put_byte(bytes, 'a');
    put_little(bytes, (uint32_t)lower, 4);
}

void rp_put_nested(rp_bytes *bytes, char tag, uint32_t count) {
    put_byte(bytes, (uint8_t)tag);
    put_little(bytes, count, 4);
}

void rp_set_count(rp_bytes *bytes, size_t tag_at, uint32_t count) {
    for (size_t i = 0; i < 4; i++)
        bytes->data[tag_at + 1 + i] = (uint8_t)(count >> 8 * i);
}

static int compare_bytes(const void *one, const void *other) {
    const rp_bytes *a = one, *b = other;
    int order = memcmp(a->data, b->data, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

void rp_sort_entries(rp_bytes *bytes, const size_t *begins, uint32_t count) {
    if (count < 2) return;
    size_t from = begins[0], size = bytes->length - from;
    uint8_t *copy = malloc(size);
    rp_bytes *entries = calloc(count, sizeof *entries);
    if (copy == NULL || entries == NULL) abort();
    memcpy(copy, bytes->data + from, size);
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (rp_bytes){.data = copy + begins[i] - from,
                                .length = (i + 1 < count ? begins[i + 1] : bytes->length) - begins[i]};
    qsort(entries, count, sizeof *entries, compare_bytes);
    bytes->length = from;
    for (uint32_t i = 0; i < count; i++)
        put(bytes, entries[i].data, entries[i].length);
    free(entries);
    free(copy);
}

void rp_put_opaque(rp_bytes *bytes) {
    put_byte(bytes, 'O');
}

size_t rp_without_trailing_blanks(const char *text, size_t length) {
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}
