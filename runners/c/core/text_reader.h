/* Reading text piece by piece: digits, dates, times of day, zones. Every reader moves the cursor behind what it has
   read, and returns whether that was right. */
#ifndef RP_TEXT_READER_H
#define RP_TEXT_READER_H

#include <endian.h>

#include "touch.h"

typedef struct cursor {
    const char *at, *end;
} cursor;

static inline bool is_digit(char byte) {
    return (unsigned char)(byte - '0') < 10;
}

/* The digit's value; above 9 for any other byte. */
static inline unsigned digit_of(char byte) {
    return (unsigned)(unsigned char)byte - '0';
}

static inline bool skip(cursor *in, char byte) {
    if (in->at == in->end || *in->at != byte) return false;
    in->at++;
    return true;
}

static inline bool read_int64(cursor *in, int64_t *value) {
    bool negative = in->at < in->end && *in->at == '-';
    if (in->at < in->end && (*in->at == '-' || *in->at == '+')) in->at++;
    const char *first = in->at;
    uint64_t sum = 0;
    for (; in->at < in->end && is_digit(*in->at); in->at++) {
        unsigned digit = (unsigned)(*in->at - '0');
        if (RP_UNLIKELY(sum > (UINT64_MAX - digit) / 10)) return false;
        sum = 10 * sum + digit;
    }
    if (in->at == first || sum > (uint64_t)INT64_MAX + negative) return false;
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

/* A decimal of at most 18 digits as an integer × 10^-scale; false, anywhere in it, for what does not fit. */
static inline bool read_scaled(cursor *in, int scale, int64_t *value) {
    bool negative = skip(in, '-');
    int64_t scaled = 0;
    int fraction = -1, digits = 0;
    for (; in->at < in->end && digits <= 18; in->at++) {
        if (is_digit(*in->at)) {
            if (fraction >= 0) fraction++;
            if (fraction > scale && *in->at == '0') continue;
            if (fraction > scale) return false;
            scaled = 10 * scaled + (*in->at - '0');
            digits++;
        } else if (*in->at == '.' && fraction < 0) {
            fraction = 0;
        } else {
            break;
        }
    }
    int missing = scale - (fraction < 0 ? 0 : fraction < scale ? fraction : scale);
    if (digits == 0 || digits + missing > 18) return false;
    scaled *= rp_power_of_ten[missing];
    *value = negative ? -scaled : scaled;
    return true;
}

/* Exactly `count` digits. */
static inline bool read_fixed(cursor *in, int count, unsigned *value) {
    if (in->end - in->at < count) return false;
    *value = 0;
    for (int i = 0; i < count; i++, in->at++) {
        if (!is_digit(*in->at)) return false;
        *value = 10 * *value + (unsigned)(*in->at - '0');
    }
    return true;
}

static inline bool skip_word(cursor *in, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0) return false;
    in->at += length;
    return true;
}

/* Fraction digits after a point, as nanoseconds; digits beyond the ninth must be zero. */
static inline bool read_fraction(cursor *in, uint32_t *ns) {
    *ns = 0;
    if (!skip(in, '.')) return true;
    const char *first = in->at, *most = in->end - first > 9 ? first + 9 : in->end;
    uint32_t value = 0;
    for (unsigned digit; in->at < most && (digit = digit_of(*in->at)) <= 9; in->at++)
        value = 10 * value + digit;
    *ns = value * (uint32_t)rp_power_of_ten[9 - (in->at - first)];
    if (in->at == first) return false;
    for (; RP_UNLIKELY(in->at < in->end && is_digit(*in->at)); in->at++)
        if (*in->at != '0') return false;
    return true;
}

static inline bool read_date(cursor *in, rp_civil *civil) {
    const char *first = in->at;
    civil->year = 0;
    while (in->at < in->end && is_digit(*in->at) && in->at - first < 7)
        civil->year = 10 * civil->year + (*in->at++ - '0');
    return in->at - first >= 4 && skip(in, '-') && read_fixed(in, 2, &civil->month) && skip(in, '-') &&
           read_fixed(in, 2, &civil->day) && civil->month >= 1 && civil->month <= 12 && civil->day >= 1 &&
           civil->day <= 31;
}

static inline bool read_time(cursor *in, int64_t *seconds, uint32_t *ns) {
    unsigned hour, minute, second;
    if (!read_fixed(in, 2, &hour) || !skip(in, ':') || !read_fixed(in, 2, &minute) || !skip(in, ':') ||
        !read_fixed(in, 2, &second))
        return false;
    *seconds = (hour * 60 + minute) * 60 + second;
    return hour <= 24 && minute < 60 && second <= 60 && read_fraction(in, ns);
}

/* Z or ±HH, ±HH:MM, ±HH:MM:SS, ±HHMM. */
static inline bool read_zone(cursor *in, int64_t *seconds) {
    unsigned hours, minutes = 0, rest = 0;
    *seconds = 0;
    if (skip(in, 'Z')) return true;
    bool west = in->at < in->end && *in->at == '-';
    if (!skip(in, '+') && !skip(in, '-')) return false;
    if (!read_fixed(in, 2, &hours)) return false;
    if (skip(in, ':') || (in->at < in->end && is_digit(*in->at))) {
        if (!read_fixed(in, 2, &minutes)) return false;
        if (skip(in, ':') && !read_fixed(in, 2, &rest)) return false;
    }
    *seconds = (int64_t)((hours * 60 + minutes) * 60 + rest) * (west ? -1 : 1);
    return true;
}

