/* Values as the binary protocol has them: in buffers of their natural type, bound to a statement (MYSQL_BIND). */
#ifndef RP_MYSQL_VALUES_H
#define RP_MYSQL_VALUES_H

#include "mysql_types.h"

#define MOST_TEXT_BYTES (64 * 1024)
#define USUAL_TEXT_BYTES 8192 /* of a text without a declared length; longer ones are fetched again */

/* One parameter or one column of the result. */
typedef struct my_value {
    union {
        int64_t integer;
        int32_t number;
        int16_t small;
        int8_t tiny;
        double real;
        float single;
        MYSQL_TIME moment;
    };
    char *text;
    size_t room; /* of `text` */
    unsigned long length;
    my_bool is_null, error;
} my_value;

static inline enum enum_field_types parameter_type(const rp_column *column) {
    switch (column->type) {
    case RP_INTEGER:
        return column->bits == 16 ? MYSQL_TYPE_SHORT : column->bits == 64 ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_LONG;
    case RP_BOOLEAN: return MYSQL_TYPE_TINY;
    case RP_FLOAT32:
    case RP_FLOAT64: return MYSQL_TYPE_DOUBLE;
    case RP_DECIMAL: return MYSQL_TYPE_NEWDECIMAL;
    case RP_DATE: return MYSQL_TYPE_DATE;
    case RP_TIME: return MYSQL_TYPE_TIME;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: return MYSQL_TYPE_DATETIME;
    case RP_BINARY: return MYSQL_TYPE_BLOB;
    default: return MYSQL_TYPE_STRING;
    }
}

static inline bool has_text(enum enum_field_types type) {
    return type == MYSQL_TYPE_STRING || type == MYSQL_TYPE_BLOB || type == MYSQL_TYPE_NEWDECIMAL;
}

static inline void bind_value(MYSQL_BIND *bind, my_value *value, enum enum_field_types type) {
    *bind = (MYSQL_BIND){.buffer_type = type,
                         .buffer = has_text(type) ? (void *)value->text : &value->integer,
                         .buffer_length = has_text(type) ? value->room : sizeof value->moment,
                         .length = &value->length,
                         .is_null = &value->is_null,
                         .error = &value->error};
}

static inline void put_date(MYSQL_TIME *moment, int32_t days) {
    rp_civil civil = rp_civil_of_days(days);
    moment->year = (unsigned int)civil.year;
    moment->month = civil.month;
    moment->day = civil.day;
}

static inline void put_clock(MYSQL_TIME *moment, int64_t us) {
    int64_t seconds = us / RP_US_PER_SECOND;
    moment->hour = (unsigned int)(seconds / 3600);
    moment->minute = (unsigned int)(seconds / 60 % 60);
    moment->second = (unsigned int)(seconds % 60);
    moment->second_part = (unsigned long)(us % RP_US_PER_SECOND);
}

/* The bytes that the parameter's text takes; its room is made for the longest. */
static inline size_t text_bytes(const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length = 0;
    if (value->type != RP_NULL) rp_value_text(value, scratch, &length);
    return length;
}

static inline void put_text(my_value *to, const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length;
    const char *text = rp_value_text(value, scratch, &length);
    memcpy(to->text, text, length);
    to->length = length;
}

static inline void put_value(my_value *to, const rp_value *value, const rp_column *column) {
    to->is_null = value->type == RP_NULL;
    if (to->is_null) return;
    to->length = sizeof to->moment; /* the embedded library takes a shorter moment for none */
    switch (column->type) {
    case RP_INTEGER:
    case RP_BOOLEAN: to->integer = value->integer; break; /* little endian: the narrower ones begin there too */
    case RP_FLOAT32:
    case RP_FLOAT64: to->real = value->real; break;
    case RP_DATE:
        to->moment = (MYSQL_TIME){.time_type = MYSQL_TIMESTAMP_DATE};
        put_date(&to->moment, (int32_t)value->integer);
        break;
    case RP_TIME:
        to->moment = (MYSQL_TIME){.time_type = MYSQL_TIMESTAMP_TIME};
        put_clock(&to->moment, value->integer / 1000);
        break;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: {
        int64_t us_per_day = RP_SECONDS_PER_DAY * RP_US_PER_SECOND;
        int64_t days = rp_floor_divide(value->integer, us_per_day);
        to->moment = (MYSQL_TIME){.time_type = MYSQL_TIMESTAMP_DATETIME};
        put_date(&to->moment, (int32_t)days);
        put_clock(&to->moment, value->integer - days * us_per_day);
        break;
    }
    default: put_text(to, value);
    }
}

static inline int32_t days_of(const MYSQL_TIME *moment) {
    return (int32_t)rp_days_of_civil(moment->year, moment->month, moment->day);
}

static inline int64_t clock_us(const MYSQL_TIME *moment) {
    int64_t seconds = ((int64_t)moment->hour * 60 + moment->minute) * 60 + moment->second;
    return seconds * RP_US_PER_SECOND + (int64_t)moment->second_part;
}

static inline int64_t integer_of(const my_value *value, int type) {
    switch (type) {
    case MYSQL_TYPE_TINY: return value->tiny;
    case MYSQL_TYPE_SHORT: return value->small;
    case MYSQL_TYPE_LONG: return value->number;
    default: return value->integer;
    }
}

/* What no calendar and no clock has: 0000-00-00, and times of more than a day or before 0. */
static inline bool is_strange(rp_type type, const MYSQL_TIME *moment) {
    if (type == RP_TIME) return moment->neg || moment->hour > 23 || moment->day > 0;
    return moment->month == 0 || moment->day == 0;
}

/* A value that is not NULL; `column->code` is the type it was bound as. */
static inline void take_value(rp_sink *sink, rp_column *column, const my_value *value) {
    if (RP_UNLIKELY(value->error && !has_text((enum enum_field_types)column->code)))
        rp_misfit(sink, column, "the library had to cut it");
    if (column->type >= RP_DATE && column->type <= RP_TIMESTAMPTZ &&
        RP_UNLIKELY(is_strange(column->type, &value->moment))) {
        rp_beyond(sink, column, "neither a date nor a time of day");
        return;
    }
    switch (column->type) {
    case RP_INTEGER:
    case RP_BOOLEAN: rp_integer(sink, column, integer_of(value, column->code)); return;
    case RP_FLOAT32:
    case RP_FLOAT64:
        rp_float(sink, column, column->code == MYSQL_TYPE_FLOAT ? (double)value->single : value->real);
        return;
    case RP_DATE: rp_date(sink, column, days_of(&value->moment)); return;
    case RP_TIME: rp_time(sink, column, clock_us(&value->moment) * 1000); return;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ:
        rp_timestamp(sink, column,
                     days_of(&value->moment) * RP_SECONDS_PER_DAY * RP_US_PER_SECOND + clock_us(&value->moment));
        return;
    default: take_bytes(sink, column, value->text, value->length);
    }
}

#endif
