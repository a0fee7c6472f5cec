/* The sink's other half, outside the clock: each value encoded by its column's declared type, each value and each row
   hashed. A value of another kind takes the nearest form that the type has, and none is refused. */
#include "codec.h"

#include <stdlib.h>

#define MULTIPLIER 0x9E3779B97F4A7C15u /* of the order digests */
#define MOST_FOREIGN_BYTES 100
#define NUMBER_BYTES 32 /* of a number's shortest text */

_Thread_local volatile uint64_t rp_taken;
const int64_t rp_power_of_ten[19] = {1,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     10000000000,
                                     100000000000,
                                     1000000000000,
                                     10000000000000,
                                     100000000000000,
                                     1000000000000000,
                                     10000000000000000,
                                     100000000000000000,
                                     1000000000000000000};

rp_digest rp_digest_of(int columns, uint64_t most_rows) {
    rp_digest digest = {.most_rows = most_rows};
    digest.columns = calloc((size_t)columns + 1, sizeof *digest.columns);
    if (digest.columns == NULL) abort();
    return digest;
}

void rp_digest_free(rp_digest *digest) {
    free(digest->row.data);
    free(digest->columns);
}

void rp_misfit(rp_sink *sink, const rp_column *column, const char *what) {
    if (!sink->broken) rp_fail(RP_VERIFY, "", "column %s: %s", column ? column->name : "(none)", what);
    sink->broken = true;
}

/* A failed write shows when the file is closed. */
static void keep_row(const rp_digest *digest) {
    uint8_t length[4];
    for (size_t i = 0; i < sizeof length; i++)
        length[i] = (uint8_t)(digest->row.length >> 8 * i);
    fwrite(length, 1, sizeof length, digest->kept);
    fwrite(digest->row.data, 1, digest->row.length, digest->kept);
}

void rp_watched_row(rp_sink *sink) {
    if (sink->stamped && sink->first_row_at_ns == 0) sink->first_row_at_ns = rp_now_ns();
    rp_digest *digest = sink->digest;
    if (digest == NULL) {
        sink->watched = false;
        return;
    }
    if (digest->rows < digest->most_rows) {
        uint64_t hash = rp_xxh64(digest->row.data, digest->row.length);
        digest->sum += hash;
        digest->order = digest->order * MULTIPLIER + hash;
        digest->rows++;
        if (digest->kept != NULL) keep_row(digest);
    }
    digest->row.length = digest->ended = 0;
}

void rp_digest_ends(rp_digest *digest, const rp_column *column) {
    if (column->inner) return; /* it is a part of one that ends later */
    if (digest->rows < digest->most_rows) {
        rp_column_digest *of = &digest->columns[column->position];
        uint64_t hash = rp_xxh64(digest->row.data + digest->ended, digest->row.length - digest->ended);
        of->sum += hash;
        of->order = of->order * MULTIPLIER + hash;
    }
    digest->ended = digest->row.length;
}

static void delivered(rp_column *column, const char *what) {
    if (column->delivered == NULL) column->delivered = what;
}

/* Notes how fine a column's times are; the same nanoseconds cut to the column's unit. */
static int64_t cut(rp_digest *digest, const rp_column *column, int64_t ns) {
    rp_column_digest *of = &digest->columns[column->position];
    if (digest->rows < digest->most_rows) {
        if (of->finest_ns == 0) of->finest_ns = RP_NS_PER_SECOND;
        while (ns % of->finest_ns != 0)
            of->finest_ns /= 1000;
    }
    if (column->unit_ns == 1) return ns;
    int64_t half = column->rounded ? column->unit_ns / 2 : 0;
    return rp_floor_divide(ns + half, column->unit_ns) * column->unit_ns;
}

void rp_digest_null(rp_sink *sink, rp_column *column) {
    rp_put_null(&sink->digest->row);
    rp_digest_ends(sink->digest, column);
}

