/* Values in PostgreSQL's binary format. */
#include <stdio.h>
#include <stdlib.h>

#include "codec.h"
#include "postgresql.h"

#define PG_EPOCH_DAYS 10957  /* 2000-01-01 */
#define USUAL_DAYS 50000000u /* around 2000, either way: rp_date has room for them */
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
    if (RP_UNLIKELY(numeric.sign >= 0xc000))
        rp_float(sink, column,
                 numeric.sign == 0xd000   ? (double)INFINITY
                 : numeric.sign == 0xf000 ? -(double)INFINITY
                                          : (double)NAN);
    else if (column->type == RP_DECIMAL && !column->wide && pg_scaled(&numeric, column->scale, &scaled))
        rp_scaled(sink, column, scaled);
    else
        rp_decimal(sink, column, text, pg_numeric_text(&numeric, text));
}

/* More than 292 years in hours have no place in 64 bits of nanoseconds: it is foreign, in the form that the server
   gives it where the format is text (IntervalStyle iso_8601). */
static void take_long_interval(rp_sink *sink, rp_column *column, int32_t months, int32_t days, int64_t us) {
    const struct {
        int64_t number;
        char unit;
    } parts[] = {{months / 12, 'Y'},
                 {months % 12, 'M'},
                 {days, 'D'},
                 {us / 3600 / RP_US_PER_SECOND, 'H'},
                 {us / 60 / RP_US_PER_SECOND % 60, 'M'}};
    int64_t rest = llabs(us % (60 * RP_US_PER_SECOND));
    char text[160], *to = text;
    *to++ = 'P';
    for (int i = 0; i < 5; i++) {
        if (i == 3) *to++ = 'T';
        if (parts[i].number != 0) to += sprintf(to, "%lld%c", (long long)parts[i].number, parts[i].unit);
    }
    if (rest != 0) {
        to += sprintf(to, "%s%lld.%06lld", us < 0 ? "-" : "", (long long)(rest / RP_US_PER_SECOND),
                      (long long)(rest % RP_US_PER_SECOND));
        while (to[-1] == '0')
            to--;
        if (to[-1] == '.') to--;
        *to++ = 'S';
    }
    rp_foreign(sink, column, text, (size_t)(to - text), "an interval of more than 292 years in hours");
}

static void pg_take_interval(rp_sink *sink, rp_column *column, const char *data) {
    int64_t us = pg_int8(data);
    int32_t days = pg_int4(data + 8), months = pg_int4(data + 12);
    if ((us == INT64_MAX && days == INT32_MAX && months == INT32_MAX) ||
        (us == INT64_MIN && days == INT32_MIN && months == INT32_MIN))
        rp_infinity(sink, column, us == INT64_MIN);
    else if (us > INT64_MAX / 1000 || us < INT64_MIN / 1000)
        take_long_interval(sink, column, months, days, us);
    else
        rp_interval(sink, column, months, days, us * 1000);
}

/* An array: dimensions, a flag, the elements' type; of each dimension its length and lower bound; the elements. */
typedef struct pg_array {
    const char *dimensions, *next;
    int count;
    rp_sink *values;
} pg_array;

/* Of a domain the number is its own, and the values are those of the type that it is declared as. */
static int element_code(const rp_column *element, unsigned number, int length) {
    if (pg_type_name(number) != NULL) return (int)number;
    if (element->type == RP_INTEGER) return length == 2 ? PG_INT2 : length == 4 ? PG_INT4 : PG_INT8;
    return element->type == RP_TIMETZ ? PG_TIMETZ
           : element->type == RP_BITS ? PG_VARBIT
                                      : (int)pg_parameter_type(element);
}

static void put_elements(pg_array *array, rp_column *column, int dimension) {
    int count = pg_int4(array->dimensions + 8 * dimension);
    rp_digest_bound(array->values->digest, column, pg_int4(array->dimensions + 8 * dimension + 4));
    rp_put_nested(&array->values->digest->row, 'A', (uint32_t)count);
    rp_column *element = column->fields;
    for (int i = 0; i < count; i++) {
        if (dimension + 1 < array->count) {
            put_elements(array, element->type == RP_ARRAY ? element : column, dimension + 1);
            continue;
        }
        int length = pg_int4(array->next);
        array->next += 4;
        if (length < 0) {
            rp_null(array->values, element);
            continue;
        }
        element->code = element_code(element, (unsigned)pg_int4(array->dimensions - 4), length);
        pg_take_binary(array->values, element, array->next, (size_t)length);
        array->next += length;
    }
}

