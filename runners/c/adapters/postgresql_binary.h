/* PostgreSQL's binary formats: what a column delivers by its type's number, its values to C's natural types, and
   parameters the other way. Sources: PostgreSQL's manual, "Frontend/Backend Protocol"; src/include/catalog/pg_type.dat.
 */
#ifndef RP_POSTGRESQL_BINARY_H
#define RP_POSTGRESQL_BINARY_H

#include <endian.h>

#include "rowpath.h"

#define PG_EPOCH_DAYS 10957 /* 2000-01-01 */
#define PG_EPOCH_US (PG_EPOCH_DAYS * RP_SECONDS_PER_DAY * RP_US_PER_SECOND)

typedef struct pg_type {
    unsigned number;
    const char *name;
    uint32_t declared; /* bits 1 << rp_type: the column types that it can deliver */
    rp_type element;
    bool text_only; /* its binary format is not known here */
} pg_type;

#define AS(type) (1u << (type))
#define AS_TEXT (AS(RP_CHAR) | AS(RP_VARCHAR) | AS(RP_TEXT) | AS(RP_JSON))

enum {
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_INT8 = 20,
    PG_INT2 = 21,
    PG_INT4 = 23,
    PG_OID = 26,
    PG_FLOAT4 = 700,
    PG_FLOAT8 = 701,
    PG_DATE = 1082,
    PG_TIME = 1083,
    PG_TIMESTAMP = 1114,
    PG_TIMESTAMPTZ = 1184,
    PG_INTERVAL = 1186,
    PG_NUMERIC = 1700,
    PG_UUID = 2950,
    PG_JSONB = 3802
};

static const pg_type pg_types[] = {
    {PG_INT2, "int2", AS(RP_INTEGER) | AS(RP_DECIMAL) | AS(RP_BOOLEAN), 0, false},
    {PG_INT4, "int4", AS(RP_INTEGER) | AS(RP_DECIMAL) | AS(RP_BOOLEAN), 0, false},
    {PG_INT8, "int8", AS(RP_INTEGER) | AS(RP_DECIMAL) | AS(RP_BOOLEAN), 0, false},
    {PG_OID, "oid", AS(RP_INTEGER), 0, false},
    {PG_NUMERIC, "numeric", AS(RP_INTEGER) | AS(RP_DECIMAL), 0, false},
    {PG_BOOL, "bool", AS(RP_BOOLEAN), 0, false},
    {PG_FLOAT4, "float4", AS(RP_FLOAT32), 0, false},
    {PG_FLOAT8, "float8", AS(RP_FLOAT64) | AS(RP_FLOAT32), 0, false},
    {18, "char", AS_TEXT, 0, false},
    {19, "name", AS_TEXT, 0, false},
    {25, "text", AS_TEXT, 0, false},
    {114, "json", AS_TEXT, 0, false},
    {PG_JSONB, "jsonb", AS_TEXT, 0, false},
    {705, "unknown", AS_TEXT, 0, false},
    {1042, "bpchar", AS_TEXT, 0, false},
    {1043, "varchar", AS_TEXT, 0, false},
    {PG_BYTEA, "bytea", AS(RP_BINARY), 0, false},
    {PG_DATE, "date", AS(RP_DATE), 0, false},
    {PG_TIME, "time", AS(RP_TIME), 0, false},
    {PG_TIMESTAMP, "timestamp", AS(RP_TIMESTAMP), 0, false},
    {PG_TIMESTAMPTZ, "timestamptz", AS(RP_TIMESTAMPTZ), 0, false},
    {PG_INTERVAL, "interval", AS(RP_INTERVAL), 0, false},
    {PG_UUID, "uuid", AS(RP_UUID), 0, false},
    {1005, "int2[]", AS(RP_ARRAY), RP_INTEGER, false},
    {1007, "int4[]", AS(RP_ARRAY), RP_INTEGER, false},
    {1016, "int8[]", AS(RP_ARRAY), RP_INTEGER, false},
    {1009, "text[]", AS(RP_ARRAY), RP_TEXT, false},
    {1014, "bpchar[]", AS(RP_ARRAY), RP_TEXT, false},
    {1015, "varchar[]", AS(RP_ARRAY), RP_TEXT, false},
    {142, "xml", 0, 0, true},
    {600, "point", 0, 0, true},
    {650, "cidr", 0, 0, true},
    {790, "money", 0, 0, true},
    {829, "macaddr", 0, 0, true},
    {869, "inet", 0, 0, true},
    {1231, "numeric[]", 0, 0, true},
    {1266, "timetz", 0, 0, true},
    {1560, "bit", 0, 0, true},
    {1562, "varbit", 0, 0, true},
    {3614, "tsvector", 0, 0, true},
    {3904, "int4range", 0, 0, true},
};

