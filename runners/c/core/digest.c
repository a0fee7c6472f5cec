/* The sink's other half, outside the clock: each value encoded by its column's declared type, each row hashed. */
#include "codec.h"

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

void rp_misfit(rp_sink *sink, const rp_column *column, const char *what) {
    if (!sink->broken) rp_fail(RP_VERIFY, "", "column %s: %s", column ? column->name : "(none)", what);
    sink->broken = true;
}

void rp_beyond(rp_sink *sink, const rp_column *column, const char *what) {
    if (!sink->broken) rp_fail(RP_UNSUPPORTED, "", "column %s: %s", column->name, what);
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
        digest->sum += rp_xxh64(digest->row.data, digest->row.length);
        digest->rows++;
        if (digest->kept != NULL) keep_row(digest);
    }
    digest->row.length = 0;
}

static void delivered(rp_column *column, const char *what) {
    if (column != NULL && column->delivered == NULL) column->delivered = what;
}

static rp_type declared(const rp_column *column, rp_type element) {
    return column != NULL ? column->type : element;
}

void rp_digest_null(rp_sink *sink, rp_column *column) {
    if (column != NULL && !column->nullable) rp_misfit(sink, column, "NULL in a column that is not nullable");
    rp_put_null(&sink->digest->row);
}

void rp_digest_integer(rp_sink *sink, rp_column *column, int64_t value) {
    delivered(column, "int64");
    rp_type type = declared(column, RP_INTEGER);
    if (type == RP_INTEGER || type == RP_DECIMAL)
        rp_put_integer(&sink->digest->row, value);
    else if (type == RP_BOOLEAN && (value == 0 || value == 1))
        rp_put_boolean(&sink->digest->row, value == 1);
    else
        rp_misfit(sink, column, "an integer does not fit the declared type");
}

void rp_digest_scaled(rp_sink *sink, rp_column *column, int64_t scaled) {
    delivered(column, "scaled int64");
    rp_put_scaled(&sink->digest->row, scaled, column->scale);
}

void rp_digest_decimal(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    delivered(column, "exact text");
    if ((column->type != RP_DECIMAL && column->type != RP_INTEGER) || !rp_put_decimal(&sink->digest->row, text, length))
        rp_misfit(sink, column, "a decimal does not fit the declared type");
}

void rp_digest_float(rp_sink *sink, rp_column *column, double value) {
    delivered(column, "double");
    if (column->type == RP_FLOAT32)
        rp_put_float(&sink->digest->row, (double)(float)value);
    else if (column->type == RP_FLOAT64)
        rp_put_float(&sink->digest->row, value);
    else
        rp_misfit(sink, column, "a float does not fit the declared type");
}

void rp_digest_text(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    delivered(column, "text");
    rp_type type = declared(column, RP_TEXT);
    if (!rp_is_text(type)) {
        rp_misfit(sink, column, "text does not fit the declared type");
    } else if (!rp_is_utf8(text, length)) {
        rp_misfit(sink, column, "invalid UTF-8");
    } else {
        if (type == RP_CHAR) length = rp_without_trailing_blanks(text, length);
        rp_put_text(&sink->digest->row, 'S', text, length);
    }
}

void rp_digest_binary(rp_sink *sink, rp_column *column, const void *bytes, size_t length) {
    delivered(column, "bytes");
    if (column->type == RP_BINARY)
        rp_put_text(&sink->digest->row, 'B', bytes, length);
    else if (column->type == RP_UUID && length == 16)
        rp_put_uuid(&sink->digest->row, bytes);
    else
        rp_misfit(sink, column, "bytes do not fit the declared type");
}

void rp_digest_temporal(rp_sink *sink, rp_column *column, int64_t value) {
    rp_bytes *row = &sink->digest->row;
    delivered(column, "integer since the epoch");
    int64_t seconds = rp_floor_divide(value, RP_US_PER_SECOND);
    uint32_t ns = (uint32_t)(value - seconds * RP_US_PER_SECOND) * 1000;
    switch (column->type) {
    case RP_DATE: rp_put_date(row, (int32_t)value); break;
    case RP_TIME: rp_put_time(row, (uint64_t)value); break;
    case RP_TIMESTAMP: rp_put_timestamp(row, 'T', seconds, ns); break;
    case RP_TIMESTAMPTZ: rp_put_timestamp(row, 'Z', seconds, ns); break;
    default: rp_misfit(sink, column, "a date or time does not fit the declared type");
    }
}

void rp_digest_infinity(rp_sink *sink, rp_column *column, bool negative) {
    (void)column;
    rp_put_text(&sink->digest->row, 'X', negative ? "-inf" : "inf", negative ? 4 : 3);
}

void rp_digest_interval(rp_sink *sink, rp_column *column, int32_t months, int32_t days, int64_t ns) {
    delivered(column, "months, days, time");
    if (column->type == RP_INTERVAL)
        rp_put_interval(&sink->digest->row, months, days, ns);
    else
        rp_misfit(sink, column, "an interval does not fit the declared type");
}

void rp_digest_array(rp_sink *sink, rp_column *column, uint32_t count) {
    delivered(column, "array");
    if (column->type == RP_ARRAY)
        rp_put_array(&sink->digest->row, count);
    else
        rp_misfit(sink, column, "an array does not fit the declared type");
}

void rp_digest_opaque(rp_sink *sink, rp_column *column) {
    delivered(column, "bytes of its own");
    rp_put_opaque(&sink->digest->row);
}
