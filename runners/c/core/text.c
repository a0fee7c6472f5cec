/* Text to other types, inside the clock, as drivers and files deliver it:
   integers and decimals in plain notation (decimals with an exponent too), floats as strtod reads them, booleans
   t f true false 1 0, binary \x + hexadecimal, dates and times ISO 8601 with a blank or T between them, years of four
   or more digits, " BC", infinity, intervals ISO 8601 (P1M2DT3.5S), UUIDs, arrays {1,NULL,"text"}. */
#include <stdlib.h>

#include "codec.h"
#include "text_reader.h"

static bool take_infinity(rp_sink *sink, rp_column *column, cursor *in) {
    bool negative = skip(in, '-');
    if ((!skip_word(in, "inf") && !skip_word(in, "Inf")) || !(in->at == in->end || skip_word(in, "inity")))
        return false;
    rp_infinity(sink, column, negative);
    return true;
}

static bool take_date(rp_sink *sink, rp_column *column, cursor *in) {
    rp_civil civil;
    if (!is_digit(*in->at)) return take_infinity(sink, column, in);
    if (!read_date(in, &civil)) return false;
    if (skip_word(in, " BC")) civil.year = 1 - civil.year;
    rp_date(sink, column, (int32_t)rp_days_of_civil(civil.year, civil.month, civil.day));
    return true;
}

static bool take_time(rp_sink *sink, rp_column *column, cursor *in) {
    int64_t seconds;
    uint32_t ns;
    if (!read_time(in, &seconds, &ns)) return false;
    rp_time(sink, column, seconds * RP_NS_PER_SECOND + ns);
    return true;
}

static bool take_timestamp(rp_sink *sink, rp_column *column, cursor *in) {
    rp_civil civil;
    int64_t seconds = 0, zone = 0;
    uint32_t ns = 0;
    if (!is_digit(*in->at)) return take_infinity(sink, column, in);
    if (read_usual(in, &civil, &seconds)) {
        if (!read_fraction(in, &ns)) return false;
    } else if (!read_date(in, &civil) || !(skip(in, ' ') || skip(in, 'T')) || !read_time(in, &seconds, &ns)) {
        return false;
    }
    if (column->type == RP_TIMESTAMPTZ && !read_zone(in, &zone)) return false;
    if (in->at < in->end && skip_word(in, " BC")) civil.year = 1 - civil.year;
    if (ns % 1000 != 0) return false;
    seconds += rp_days_of_civil(civil.year, civil.month, civil.day) * RP_SECONDS_PER_DAY - zone;
    rp_timestamp(sink, column, seconds * RP_US_PER_SECOND + ns / 1000);
    return true;
}

static bool take_integer(rp_sink *sink, rp_column *column, cursor *in) {
    cursor start = *in;
    int64_t value;
    if (read_int64(in, &value) && in->at == in->end) {
        rp_integer(sink, column, value);
        return true;
    }
    /* Beyond 64 bits it stays exact text. */
    *in = start;
    skip(&start, '-');
    if (start.at == start.end) return false;
    for (; start.at < start.end; start.at++)
        if (!is_digit(*start.at)) return false;
    rp_decimal(sink, column, in->at, (size_t)(in->end - in->at));
    in->at = in->end;
    return true;
}

/* The natural type of a decimal is int64 × 10^-scale as far as that is wide enough. */
static bool take_decimal(rp_sink *sink, rp_column *column, cursor *in) {
    const char *text = in->at;
    size_t length = (size_t)(in->end - in->at);
    int64_t scaled;
    if (!column->wide && read_scaled(in, column->scale, &scaled) && in->at == in->end) {
        rp_scaled(sink, column, scaled);
        return true;
    }
    if (length > 0 && (text[length - 1] | 32) == 'y') { /* Infinity */
        in->at = text;
        return take_infinity(sink, column, in);
    }
    in->at = in->end;
    rp_decimal(sink, column, text, length);
    return true;
}

static bool take_float(rp_sink *sink, rp_column *column, cursor *in) {
    char copy[64], *stopped;
    size_t length = (size_t)(in->end - in->at);
    if (length >= sizeof copy || length == 0) return false;
    memcpy(copy, in->at, length);
    copy[length] = '\0';
    double value = column->type == RP_FLOAT32 ? (double)strtof(copy, &stopped) : strtod(copy, &stopped);
    if (stopped != copy + length) return false;
    in->at = in->end;
    rp_float(sink, column, value);
    return true;
}

static bool take_boolean(rp_sink *sink, rp_column *column, cursor *in) {
    bool yes = skip_word(in, "true") || skip(in, 't') || skip(in, '1');
    if (!yes && !(skip_word(in, "false") || skip(in, 'f') || skip(in, '0'))) return false;
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

static bool take_binary(rp_sink *sink, rp_column *column, cursor *in) {
    static _Thread_local rp_bytes decoded; /* kept, so that it grows once */
    if (!skip_word(in, "\\x")) return false;
    size_t length = (size_t)(in->end - in->at) / 2;
    if (decoded.capacity < length) {
        decoded.data = realloc(decoded.data, length);
        if (decoded.data == NULL) abort();
        decoded.capacity = length;
    }
    for (size_t i = 0; i < length; i++)
        if (!read_byte(in, &decoded.data[i])) return false;
    if (in->at < in->end) return false;
    rp_binary(sink, column, decoded.data, length);
    return true;
}

static bool take_uuid(rp_sink *sink, rp_column *column, cursor *in) {
    uint8_t uuid[16];
    for (int i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && !skip(in, '-')) return false;
        if (!read_byte(in, &uuid[i])) return false;
    }
    rp_uuid(sink, column, uuid);
    return true;
}

