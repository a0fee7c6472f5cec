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
        for (; i < length && is_digit(text[i]) && exponent < 1000000; i++)
            exponent = 10 * exponent + (text[i] - '0');
        if (minus) exponent = -exponent;
        end = i;
    }
    if (!digit || end != length || labs(exponent) > 200000) return false;
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

void rp_put_time(rp_bytes *bytes, uint64_t ns) {
    put_byte(bytes, 't');
    put_little(bytes, ns, 8);
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

void rp_put_array(rp_bytes *bytes, uint32_t count) {
    put_byte(bytes, 'A');
    put_little(bytes, count, 4);
}

void rp_put_opaque(rp_bytes *bytes) {
    put_byte(bytes, 'O');
}

size_t rp_without_trailing_blanks(const char *text, size_t length) {
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

bool rp_is_utf8(const char *text, size_t length) {
    const uint8_t *at = (const uint8_t *)text, *end = at + length;
    while (at < end) {
        uint8_t lead = *at++;
        if (lead < 0x80) continue;
        int more = lead >= 0xc2 && lead <= 0xdf ? 1 : (lead & 0xf0) == 0xe0 ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
        if (more == 0 || end - at < more) return false;
        bool overlong = (lead == 0xe0 && at[0] < 0xa0) || (lead == 0xf0 && at[0] < 0x90);
        bool beyond = (lead == 0xed && at[0] > 0x9f) || (lead == 0xf4 && at[0] > 0x8f);
        if (overlong || beyond) return false;
        for (; more > 0; more--)
            if ((*at++ & 0xc0) != 0x80) return false;
    }
    return true;
}
