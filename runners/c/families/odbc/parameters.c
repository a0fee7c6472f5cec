/* Parameters: bound once to arrays of C values, into which each execution's values are put; a row of them, or, for
   bulk=array, as many rows as travel in one execution. */
#include <stdlib.h>

#include "odbc.h"

static odbc_parameter parameter_type(const rp_column *column) {
    SQLULEN length = column->length > 0 ? (SQLULEN)column->length : 0;
    switch (column->type) {
    case RP_INTEGER:
        if (column->bits > 64) return (odbc_parameter){SQL_C_CHAR, SQL_DECIMAL, 0, 39, 0, 0, 0};
        if (column->bits > 32) return (odbc_parameter){SQL_C_SBIGINT, SQL_BIGINT, 0, 19, sizeof(SQLBIGINT), 0, 0};
        return (odbc_parameter){SQL_C_SLONG, SQL_INTEGER, 0, 10, sizeof(SQLINTEGER), 0, 0};
    case RP_BOOLEAN: return (odbc_parameter){SQL_C_BIT, SQL_BIT, 0, 1, 1, 0, 0};
    case RP_FLOAT32:
    case RP_FLOAT64: return (odbc_parameter){SQL_C_DOUBLE, SQL_DOUBLE, 0, 15, sizeof(SQLDOUBLE), 0, 0};
    case RP_DECIMAL:
        return (odbc_parameter){SQL_C_CHAR, SQL_DECIMAL, (SQLSMALLINT)column->scale, (SQLULEN)column->precision, 0, 0,
                                0};
    case RP_CHAR: return (odbc_parameter){SQL_C_CHAR, SQL_CHAR, 0, length, 0, 0, 0};
    case RP_BINARY: return (odbc_parameter){SQL_C_BINARY, SQL_VARBINARY, 0, length, 0, 0, 0};
    case RP_DATE:
        if (odbc_driver_here.temporal_text) break;
        return (odbc_parameter){SQL_C_TYPE_DATE, SQL_TYPE_DATE, 0, 10, sizeof(SQL_DATE_STRUCT), 0, 0};
    case RP_TIME:
        if (odbc_driver_here.temporal_text) break;
        return (odbc_parameter){SQL_C_CHAR, SQL_TYPE_TIME, 6, 15, RP_SCRATCH_BYTES, 0, 0};
    case RP_TIMESTAMP:
        if (odbc_driver_here.temporal_text) break;
        return (odbc_parameter){SQL_C_TYPE_TIMESTAMP, SQL_TYPE_TIMESTAMP, 6, 26, sizeof(SQL_TIMESTAMP_STRUCT), 0, 0};
    case RP_TIMESTAMPTZ:
    case RP_UUID: return (odbc_parameter){SQL_C_CHAR, SQL_VARCHAR, 0, RP_SCRATCH_BYTES, RP_SCRATCH_BYTES, 0, 0};
    case RP_TEXT:
    case RP_JSON: return (odbc_parameter){SQL_C_CHAR, SQL_LONGVARCHAR, 0, length, 0, 0, 0};
    default: break;
    }
    return (odbc_parameter){SQL_C_CHAR, SQL_VARCHAR, 0, length > 0 ? length : RP_SCRATCH_BYTES, 0, 0, 0};
}

/* Room for the longest value of the phase. */
static void measure(odbc_parameter *parameter, const rp_phase *phase, int i) {
    if (parameter->width > 0) return;
    parameter->width = RP_SCRATCH_BYTES;
    for (uint64_t row = 0; row < phase->parameter_count; row++) {
        const rp_value *value = &rp_parameters(phase, row)[i];
        char scratch[RP_SCRATCH_BYTES];
        size_t length = 0;
        if (value->type != RP_NULL) rp_value_text(value, scratch, &length);
        if (parameter->width <= (SQLLEN)length) parameter->width = (SQLLEN)length + 1;
        if (parameter->size < length) parameter->size = length;
    }
}

void odbc_release_parameters(odbc_parameters *parameters) {
    for (int i = 0; i < parameters->count; i++) {
        free(parameters->each[i].data);
        free(parameters->each[i].lengths);
    }
    free(parameters->each);
}

bool odbc_bind_parameters(odbc_parameters *parameters, SQLHSTMT handle, const rp_phase *phase, SQLULEN rows) {
    parameters->count = phase->parameter_column_count;
    parameters->each = calloc((size_t)parameters->count + 1, sizeof *parameters->each);
    for (int i = 0; i < parameters->count; i++) {
        odbc_parameter *parameter = &parameters->each[i];
        *parameter = parameter_type(&phase->parameter_columns[i]);
        measure(parameter, phase, i);
        parameter->data = calloc(rows, (size_t)parameter->width);
        parameter->lengths = calloc(rows, sizeof *parameter->lengths);
        if (!SQL_SUCCEEDED(SQLBindParameter(handle, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT, parameter->c_type,
                                            parameter->sql_type, parameter->size, parameter->digits, parameter->data,
                                            parameter->width, parameter->lengths)))
            return odbc_statement_failed(handle);
    }
    return true;
}

static SQL_TIMESTAMP_STRUCT timestamp_of(int64_t us) {
    int64_t seconds = rp_floor_divide(us, RP_US_PER_SECOND), days = rp_floor_divide(seconds, RP_SECONDS_PER_DAY);
    rp_civil civil = rp_civil_of_days((int32_t)days);
    int64_t second = seconds - days * RP_SECONDS_PER_DAY;
    return (SQL_TIMESTAMP_STRUCT){.year = (SQLSMALLINT)civil.year,
                                  .month = (SQLUSMALLINT)civil.month,
                                  .day = (SQLUSMALLINT)civil.day,
                                  .hour = (SQLUSMALLINT)(second / 3600),
                                  .minute = (SQLUSMALLINT)(second / 60 % 60),
                                  .second = (SQLUSMALLINT)(second % 60),
                                  .fraction = (SQLUINTEGER)(us - seconds * RP_US_PER_SECOND) * 1000};
}

static void put_value(odbc_parameter *parameter, SQLULEN row, const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES], *to = parameter->data + row * (SQLULEN)parameter->width;
    SQLLEN *length = &parameter->lengths[row];
    if (value->type == RP_NULL) {
        *length = SQL_NULL_DATA;
        return;
    }
    *length = parameter->width;
    switch (parameter->c_type) {
    case SQL_C_SLONG: *(SQLINTEGER *)to = (SQLINTEGER)value->integer; return;
    case SQL_C_SBIGINT: *(SQLBIGINT *)to = value->integer; return;
    case SQL_C_BIT: *to = value->integer != 0; return;
    case SQL_C_DOUBLE: *(SQLDOUBLE *)to = value->real; return;
    case SQL_C_TYPE_TIMESTAMP: *(SQL_TIMESTAMP_STRUCT *)to = timestamp_of(value->integer); return;
    case SQL_C_TYPE_DATE: {
        rp_civil civil = rp_civil_of_days((int32_t)value->integer);
        *(SQL_DATE_STRUCT *)to =
            (SQL_DATE_STRUCT){(SQLSMALLINT)civil.year, (SQLUSMALLINT)civil.month, (SQLUSMALLINT)civil.day};
        return;
    }
    default: break;
    }
    size_t bytes;
    const char *text = rp_value_text(value, scratch, &bytes);
    memcpy(to, text, bytes);
    *length = (SQLLEN)bytes;
}

void odbc_put_row(odbc_parameters *parameters, SQLULEN row, const rp_value *values) {
    for (int i = 0; i < parameters->count; i++)
        put_value(&parameters->each[i], row, &values[i]);
}
