/* Text to other types, inside the clock, as drivers and files deliver it:
   integers and decimals in plain notation (with an exponent and nan too), floats as strtod reads them, booleans
   t f true false 1 0, binary \x + hexadecimal, dates and times ISO 8601 with a blank or T between them, years of four
   or more digits, " BC", infinity, intervals ISO 8601 (P1M2DT3.5S), UUIDs. Nothing is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "codec.h"
#include "text_reader.h"

static bool at_end(const cursor *in) {
    return in->at == in->end;
}

static bool take_date(rp_sink *sink, rp_column *column, cursor *in) {
    rp_civil civil;
    if (!read_date(in, &civil) || !at_end(in) || civil.year > 9999) return false;
    if (RP_UNLIKELY(civil.day > 28) && !rp_is_day(civil.year, civil.month, civil.day)) return false;
    rp_date(sink, column, (int32_t)rp_days_of_civil(civil.year, civil.month, civil.day));
    return true;
}

static bool take_time(rp_sink *sink, rp_column *column, cursor *in) {
    int64_t seconds;
    uint32_t ns;
    if (!read_time(in, &seconds, &ns) || !at_end(in)) return false;
    rp_time(sink, column, seconds * RP_NS_PER_SECOND + ns);
    return true;
}

static bool take_timestamp(rp_sink *sink, rp_column *column, cursor *in) {
    rp_civil civil;
    int64_t seconds = 0, zone = 0;
    uint32_t ns = 0;
    if (read_usual(in, &civil, &seconds)) {
        if (!read_fraction(in, &ns)) return false;
    } else if (!read_date(in, &civil) || civil.year > 9999 || !(skip(in, ' ') || skip(in, 'T')) ||
               !read_time(in, &seconds, &ns)) {
        return false;
    }
    if (column->type == RP_TIMESTAMPTZ && !read_zone(in, &zone)) return false;
    if (ns % 1000 != 0 || !at_end(in)) return false;
    if (RP_UNLIKELY(sink->digest != NULL) && !rp_is_day(civil.year, civil.month, civil.day)) return false;
    seconds += rp_days_of_civil(civil.year, civil.month, civil.day) * RP_SECONDS_PER_DAY - zone;
    rp_timestamp(sink, column, seconds * RP_US_PER_SECOND + ns / 1000);
    return true;
}

static bool take_integer(rp_sink *sink, rp_column *column, cursor *in) {
    cursor whole = *in;
    int64_t value;
    if (read_int64(in, &value) && at_end(in))
        rp_integer(sink, column, value);
    else /* beyond 64 bits it stays exact text */
        rp_decimal(sink, column, whole.at, (size_t)(whole.end - whole.at));
    return true;
}

/* The natural type of a decimal is int64 × 10^-scale as far as that is wide enough. */
static bool take_decimal(rp_sink *sink, rp_column *column, cursor *in) {
    const char *text = in->at;
    size_t length = (size_t)(in->end - in->at);
    int64_t scaled;
    if (!column->wide && read_scaled(in, column->scale, &scaled) && at_end(in))
        rp_scaled(sink, column, scaled);
    else
        rp_decimal(sink, column, text, length);
    return true;
}

static bool take_float(rp_sink *sink, rp_column *column, cursor *in) {
    char usual[64], *copy = usual, *stopped;
    size_t length = (size_t)(in->end - in->at);
    if (RP_UNLIKELY(length >= sizeof usual)) copy = malloc(length + 1);
    if (copy == NULL) abort();
    memcpy(copy, in->at, length);
    copy[length] = '\0';
    double value = column->type == RP_FLOAT32 ? (double)strtof(copy, &stopped) : strtod(copy, &stopped);
    bool good = stopped == copy + length;
    if (RP_UNLIKELY(copy != usual)) free(copy);
    if (good) rp_float(sink, column, value);
    return good;
}

static bool take_boolean(rp_sink *sink, rp_column *column, cursor *in) {
    bool yes = skip_word(in, "true") || skip(in, 't') || skip(in, '1');
    if (!yes && !(skip_word(in, "false") || skip(in, 'f') || skip(in, '0'))) return false;
    if (!at_end(in)) return false;
    rp_integer(sink, column, yes);
    return true;
}