/* The type of that number; NULL when it is none of these. */
static inline const pg_type *pg_find_type(unsigned number) {
    for (size_t i = 0; i < sizeof pg_types / sizeof *pg_types; i++)
        if (pg_types[i].number == number) return &pg_types[i];
    return NULL;
}

/* The type of a placeholder for parameters declared so; 0 leaves it to the server. */
static inline unsigned pg_parameter_type(const rp_column *column) {
    switch (column->type) {
    case RP_INTEGER: return column->bits == 16 ? PG_INT2 : column->bits == 64 ? PG_INT8 : PG_INT4;
    case RP_DECIMAL: return PG_NUMERIC;
    case RP_FLOAT32: return PG_FLOAT4;
    case RP_FLOAT64: return PG_FLOAT8;
    case RP_BOOLEAN: return PG_BOOL;
    case RP_BINARY: return PG_BYTEA;
    case RP_DATE: return PG_DATE;
    case RP_TIME: return PG_TIME;
    case RP_TIMESTAMP: return PG_TIMESTAMP;
    case RP_TIMESTAMPTZ: return PG_TIMESTAMPTZ;
    case RP_INTERVAL: return PG_INTERVAL;
    case RP_UUID: return PG_UUID;
    default: return 0;
    }
}

static inline int16_t pg_int2(const char *data) {
    uint16_t bits;
    memcpy(&bits, data, sizeof bits);
    return (int16_t)be16toh(bits);
}

static inline int32_t pg_int4(const char *data) {
    uint32_t bits;
    memcpy(&bits, data, sizeof bits);
    return (int32_t)be32toh(bits);
}

static inline int64_t pg_int8(const char *data) {
    uint64_t bits;
    memcpy(&bits, data, sizeof bits);
    return (int64_t)be64toh(bits);
}

static inline double pg_float4(const char *data) {
    int32_t bits = pg_int4(data);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static inline double pg_float8(const char *data) {
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

static inline int pg_group(const pg_numeric *numeric, int place) {
    int i = numeric->weight - place;
    return i >= 0 && i < numeric->count ? pg_int2(numeric->groups + 2 * i) : 0;
}

static inline bool pg_scaled(const pg_numeric *numeric, int scale, int64_t *scaled) {
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

static inline size_t pg_numeric_text(const pg_numeric *numeric, char *text) {
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

static inline void pg_take_numeric(rp_sink *sink, rp_column *column, const char *data) {
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

static inline void pg_take_interval(rp_sink *sink, rp_column *column, const char *data) {
    int64_t us = pg_int8(data);
    int32_t days = pg_int4(data + 8), months = pg_int4(data + 12);
    if ((us == INT64_MAX && days == INT32_MAX && months == INT32_MAX) || us == INT64_MIN)
        rp_infinity(sink, column, us == INT64_MIN);
    else if (us > INT64_MAX / 1000 || us < INT64_MIN / 1000)
        rp_beyond(sink, column, "an interval of more than 292 years in hours");
    else
        rp_interval(sink, column, months, days, us * 1000);
}

static inline void pg_take_array(rp_sink *sink, rp_column *column, const char *data) {
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

static inline void pg_take_timestamp(rp_sink *sink, rp_column *column, int64_t us) {
    if (us == INT64_MAX || us == INT64_MIN)
        rp_infinity(sink, column, us == INT64_MIN);
    else
        rp_timestamp(sink, column, us + PG_EPOCH_US);
}

/* A value in binary format; `column->code` is its type's number. */
static inline void pg_take_binary(rp_sink *sink, rp_column *column, const char *data, size_t length) {
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
        else
            rp_text(sink, column, data, length);
    }
}

/* A parameter in binary format into `scratch`; its length, or -1 where text serves (and for types without one here). */
static inline int pg_put_binary(const rp_value *value, const rp_column *column, char *scratch) {
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

#undef AS
#undef AS_TEXT
#endif
