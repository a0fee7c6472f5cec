/* Values in PostgreSQL's binary format. */
#include "postgresql.h"

#define PG_EPOCH_DAYS 10957 /* 2000-01-01 */
#define PG_EPOCH_US (PG_EPOCH_DAYS * RP_SECONDS_PER_DAY * RP_US_PER_SECOND)

static double pg_float4(const char *data) {
    int32_t bits = pg_int4(data);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double pg_float8(const char *data) {
    int64_t bits = pg_int8(data);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A numeric's groups of four decimal digits: value = ± sum of group(place) × 10000^place. */
typedef struct pg_numeric {
    const char *groups;
    int count, weight, decimals;
    unsigned sign;
} pg_numeric;

static int pg_group(const pg_numeric *numeric, int place) {
    int i = numeric->weight - place;
    return i >= 0 && i < numeric->count ? pg_int2(numeric->groups + 2 * i) : 0;
}

static bool pg_scaled(const pg_numeric *numeric, int scale, int64_t *scaled) {
    int64_t sum = 0;
    int last = -(scale / 4);
    if (numeric->weight > 4) return false;
    for (int place = numeric->weight > 0 ? numeric->weight : 0; place >= last; place--)
        sum = 10000 * sum + pg_group(numeric, place);
    if (scale % 4 > 0) {
        int64_t rest = rp_power_of_ten[4 - scale % 4];
        int group = pg_group(numeric, --last);
        if (group % rest != 0) return false;
        sum = sum * rp_power_of_ten[scale % 4] + group / rest;
    }
    *scaled = numeric->sign == 0x4000 ? -sum : sum;
    return numeric->weight - (numeric->count - 1) >= last || numeric->count == 0;
}

static size_t pg_numeric_text(const pg_numeric *numeric, char *text) {
    char *to = text;
    int first = numeric->weight > 0 ? numeric->weight : 0, unit = 1000;
    if (numeric->sign == 0x4000) *to++ = '-';
    for (int place = first; place >= 0; place--)
        for (unit = 1000; unit > 0; unit /= 10)
            *to++ = (char)('0' + pg_group(numeric, place) / unit % 10);
    if (numeric->decimals > 0) *to++ = '.';
    for (int i = 0; i < numeric->decimals; i++) {
        unit = (int)rp_power_of_ten[3 - i % 4];
        *to++ = (char)('0' + pg_group(numeric, -1 - i / 4) / unit % 10);
    }
    return (size_t)(to - text);
}

static void pg_take_numeric(rp_sink *sink, rp_column *column, const char *data) {
    static _Thread_local char text[160000]; /* the greatest has 131,072 digits before and 16,383 after the point */
    pg_numeric numeric = {data + 8, pg_int2(data), pg_int2(data + 2), pg_int2(data + 6), (uint16_t)pg_int2(data + 4)};
    int64_t scaled;
    if (numeric.sign == 0xd000 || numeric.sign == 0xf000)
        rp_infinity(sink, column, numeric.sign == 0xf000);
    else if (numeric.sign == 0xc000)
        rp_beyond(sink, column, "NaN is no decimal");
    else if (column->type != RP_DECIMAL || column->wide)
        rp_decimal(sink, column, text, pg_numeric_text(&numeric, text));
    else if (pg_scaled(&numeric, column->scale, &scaled))
        rp_scaled(sink, column, scaled);
    else
        rp_misfit(sink, column, "the numeric does not fit the declared precision and scale");
}

static void pg_take_interval(rp_sink *sink, rp_column *column, const char *data) {
    int64_t us = pg_int8(data);
    int32_t days = pg_int4(data + 8), months = pg_int4(data + 12);
    if ((us == INT64_MAX && days == INT32_MAX && months == INT32_MAX) || us == INT64_MIN)
        rp_infinity(sink, column, us == INT64_MIN);
    else if (us > INT64_MAX / 1000 || us < INT64_MIN / 1000)
        rp_beyond(sink, column, "an interval of more than 292 years in hours");
    else
        rp_interval(sink, column, months, days, us * 1000);
}

static void pg_take_array(rp_sink *sink, rp_column *column, const char *data) {
    int dimensions = pg_int4(data), count = dimensions == 0 ? 0 : pg_int4(data + 12);
    if (dimensions > 1) {
        rp_beyond(sink, column, "an array of more than one dimension");
        return;
    }
    rp_array(sink, column, (uint32_t)count);
    data += 20;
    for (int i = 0; i < count; i++) {
        int length = pg_int4(data);
        data += 4;
        if (length < 0)
            rp_element_null(sink);
        else if (column->element == RP_TEXT)
            rp_element_text(sink, data, (size_t)length);
        else
            rp_element_integer(sink, length == 2 ? pg_int2(data) : length == 4 ? pg_int4(data) : pg_int8(data));
        data += length > 0 ? length : 0;
    }
}

static void pg_take_timestamp(rp_sink *sink, rp_column *column, int64_t us) {
    if (us == INT64_MAX || us == INT64_MIN)
        rp_infinity(sink, column, us == INT64_MIN);
    else
        rp_timestamp(sink, column, us + PG_EPOCH_US);
}

void pg_take_binary(rp_sink *sink, rp_column *column, const char *data, size_t length) {
    switch (column->code) {
    case PG_INT2: rp_integer(sink, column, pg_int2(data)); break;
    case PG_INT4: rp_integer(sink, column, pg_int4(data)); break;
    case PG_INT8: rp_integer(sink, column, pg_int8(data)); break;
    case PG_OID: rp_integer(sink, column, (uint32_t)pg_int4(data)); break;
    case PG_BOOL: rp_integer(sink, column, data[0]); break;
    case PG_FLOAT4: rp_float(sink, column, pg_float4(data)); break;
    case PG_FLOAT8: rp_float(sink, column, pg_float8(data)); break;
    case PG_NUMERIC: pg_take_numeric(sink, column, data); break;
    case PG_BYTEA: rp_binary(sink, column, data, length); break;
    case PG_UUID: rp_uuid(sink, column, data); break;
    case PG_TIME: rp_time(sink, column, pg_int8(data) * 1000); break;
    case PG_TIMESTAMP:
    case PG_TIMESTAMPTZ: pg_take_timestamp(sink, column, pg_int8(data)); break;
    case PG_INTERVAL: pg_take_interval(sink, column, data); break;
    case PG_DATE: {
        int32_t days = pg_int4(data);
        if (days == INT32_MAX || days == INT32_MIN)
            rp_infinity(sink, column, days == INT32_MIN);
        else
            rp_date(sink, column, days + PG_EPOCH_DAYS);
        break;
    }
    case PG_JSONB: rp_text(sink, column, data + 1, length - 1); break; /* after a version byte */
    default:
        if (column->type == RP_ARRAY)
            pg_take_array(sink, column, data);
        else if (column->type == RP_OPAQUE)
            rp_opaque(sink, column, data, length);
        else
            rp_text(sink, column, data, length);
    }
}

int pg_put_binary(const rp_value *value, const rp_column *column, char *scratch) {
    uint64_t bits = (uint64_t)value->integer;
    float single = (float)value->real;
    uint32_t half;
    int size = 8;
    switch (value->type) {
    case RP_INTEGER: size = column->bits / 8; break;
    case RP_BOOLEAN: size = 1; break;
    case RP_FLOAT64: memcpy(&bits, &value->real, 8); break;
    case RP_FLOAT32:
        memcpy(&half, &single, 4);
        bits = half;
        size = 4;
        break;
    case RP_DATE:
        bits -= PG_EPOCH_DAYS;
        size = 4;
        break;
    case RP_TIME: bits = (uint64_t)(value->integer / 1000); break;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: bits -= PG_EPOCH_US; break;
    default: return -1;
    }
    bits = htobe64(bits << (64 - 8 * size));
    memcpy(scratch, &bits, (size_t)size);
    return size;
}