static int hexadecimal(char byte) {
    if (is_digit(byte)) return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static bool read_byte(cursor *in, uint8_t *byte) {
    if (in->end - in->at < 2) return false;
    int high = hexadecimal(in->at[0]), low = hexadecimal(in->at[1]);
    *byte = (uint8_t)(high << 4 | low);
    in->at += 2;
    return high >= 0 && low >= 0;
}

/* Bytes of a value that is decoded: kept, so that they grow once. */
static uint8_t *room_for(size_t length) {
    static _Thread_local rp_bytes decoded;
    if (decoded.capacity < length) {
        decoded.data = realloc(decoded.data, length);
        if (decoded.data == NULL) abort();
        decoded.capacity = length;
    }
    return decoded.data;
}

static bool take_binary(rp_sink *sink, rp_column *column, cursor *in) {
    if (!skip_word(in, "\\x")) return false;
    size_t length = (size_t)(in->end - in->at) / 2;
    uint8_t *decoded = room_for(length);
    for (size_t i = 0; i < length; i++)
        if (!read_byte(in, &decoded[i])) return false;
    if (!at_end(in)) return false;
    rp_binary(sink, column, decoded, length);
    return true;
}

/* bytea_output = escape: a backslash is doubled, what cannot be printed is \ooo. */
static bool take_escaped(rp_sink *sink, rp_column *column, cursor *in) {
    uint8_t *decoded = room_for((size_t)(in->end - in->at) + 1), *to = decoded;
    while (in->at < in->end) {
        unsigned octal;
        if (!skip(in, '\\')) {
            *to++ = (uint8_t)*in->at++;
        } else if (skip(in, '\\')) {
            *to++ = '\\';
        } else if (read_fixed(in, 3, &octal)) {
            *to++ = (uint8_t)(octal / 100 * 64 + octal / 10 % 10 * 8 + octal % 10);
        } else {
            return false;
        }
    }
    rp_binary(sink, column, decoded, (size_t)(to - decoded));
    return true;
}

static bool take_uuid(rp_sink *sink, rp_column *column, cursor *in) {
    uint8_t uuid[16];
    for (int i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && !skip(in, '-')) return false;
        if (!read_byte(in, &uuid[i])) return false;
    }
    if (!at_end(in)) return false;
    rp_uuid(sink, column, uuid);
    return true;
}

static bool take_interval(rp_sink *sink, rp_column *column, cursor *in) {
    __int128 months = 0, days = 0, ns = 0;
    bool clock = false;
    if (!skip(in, 'P')) return false;
    while (in->at < in->end) {
        if (!clock && skip(in, 'T')) clock = true;
        bool negative = in->at < in->end && *in->at == '-';
        int64_t value;
        uint32_t fraction;
        if (!read_int64(in, &value) || !read_fraction(in, &fraction)) return false;
        if (!clock && skip(in, 'Y'))
            months += (__int128)12 * value;
        else if (!clock && skip(in, 'M'))
            months += value;
        else if (!clock && skip(in, 'W'))
            days += (__int128)7 * value;
        else if (!clock && skip(in, 'D'))
            days += value;
        else if (clock && skip(in, 'H'))
            ns += (__int128)value * 3600 * RP_NS_PER_SECOND;
        else if (clock && skip(in, 'M'))
            ns += (__int128)value * 60 * RP_NS_PER_SECOND;
        else if (clock && skip(in, 'S'))
            ns += (__int128)value * RP_NS_PER_SECOND + (negative ? -(int64_t)fraction : fraction);
        else
            return false;
        if (fraction != 0 && in->at[-1] != 'S') return false;
    }
    if (months != (int32_t)months || days != (int32_t)days || ns != (int64_t)ns) return false;
    rp_interval(sink, column, (int32_t)months, (int32_t)days, (int64_t)ns);
    return true;
}

/* infinity, -inf: a date or time without end. */
static bool take_infinity(rp_sink *sink, rp_column *column, cursor *in) {
    bool negative = skip(in, '-');
    if ((!skip_word(in, "inf") && !skip_word(in, "Inf")) || !(at_end(in) || skip_word(in, "inity")) || !at_end(in))
        return false;
    rp_infinity(sink, column, negative);
    return true;
}

/* Years before and beyond four digits, days that no calendar has, times beyond a day, nanoseconds; a timestamp without
   a time, and a date with midnight. */