static void digest_array(rp_sink *sink, rp_column *column, const char *data) {
    rp_sink values = {.digest = sink->digest}; /* no touch sum is made of what is inside */
    pg_array array = {.dimensions = data + 12, .count = pg_int4(data), .values = &values};
    array.next = array.dimensions + 8 * array.count;
    if (array.count > 0)
        put_elements(&array, column, 0);
    else
        rp_put_nested(&sink->digest->row, 'A', 0);
    rp_digest_ends(sink->digest, column);
}

static void pg_take_array(rp_sink *sink, rp_column *column, const char *data, size_t length) {
    rp_take_bytes(sink, data, length);
    RP_DIGEST(digest_array(sink, column, data));
}

/* Days since 2000 that C's natural date has no room for. */
static void take_far_date(rp_sink *sink, rp_column *column, int32_t days) {
    rp_civil civil = rp_civil_of_any((int64_t)days + PG_EPOCH_DAYS);
    if (days == INT32_MAX || days == INT32_MIN)
        rp_infinity(sink, column, days == INT32_MIN);
    else
        rp_take_moment(sink, column, &(rp_moment){.year = civil.year, .month = civil.month, .day = civil.day});
}

static void take_far_timestamp(rp_sink *sink, rp_column *column, int64_t us) {
    const int64_t day_us = RP_SECONDS_PER_DAY * RP_US_PER_SECOND;
    int64_t days = rp_floor_divide(us, day_us);
    rp_civil civil = rp_civil_of_any(days + PG_EPOCH_DAYS);
    if (us == INT64_MAX || us == INT64_MIN)
        rp_infinity(sink, column, us == INT64_MIN);
    else
        rp_take_moment(
            sink, column,
            &(rp_moment){
                .year = civil.year, .month = civil.month, .day = civil.day, .time_ns = (us - days * day_us) * 1000});
}

static void pg_take_timestamp(rp_sink *sink, rp_column *column, int64_t us) {
    if (RP_UNLIKELY(us > INT64_MAX - PG_EPOCH_US || us == INT64_MIN))
        take_far_timestamp(sink, column, us);
    else
        rp_timestamp(sink, column, us + PG_EPOCH_US);
}

void pg_take_binary(rp_sink *sink, rp_column *column, const char *data, size_t length) {
    switch (column->code) {
    case PG_INT2: rp_integer(sink, column, pg_int2(data)); break;
    case PG_INT4: rp_integer(sink, column, pg_int4(data)); break;
    case PG_INT8: rp_integer(sink, column, pg_int8(data)); break;
    case PG_XID8: rp_unsigned(sink, column, (uint64_t)pg_int8(data)); break;
    case PG_XID:
    case PG_CID:
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
        if (RP_UNLIKELY((uint32_t)days + USUAL_DAYS > 2 * USUAL_DAYS))
            take_far_date(sink, column, days);
        else
            rp_date(sink, column, days + PG_EPOCH_DAYS);
        break;
    }
    case PG_TIMETZ: {
        rp_moment moment = {1970, 1, 1, pg_int8(data) * 1000, -pg_int4(data + 8)}; /* the zone counts westwards */
        rp_take_moment(sink, column, &moment);
        break;
    }
    case PG_BIT:
    case PG_VARBIT: rp_bits(sink, column, data + 4, 0, (uint32_t)pg_int4(data)); break;
    case PG_JSONB: rp_text(sink, column, data + 1, length - 1); break; /* after a version byte */
    default:
        if (column->type == RP_ARRAY)
            pg_take_array(sink, column, data, length);
        else
            rp_text_as(sink, column, data, length);
    }
}

int pg_put_binary(const rp_value *value, const rp_column *column, char *scratch) {
    uint64_t bits = (uint64_t)value->integer;
    float single = (float)value->real;
    uint32_t half;
    int size = 8;
    switch (value->type) {
    case RP_INTEGER:
        if (column->bits > 64) return -1;
        size = column->bits / 8;
        break;
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
