/* Where the values of a line end. Integers and timestamps are taken where they stand, without a search for their end.
 */
#ifndef RP_DELIMITED_VALUES_H
#define RP_DELIMITED_VALUES_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "delimited.h"
#include "text_reader.h"

#define DELIMITED_MOST_DIGITS 18 /* that surely fit */

/* The first delimiter, other sign or line feed from `at` on, of which there is one. */
static inline const char *delimited_next_sign(const char *at, char delimiter, char other) {
#ifdef __SSE2__
    const __m128i delimiters = _mm_set1_epi8(delimiter), others = _mm_set1_epi8(other), feeds = _mm_set1_epi8('\n');
    for (;; at += sizeof(__m128i)) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        __m128i signs = _mm_or_si128(_mm_cmpeq_epi8(bytes, delimiters), _mm_cmpeq_epi8(bytes, others));
        int found = _mm_movemask_epi8(_mm_or_si128(signs, _mm_cmpeq_epi8(bytes, feeds)));
        if (found != 0) return at + __builtin_ctz((unsigned)found);
    }
#else
    while (*at != delimiter && *at != other && *at != '\n')
        at++;
    return at;
#endif
}

/* Where the value that begins at `at` ends: at a delimiter that is not escaped, or at the line's end. */
static inline const char *delimited_end(const char *at, char delimiter, bool *escaped) {
    const char *stop = delimited_next_sign(at, delimiter, '\\');
    *escaped = *stop == '\\';
    if (!RP_UNLIKELY(*escaped)) return stop;
    while (*stop != delimiter && *stop != '\n')
        stop += stop[0] == '\\' && stop[1] != '\n' ? 2 : 1;
    return stop;
}

static inline bool delimited_ends(char byte, char delimiter) {
    return byte == delimiter || byte == '\n';
}

/* The end of an integer in the usual form; NULL, with nothing taken, for anything else. */
static inline const char *delimited_take_integer(rp_sink *sink, rp_column *column, const char *at, char delimiter) {
    bool negative = *at == '-';
    const char *first = at + negative;
    uint64_t value = 0;
    at = first;
    for (unsigned digit; (digit = digit_of(*at)) <= 9; at++)
        value = 10 * value + digit;
    if (RP_UNLIKELY(at == first || at - first > DELIMITED_MOST_DIGITS || !delimited_ends(*at, delimiter))) return NULL;
    rp_note_conversion(sink, column);
    rp_integer(sink, column, negative ? -(int64_t)value : (int64_t)value);
    return at;
}

/* The same of a timestamp in a line that ends before `end`. */
static inline const char *delimited_take_timestamp(rp_sink *sink, rp_column *column, const char *at, const char *end,
                                                   char delimiter) {
    cursor in = {at, end};
    rp_civil civil;
    int64_t seconds;
    uint32_t ns;
    if (!read_usual(&in, &civil, &seconds) || !read_fraction(&in, &ns)) return NULL;
    if (RP_UNLIKELY(ns % 1000 != 0 || !delimited_ends(*in.at, delimiter))) return NULL;
    seconds += rp_days_of_civil(civil.year, civil.month, civil.day) * RP_SECONDS_PER_DAY;
    rp_note_conversion(sink, column);
    rp_timestamp(sink, column, seconds * RP_US_PER_SECOND + ns / 1000);
    return in.at;
}

#endif