void rp_digest_foreign(rp_sink *sink, rp_column *column, const void *text, size_t length, const char *reason) {
    rp_digest *digest = sink->digest;
    rp_column_digest *of = &digest->columns[column->position];
    delivered(column, "text");
    if (digest->rows < digest->most_rows && of->foreign++ == 0) of->reason = reason;
    rp_put_text(&digest->row, '?', text, length < MOST_FOREIGN_BYTES ? length : MOST_FOREIGN_BYTES);
    rp_digest_ends(digest, column);
}

/* A number's own text where the type has no numbers: as text, else foreign. */
static void put_spelt(rp_sink *sink, rp_column *column, const char *text, size_t length, const char *reason) {
    if (!rp_is_text(column->type)) {
        rp_digest_foreign(sink, column, text, length, reason);
        return;
    }
    rp_put_text(&sink->digest->row, 'S', text, length);
    rp_digest_ends(sink->digest, column);
}

void rp_digest_integer(rp_sink *sink, rp_column *column, int64_t value) {
    rp_bytes *row = &sink->digest->row;
    char text[NUMBER_BYTES];
    delivered(column, "int64");
    switch (column->type) {
    case RP_INTEGER:
    case RP_DECIMAL:
    case RP_ANY: rp_put_integer(row, value); break;
    case RP_FLOAT32: rp_put_float(row, (double)(float)value); break;
    case RP_FLOAT64: rp_put_float(row, (double)value); break;
    case RP_BOOLEAN:
        if (value == 0 || value == 1) {
            rp_put_boolean(row, value == 1);
            break;
        } /* else like all others */
        __attribute__((fallthrough));
    default:
        put_spelt(sink, column, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value), "an integer");
        return;
    }
    rp_digest_ends(sink->digest, column);
}

void rp_digest_unsigned(rp_sink *sink, rp_column *column, uint64_t value) {
    char text[NUMBER_BYTES];
    rp_digest_decimal(sink, column, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)value));
}

void rp_digest_scaled(rp_sink *sink, rp_column *column, int64_t scaled) {
    delivered(column, "scaled int64");
    rp_put_scaled(&sink->digest->row, scaled, column->scale);
    rp_digest_ends(sink->digest, column);
}

void rp_digest_decimal(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    rp_bytes *row = &sink->digest->row;
    rp_type type = column->type;
    char copy[400];
    delivered(column, "exact text");
    if ((type == RP_FLOAT32 || type == RP_FLOAT64) && length < sizeof copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
        rp_put_float(row, type == RP_FLOAT32 ? (double)strtof(copy, NULL) : strtod(copy, NULL));
    } else if ((type != RP_DECIMAL && type != RP_INTEGER && type != RP_ANY) || !rp_put_decimal(row, text, length)) {
        put_spelt(sink, column, text, length, "a number");
        return;
    }
    rp_digest_ends(sink->digest, column);
}