static bool take_interval(rp_sink *sink, rp_column *column, cursor *in) {
    int64_t months = 0, days = 0, ns = 0;
    bool clock = false;
    if (!skip(in, 'P')) return take_infinity(sink, column, in);
    while (in->at < in->end) {
        if (!clock && skip(in, 'T')) clock = true;
        bool negative = in->at < in->end && *in->at == '-';
        int64_t value;
        uint32_t fraction;
        if (!read_int64(in, &value) || !read_fraction(in, &fraction) || llabs(value) > 9000000000) return false;
        if (!clock && skip(in, 'Y'))
            months += 12 * value;
        else if (!clock && skip(in, 'M'))
            months += value;
        else if (!clock && skip(in, 'W'))
            days += 7 * value;
        else if (!clock && skip(in, 'D'))
            days += value;
        else if (clock && skip(in, 'H') && llabs(value) < 2500000)
            ns += value * 3600 * RP_NS_PER_SECOND;
        else if (clock && skip(in, 'M') && llabs(value) < 150000000)
            ns += value * 60 * RP_NS_PER_SECOND;
        else if (clock && skip(in, 'S'))
            ns += value * RP_NS_PER_SECOND + (negative ? -(int64_t)fraction : fraction);
        else
            return false;
        if (fraction != 0 && in->at[-1] != 'S') return false;
    }
    if (months != (int32_t)months || days != (int32_t)days) return false;
    rp_interval(sink, column, (int32_t)months, (int32_t)days, ns);
    return true;
}

static bool take_element(rp_sink *sink, const rp_column *column, cursor *in) {
    char plain[256];
    size_t length = 0;
    bool quoted = skip(in, '"');
    while (in->at < in->end && (quoted ? *in->at != '"' : *in->at != ',' && *in->at != '}')) {
        if (*in->at == '\\') in->at++;
        if (in->at == in->end || length == sizeof plain) return false;
        plain[length++] = *in->at++;
    }
    if (quoted && !skip(in, '"')) return false;
    if (!quoted && length == 4 && memcmp(plain, "NULL", 4) == 0) {
        rp_element_null(sink);
    } else if (column->element == RP_TEXT) {
        rp_element_text(sink, plain, length);
    } else {
        cursor digits = {plain, plain + length};
        int64_t value;
        if (!read_int64(&digits, &value) || digits.at != digits.end) return false;
        rp_element_integer(sink, value);
    }
    return true;
}

static bool take_array(rp_sink *sink, rp_column *column, cursor *in) {
    if (!skip(in, '{')) return false;
    uint32_t count = in->at < in->end && *in->at != '}';
    bool quoted = false;
    for (const char *at = in->at; at < in->end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (*at == ',' && !quoted)
            count++;
        else if (*at == '{' && !quoted)
            return false; /* one dimension only */
    }
    rp_array(sink, column, count);
    for (uint32_t i = 0; i < count; i++)
        if ((i > 0 && !skip(in, ',')) || !take_element(sink, column, in)) return false;
    return skip(in, '}');
}

/* NaN, {{1},{2}}, 0000-00-00, -100:00:00: legal in engines that deliver text. */
static bool is_beyond(rp_type type, const char *text, size_t length) {
    switch (type) {
    case RP_DECIMAL: return length == 3 && memcmp(text, "NaN", 3) == 0;
    case RP_ARRAY: return length > 1 && memchr(text + 1, '{', length - 1) != NULL;
    case RP_DATE:
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: return length >= 10 && (memcmp(text + 5, "00", 2) == 0 || memcmp(text + 8, "00", 2) == 0);
    case RP_TIME: return length > 8 && (text[0] == '-' || text[2] != ':' || memcmp(text, "24", 2) > 0);
    default: return false;
    }
}

void rp_convert(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    static bool (*const takers[])(rp_sink *, rp_column *, cursor *) = {
        [RP_INTEGER] = take_integer,     [RP_DECIMAL] = take_decimal,
        [RP_FLOAT32] = take_float,       [RP_FLOAT64] = take_float,
        [RP_BOOLEAN] = take_boolean,     [RP_BINARY] = take_binary,
        [RP_DATE] = take_date,           [RP_TIME] = take_time,
        [RP_TIMESTAMP] = take_timestamp, [RP_TIMESTAMPTZ] = take_timestamp,
        [RP_INTERVAL] = take_interval,   [RP_UUID] = take_uuid,
        [RP_ARRAY] = take_array,
    };
    rp_note_conversion(sink, column);
    if (column->type == RP_TIMESTAMP && rp_usual_timestamp(sink, column, text, length)) return;
    cursor in = {text, text + length};
    bool (*taker)(rp_sink *, rp_column *, cursor *) = takers[column->type];
    if (length == 0 || taker == NULL || !taker(sink, column, &in) || in.at != in.end)
        (is_beyond(column->type, text, length) ? rp_beyond : rp_misfit)(sink, column,
                                                                        "the text does not fit the declared type");
}

/* With an exponent (1E+3) it is written out first. */
static void take_exponent(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    rp_bytes plain = {0};
    if (rp_put_decimal(&plain, text, length))
        rp_decimal(sink, column, (const char *)plain.data + 5, plain.length - 5); /* behind the tag and the length */
    else
        rp_misfit(sink, column, "not a decimal number");
    free(plain.data);
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
    if (i < length && digits && (text[i] | 32) == 'e') {
        take_exponent(sink, column, text, length);
    } else if (i < length || !digits) {
        (is_beyond(RP_DECIMAL, text, length) ? rp_beyond : rp_misfit)(sink, column, "not a decimal number");
    } else {
        sink->touch += negative ? 0 - whole : whole;
        RP_DIGEST(rp_digest_decimal(sink, column, text, length));
    }
}