/* A date of any year, with a day that no calendar need have. */
static inline bool read_any_date(cursor *in, rp_moment *moment) {
    bool negative = skip(in, '-');
    const char *first = in->at;
    moment->year = 0;
    for (; in->at < in->end && is_digit(*in->at) && in->at - first < 9; in->at++)
        moment->year = 10 * moment->year + (*in->at - '0');
    if (negative) moment->year = -moment->year;
    return in->at - first >= 4 && skip(in, '-') && read_fixed(in, 2, &moment->month) && skip(in, '-') &&
           read_fixed(in, 2, &moment->day);
}

/* Hours beyond a day and negative ones too; without seconds they are 0. */
static inline bool read_any_time(cursor *in, int64_t *ns) {
    unsigned minute, second = 0;
    uint32_t fraction = 0;
    int64_t hours;
    bool negative = skip(in, '-');
    const char *first = in->at;
    if (in->at == in->end || !is_digit(*first) || !read_int64(in, &hours)) return false;
    if (in->at - first < 2 || in->at - first > 6 || !skip(in, ':') || !read_fixed(in, 2, &minute)) return false;
    if (skip(in, ':') && (!read_fixed(in, 2, &second) || !read_fraction(in, &fraction))) return false;
    *ns = ((hours * 60 + minute) * 60 + second) * RP_NS_PER_SECOND + fraction;
    if (negative) *ns = -*ns;
    return minute < 60 && second <= 60;
}

static inline uint64_t eight_bytes(const char *at) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* Whether eight bytes have a form in which 0 stands for any digit; `rooms`: what may be added to the difference of each
   byte until it is above 15, which is 6 for a digit and 15 for a byte that must be as it is. */
static inline bool has_form(const char *at, const char *form, const char *rooms) {
    uint64_t difference = eight_bytes(at) ^ eight_bytes(form);
    return ((difference | (difference + eight_bytes(rooms))) & 0xF0F0F0F0F0F0F0F0u) == 0;
}

static inline unsigned two_digits(const char *at) {
    return 10 * (unsigned)at[0] + (unsigned)at[1] - 11 * '0';
}

/* YYYY-MM-DD HH:MM:SS at once: all but very few timestamps; false, with nothing read, for any other form. */
static inline bool read_usual(cursor *in, rp_civil *civil, int64_t *seconds) {
    const char *at = in->at;
    if (in->end - at < 19 || !has_form(at, "0000-00-", "\6\6\6\6\17\6\6\17") ||
        !has_form(at + 8, "00 00:00", "\6\6\17\6\6\17\6\6") || !has_form(at + 11, "00:00:00", "\6\6\17\6\6\17\6\6"))
        return false;
    unsigned hour = two_digits(at + 11), minute = two_digits(at + 14), second = two_digits(at + 17);
    civil->year = (int)(100 * two_digits(at) + two_digits(at + 2));
    civil->month = two_digits(at + 5);
    civil->day = two_digits(at + 8);
    if (civil->month - 1 > 11 || civil->day - 1 > 30 || hour > 24 || minute > 59 || second > 60) return false;
    *seconds = (int64_t)((hour * 60 + minute) * 60 + second);
    in->at += 19;
    return true;
}

/* The digits of 0.dddddd as an integer; false for any other form of its eight bytes.
   Source of the sum: https://lemire.me/blog/2018/10/03/quickly-parsing-eight-digits/ */
static inline bool six_digits(const char *at, uint32_t *value) {
    if (!has_form(at, "0.000000", "\6\17\6\6\6\6\6\6")) return false;
    uint64_t digits = le64toh(eight_bytes(at)) & 0x0F0F0F0F0F0F0000u;
    digits = 10 * digits + (digits >> 8);
    uint64_t hundreds = (digits & 0xFF000000FFu) * 0xF424000000064u;
    uint64_t ones = (digits >> 16 & 0xFF000000FFu) * 0x271000000001u;
    *value = (uint32_t)((hundreds + ones) >> 32);
    return true;
}

/* YYYY-MM-DD HH:MM:SS.ffffff and nothing else, which nearly all are; false, with nothing taken, for any other form, and
   outside the clock. */
static inline bool rp_usual_timestamp(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    cursor in = {text, text + length};
    rp_civil civil;
    int64_t seconds;
    uint32_t us;
    if (length != 26 || !six_digits(text + 18, &us) || !read_usual(&in, &civil, &seconds)) return false;
    if (RP_UNLIKELY(sink->digest != NULL)) return false; /* which asks whether there is such a day */
    seconds += rp_days_of_civil(civil.year, civil.month, civil.day) * RP_SECONDS_PER_DAY;
    rp_timestamp(sink, column, seconds * RP_US_PER_SECOND + us);
    return true;
}

#endif