/* The shortest text that is read as the same number. */
static size_t shortest_text(double value, char text[NUMBER_BYTES]) {
    if (isnan(value)) return (size_t)sprintf(text, "nan");
    if (isinf(value)) return (size_t)sprintf(text, value < 0 ? "-inf" : "inf");
    int length = 0;
    for (int digits = 1; digits <= 17; digits++) {
        length = snprintf(text, NUMBER_BYTES, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return (size_t)length;
}

void rp_digest_float(rp_sink *sink, rp_column *column, double value) {
    rp_bytes *row = &sink->digest->row;
    char text[NUMBER_BYTES];
    bool whole = fabs(value) < 9007199254740992.0 && value == (double)(int64_t)value;
    delivered(column, "double");
    if (column->type == RP_FLOAT32) {
        rp_put_float(row, (double)(float)value);
    } else if (column->type == RP_FLOAT64 || (column->type == RP_ANY && !whole)) {
        rp_put_float(row, value);
    } else if (column->type == RP_ANY) {
        rp_put_integer(row, (int64_t)value);
    } else {
        size_t length = shortest_text(value, text);
        if (column->type == RP_DECIMAL && !isfinite(value))
            rp_put_text(row, 'N', text, length);
        else if ((column->type != RP_DECIMAL && column->type != RP_INTEGER) || !rp_put_decimal(row, text, length)) {
            put_spelt(sink, column, text, length, "a floating-point number");
            return;
        }
    }
    rp_digest_ends(sink->digest, column);
}

void rp_digest_text(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    if (!rp_is_text(column->type) && column->type != RP_ANY) {
        rp_sink read = {.digest = sink->digest}; /* touched where it came from */
        rp_text_as(&read, column, text, length);
        return;
    }
    delivered(column, "text");
    if (column->type == RP_CHAR) length = rp_without_trailing_blanks(text, length);
    rp_put_text(&sink->digest->row, 'S', text, length);
    rp_digest_ends(sink->digest, column);
}

void rp_digest_binary(rp_sink *sink, rp_column *column, const void *bytes, size_t length) {
    delivered(column, "bytes");
    if (column->type == RP_BINARY || column->type == RP_ANY) {
        rp_put_text(&sink->digest->row, 'B', bytes, length);
    } else if (column->type == RP_UUID && length == 16) {
        rp_put_uuid(&sink->digest->row, bytes);
    } else {
        rp_digest_text(sink, column, bytes, length);
        return;
    }
    rp_digest_ends(sink->digest, column);
}

/* As ISO 8601 has it: for people, and where the type is text. */
static size_t spell_moment(const rp_moment *moment, char *text, size_t size) {
    bool bc = moment->year < 1 && moment->month > 0;
    uint64_t ns = moment->time_ns < 0 ? 0 - (uint64_t)moment->time_ns : (uint64_t)moment->time_ns;
    return (size_t)snprintf(text, size, "%04lld-%02u-%02u %s%02llu:%02llu:%02llu.%09llu%s",
                            (long long)(bc ? 1 - moment->year : moment->year), moment->month, moment->day,
                            moment->time_ns < 0 ? "-" : "", (unsigned long long)(ns / 3600000000000),
                            (unsigned long long)(ns / 60000000000 % 60), (unsigned long long)(ns / 1000000000 % 60),
                            (unsigned long long)(ns % 1000000000), bc ? " BC" : "");
}

static void put_day(rp_bytes *row, const rp_moment *moment, int64_t days, int64_t ns) {
    if (rp_is_day(moment->year, moment->month, moment->day) && days == (int32_t)days)
        rp_put_date(row, (int32_t)days);
    else
        rp_put_no_day(row, moment, ns);
}

static void put_instant(rp_digest *digest, const rp_column *column, int64_t seconds, int64_t ns) {
    ns = cut(digest, column, ns);
    int64_t carried = rp_floor_divide(ns, RP_NS_PER_SECOND);
    rp_put_timestamp(&digest->row, column->type == RP_TIMESTAMPTZ ? 'Z' : 'T', seconds + carried,
                     (uint32_t)(ns - carried * RP_NS_PER_SECOND));
}

void rp_digest_moment(rp_sink *sink, rp_column *column, const rp_moment *moment) {
    rp_digest *digest = sink->digest;
    rp_bytes *row = &digest->row;
    char text[128];
    bool day = rp_is_day(moment->year, moment->month, moment->day);
    int64_t days = day ? rp_days_of_civil(moment->year, moment->month, moment->day) : 0;
    delivered(column, "date or time");
    switch (column->type) {
    case RP_DATE: put_day(row, moment, days, 0); break;
    case RP_TIME: rp_put_time(row, cut(digest, column, moment->time_ns)); break;
    case RP_TIMETZ: rp_put_timetz(row, cut(digest, column, moment->time_ns), moment->offset_s); break;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ:
        if (day)
            put_instant(digest, column, days * RP_SECONDS_PER_DAY - moment->offset_s, moment->time_ns);
        else
            rp_put_no_day(row, moment, cut(digest, column, moment->time_ns));
        break;
    default: put_spelt(sink, column, text, spell_moment(moment, text, sizeof text), "a date or time"); return;
    }
    rp_digest_ends(digest, column);
}

static rp_moment moment_of(int64_t days, int64_t time_ns) {
    rp_civil civil = rp_civil_of_any(days);
    return (rp_moment){.year = civil.year, .month = civil.month, .day = civil.day, .time_ns = time_ns};
}

void rp_digest_date(rp_sink *sink, rp_column *column, int64_t days) {
    if (column->type != RP_DATE) {
        rp_moment moment = moment_of(days, 0);
        rp_digest_moment(sink, column, &moment);
        return;
    }
    delivered(column, "integer since the epoch");
    rp_put_date(&sink->digest->row, (int32_t)days);
    rp_digest_ends(sink->digest, column);
}

void rp_digest_time(rp_sink *sink, rp_column *column, int64_t ns) {
    rp_moment moment = {.year = 1970, .month = 1, .day = 1, .time_ns = ns};
    delivered(column, "integer since the epoch");
    rp_digest_moment(sink, column, &moment);
}

void rp_digest_timestamp(rp_sink *sink, rp_column *column, int64_t seconds, uint32_t ns) {
    delivered(column, "integer since the epoch");
    if (column->type != RP_TIMESTAMP && column->type != RP_TIMESTAMPTZ) {
        int64_t days = rp_floor_divide(seconds, RP_SECONDS_PER_DAY);
        rp_moment moment = moment_of(days, (seconds - days * RP_SECONDS_PER_DAY) * RP_NS_PER_SECOND + ns);
        rp_digest_moment(sink, column, &moment);
        return;
    }
    put_instant(sink->digest, column, seconds, ns);
    rp_digest_ends(sink->digest, column);
}

void rp_digest_infinity(rp_sink *sink, rp_column *column, bool negative) {
    const char *text = negative ? "-inf" : "inf";
    delivered(column, "infinity");
    switch (column->type) {
    case RP_DATE:
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ:
    case RP_INTERVAL: rp_put_text(&sink->digest->row, 'X', text, strlen(text)); break;
    default: put_spelt(sink, column, text, strlen(text), "infinity"); return;
    }
    rp_digest_ends(sink->digest, column);
}

void rp_digest_interval(rp_sink *sink, rp_column *column, int32_t months, int32_t days, int64_t ns) {
    char text[96];
    delivered(column, "months, days, time");
    if (column->type != RP_INTERVAL) {
        int length = snprintf(text, sizeof text, "%d months %d days %lld ns", months, days, (long long)ns);
        put_spelt(sink, column, text, (size_t)length, "an interval");
        return;
    }
    rp_put_interval(&sink->digest->row, months, days, cut(sink->digest, column, ns));
    rp_digest_ends(sink->digest, column);
}

void rp_digest_bits(rp_sink *sink, rp_column *column, const void *bytes, size_t first, uint32_t count) {
    delivered(column, "bits");
    if (column->type != RP_BITS) {
        rp_digest_binary(sink, column, bytes, (first + count + 7) / 8);
        return;
    }
    rp_put_bits(&sink->digest->row, bytes, first, count);
    rp_digest_ends(sink->digest, column);
}

void rp_digest_opaque(rp_sink *sink, rp_column *column) {
    delivered(column, "bytes of its own");
    rp_put_opaque(&sink->digest->row);
    rp_digest_ends(sink->digest, column);
}

void rp_unsigned(rp_sink *sink, rp_column *column, uint64_t value) {
    sink->touch += value;
    RP_DIGEST(rp_digest_unsigned(sink, column, value));
}

void rp_take_moment(rp_sink *sink, rp_column *column, const rp_moment *moment) {
    switch (column->type) {
    case RP_DATE: sink->touch += moment->day; break;
    case RP_TIME:
    case RP_TIMETZ:
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: sink->touch += (uint64_t)(llabs(moment->time_ns) / RP_NS_PER_SECOND % 60); break;
    default: sink->touch += 5;
    }
    RP_DIGEST(rp_digest_moment(sink, column, moment));
}

void rp_foreign(rp_sink *sink, rp_column *column, const void *text, size_t length, const char *reason) {
    rp_take_bytes(sink, text, length);
    RP_DIGEST(rp_digest_foreign(sink, column, text, length, reason));
}
