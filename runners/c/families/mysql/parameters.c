/* Parameters, in buffers of their natural type that are bound to a statement (MYSQL_BIND). */
#include <stdlib.h>

#include "mysql_operation.h"

static enum enum_field_types parameter_type(const rp_column *column) {
    switch (column->type) {
    case RP_INTEGER:
        if (column->bits > 64) return MYSQL_TYPE_NEWDECIMAL;
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

static void put_date(MYSQL_TIME *moment, int32_t days) {
    rp_civil civil = rp_civil_of_days(days);
    moment->year = (unsigned int)civil.year;
    moment->month = civil.month;
    moment->day = civil.day;
}

static void put_clock(MYSQL_TIME *moment, int64_t us) {
    int64_t seconds = us / RP_US_PER_SECOND;
    moment->hour = (unsigned int)(seconds / 3600);
    moment->minute = (unsigned int)(seconds / 60 % 60);
    moment->second = (unsigned int)(seconds % 60);
    moment->second_part = (unsigned long)(us % RP_US_PER_SECOND);
}

/* The bytes that the parameter's text takes; its room is made for the longest. */
static size_t text_bytes(const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length = 0;
    if (value->type != RP_NULL) rp_value_text(value, scratch, &length);
    return length;
}

static void put_text(my_value *to, const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length;
    const char *text = rp_value_text(value, scratch, &length);
    memcpy(to->text, text, length);
    to->length = length;
}

static void put_value(my_value *to, const rp_value *value, const rp_column *column) {
    to->is_null = value->type == RP_NULL;
    if (to->is_null) return;
    to->length = sizeof to->moment; /* the embedded library takes a shorter moment for none */
    switch (column->type) {
    case RP_INTEGER:
    case RP_BOOLEAN:
        if (RP_UNLIKELY(column->bits > 64))
            put_text(to, value);
        else
            to->integer = value->integer;
        break; /* little endian: the narrower ones begin there too */
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

void my_make_parameters(my_operation *operation, const rp_phase *phase) {
    size_t width = (size_t)phase->parameter_column_count, count = width * operation->rows;
    size_t *longest = calloc(width + 1, sizeof *longest);
    operation->parameters = calloc(count + 1, sizeof *operation->parameters);
    operation->parameter_binds = calloc(count + 1, sizeof *operation->parameter_binds);
    for (uint64_t row = 0; row < phase->parameter_count; row++)
        for (size_t i = 0; i < width; i++) {
            const rp_value *value = &rp_parameters(phase, row)[i];
            size_t bytes = my_has_text(parameter_type(&phase->parameter_columns[i])) ? text_bytes(value) : 0;
            if (bytes > longest[i]) longest[i] = bytes;
        }
    for (size_t i = 0; i < count; i++) {
        my_value *value = &operation->parameters[i];
        value->room = longest[i % width] + 1;
        value->text = malloc(value->room);
        my_bind_value(&operation->parameter_binds[i], value, parameter_type(&phase->parameter_columns[i % width]));
    }
    operation->parameter_count = (int)count;
    free(longest);
}

void my_put_parameters(my_operation *operation, const rp_phase *phase, uint64_t row) {
    const rp_value *value = rp_parameters(phase, row);
    const rp_column *first = phase->parameter_columns, *end = first + phase->parameter_column_count, *column = first;
    for (int i = 0; i < operation->parameter_count; i++) {
        put_value(&operation->parameters[i], &value[i], column);
        if (++column == end) column = first;
    }
}