static bool take_moment(rp_sink *sink, rp_column *column, cursor *in) {
    rp_moment moment = {.year = 1970, .month = 1, .day = 1};
    int64_t offset_s = 0;
    bool dated = column->type != RP_TIME && column->type != RP_TIMETZ;
    if (dated && !read_any_date(in, &moment)) return false;
    bool bc = dated && skip_word(in, " BC"), timed = !dated || skip(in, ' ') || skip(in, 'T');
    if (timed && !read_any_time(in, &moment.time_ns)) return false;
    bool zoned =
        (column->type == RP_TIMETZ || column->type == RP_TIMESTAMPTZ) && timed && !at_end(in) && *in->at != ' ';
    if (zoned && !read_zone(in, &offset_s)) return false;
    bc = bc || (dated && skip_word(in, " BC"));
    if (!at_end(in) || (column->type == RP_DATE && moment.time_ns != 0)) return false;
    if (bc) moment.year = 1 - moment.year;
    moment.offset_s = (int32_t)offset_s;
    rp_take_moment(sink, column, &moment);
    return true;
}

/* What no usual value of the type looks like. */
static bool take_unusual(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    cursor in = {text, text + length}, again = in;
    switch (column->type) {
    case RP_DATE:
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: return take_moment(sink, column, &in) || take_infinity(sink, column, &again);
    case RP_TIME:
    case RP_TIMETZ: return take_moment(sink, column, &in);
    case RP_INTERVAL: return take_infinity(sink, column, &in);
    case RP_BINARY: return take_escaped(sink, column, &in);
    case RP_UUID:
        if (length != 16) return false;
        rp_uuid(sink, column, text);
        return true;
    default: return false;
    }
}

void rp_convert(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    static bool (*const takers[])(rp_sink *, rp_column *, cursor *) = {
        [RP_INTEGER] = take_integer,
        [RP_DECIMAL] = take_decimal,
        [RP_FLOAT32] = take_float,
        [RP_FLOAT64] = take_float,
        [RP_BOOLEAN] = take_boolean,
        [RP_BINARY] = take_binary,
        [RP_DATE] = take_date,
        [RP_TIME] = take_time,
        [RP_TIMETZ] = take_moment,
        [RP_TIMESTAMP] = take_timestamp,
        [RP_TIMESTAMPTZ] = take_timestamp,
        [RP_INTERVAL] = take_interval,
        [RP_UUID] = take_uuid,
    };
    if (column->type == RP_TIMESTAMP && rp_usual_timestamp(sink, column, text, length)) return;
    if (column->type == RP_BITS || column->type >= RP_ARRAY) {
        rp_undecoded(sink, column, text, length);
        return;
    }
    rp_note_conversion(sink, column);
    cursor in = {text, text + length};
    bool (*taker)(rp_sink *, rp_column *, cursor *) = takers[column->type];
    if ((length == 0 || !taker(sink, column, &in)) && !take_unusual(sink, column, text, length))
        rp_foreign(sink, column, text, length, "text that is not of the type's form");
}

/* With an exponent (1E+3) it is written out first; nan, inf, -Infinity. */
static void take_unusual_number(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    char word[16];
    rp_bytes plain = {0};
    if (rp_put_decimal(&plain, text, length)) {
        rp_decimal(sink, column, (const char *)plain.data + 5, plain.length - 5); /* behind the tag and the length */
        free(plain.data);
        return;
    }
    free(plain.data);
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), text);
    const char *unsigned_word = word + (word[0] == '-' || word[0] == '+');
    if (strcasecmp(word, "nan") == 0)
        rp_float(sink, column, (double)NAN);
    else if (strcasecmp(unsigned_word, "inf") == 0 || strcasecmp(unsigned_word, "infinity") == 0)
        rp_float(sink, column, word[0] == '-' ? -(double)INFINITY : (double)INFINITY);
    else
        rp_foreign(sink, column, text, length, "text that spells no number");
}

void rp_decimal(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    uint64_t whole = 0;
    bool negative = length > 0 && text[0] == '-';
    size_t i = negative;
    for (; i < length && is_digit(text[i]); i++)
        whole = 10 * whole + (uint64_t)(text[i] - '0');
    bool digits = i > negative;
    for (i += i < length && text[i] == '.'; i < length && is_digit(text[i]); i++) {
        rp_taken = (unsigned char)text[i];
        digits = true;
    }
    if (RP_UNLIKELY(i < length || !digits)) {
        take_unusual_number(sink, column, text, length);
        return;
    }
    sink->touch += negative ? 0 - whole : whole;
    RP_DIGEST(rp_digest_decimal(sink, column, text, length));
}
