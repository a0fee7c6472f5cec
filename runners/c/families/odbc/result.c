/* The rows of a result: columns bound once to arrays of C values, or each value got by a call of its own. */
#include <stdlib.h>

#include "odbc.h"

#define MOST_BOUND_BYTES (256LL * 1024 * 1024) /* of a block */
#define MOST_VALUE_BYTES (64 * 1024)           /* of one bound value; longer ones are read in pieces */
#define LONG_BYTES 4096 /* room for a value of a column without a declared length; longer ones are read in pieces */

/* What the driver says of a result's column, where the declared type does not settle how its values are taken. */
typedef struct odbc_answer {
    SQLSMALLINT digits;       /* of a second's fraction */
    bool without_sign, bytes; /* 64 bits without a sign; a type of bytes */
} odbc_answer;

static SQLSMALLINT c_type_of(const rp_column *column, odbc_answer answer) {
    switch (column->type) {
    case RP_INTEGER:
        if (answer.without_sign) return SQL_C_UBIGINT;
        return column->bits > 64 ? SQL_C_CHAR : column->bits > 32 ? SQL_C_SBIGINT : SQL_C_SLONG;
    case RP_BOOLEAN: return SQL_C_SLONG;
    case RP_FLOAT32:
    case RP_FLOAT64: return SQL_C_DOUBLE;
    case RP_BINARY: return SQL_C_BINARY;
    case RP_BITS: return answer.bytes ? SQL_C_BINARY : SQL_C_CHAR;
    case RP_DATE: return odbc_driver_here.temporal_text ? SQL_C_CHAR : SQL_C_TYPE_DATE;
    case RP_TIME:
        return odbc_driver_here.temporal_text || odbc_driver_here.durations || answer.digits > 0 ? SQL_C_CHAR
                                                                                                 : SQL_C_TYPE_TIME;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: return odbc_driver_here.temporal_text ? SQL_C_CHAR : SQL_C_TYPE_TIMESTAMP;
    default: return SQL_C_CHAR;
    }
}

/* UTF-8 takes four bytes a character at most. */
static SQLLEN width_of(const rp_column *column, SQLSMALLINT c_type) {
    switch (c_type) {
    case SQL_C_SLONG: return sizeof(SQLINTEGER);
    case SQL_C_UBIGINT:
    case SQL_C_SBIGINT: return sizeof(SQLBIGINT);
    case SQL_C_DOUBLE: return sizeof(SQLDOUBLE);
    case SQL_C_TYPE_DATE: return sizeof(SQL_DATE_STRUCT);
    case SQL_C_TYPE_TIME: return sizeof(SQL_TIME_STRUCT);
    case SQL_C_TYPE_TIMESTAMP: return sizeof(SQL_TIMESTAMP_STRUCT);
    case SQL_C_BINARY:
        return column->length == 0 ? LONG_BYTES : column->length < MOST_VALUE_BYTES ? column->length : MOST_VALUE_BYTES;
    default: break;
    }
    if (!rp_is_text(column->type)) return column->type == RP_BITS || column->type >= RP_ARRAY ? LONG_BYTES : 128;
    if (column->length == 0) return LONG_BYTES;
    return column->length < MOST_VALUE_BYTES / 4 ? 4 * (SQLLEN)column->length + 1 : MOST_VALUE_BYTES;
}

static void release_columns(odbc_result *result) {
    for (int i = 0; i < result->column_count; i++) {
        free(result->columns[i].data);
        free(result->columns[i].lengths);
    }
    free(result->columns);
    result->columns = NULL;
    result->column_count = 0;
}

void odbc_release_result(odbc_result *result) {
    release_columns(result);
    free(result->statuses);
    free(result->long_value);
}

/* Asked of few columns, because it may cost a query of the catalogue. */
static odbc_answer ask(SQLHSTMT handle, SQLUSMALLINT number, const rp_column *column) {
    odbc_answer answer = {0};
    SQLCHAR name[128];
    SQLSMALLINT ignored, type = 0;
    SQLULEN size;
    SQLLEN is_unsigned = SQL_FALSE;
    bool long_integer = column->type == RP_INTEGER && column->bits >= 64;
    if (column->type == RP_TIME || column->type == RP_BITS || long_integer)
        SQLDescribeCol(handle, number, name, sizeof name, &ignored, &type, &size, &answer.digits, &ignored);
    answer.bytes = type == SQL_BIT || type == SQL_BINARY || type == SQL_VARBINARY || type == SQL_LONGVARBINARY;
    if (long_integer && type == SQL_BIGINT)
        SQLColAttribute(handle, number, SQL_DESC_UNSIGNED, NULL, 0, NULL, &is_unsigned);
    answer.without_sign = is_unsigned == SQL_TRUE;
    return answer;
}

static void choose_types(odbc_result *result, const rp_phase *phase) {
    for (int i = 0; i < result->column_count; i++) {
        odbc_column *column = &result->columns[i];
        odbc_answer answer = ask(result->handle, (SQLUSMALLINT)(i + 1), &phase->columns[i]);
        column->c_type = c_type_of(&phase->columns[i], answer);
        column->width = width_of(&phase->columns[i], column->c_type);
    }
}

/* A block is memory of as many rows as it may have, each as wide as it may be. */
static bool has_room(const odbc_result *result) {
    long long row_bytes = 0, rows = (long long)result->block_rows;
    for (int i = 0; i < result->column_count; i++)
        row_bytes += result->columns[i].width + (long long)sizeof(SQLLEN);
    return rows * row_bytes <= MOST_BOUND_BYTES ||
           rp_fail(RP_UNSUPPORTED, "", "blocks of %lld rows of up to %lld bytes; more than %lld MiB are not bound",
                   rows, row_bytes, MOST_BOUND_BYTES >> 20);
}

/* Looked at once, and bound for good: what is bound outlives the cursor. */
static bool bind_columns(odbc_result *result, const rp_phase *phase) {
    SQLSMALLINT count = 0;
    SQLNumResultCols(result->handle, &count);
    if (count != phase->column_count)
        return rp_fail(RP_VERIFY, "", "the result has %d columns, not %d", count, phase->column_count);
    result->columns = calloc((size_t)count, sizeof *result->columns);
    result->column_count = count;
    choose_types(result, phase);
    if (!has_room(result)) return false;
    for (int i = 0; i < count; i++) {
        odbc_column *column = &result->columns[i];
        SQLUSMALLINT number = (SQLUSMALLINT)(i + 1);
        column->data = calloc(result->block_rows, (size_t)column->width);
        column->lengths = calloc(result->block_rows, sizeof *column->lengths);
        if (!result->gets_data && !SQL_SUCCEEDED(SQLBindCol(result->handle, number, column->c_type, column->data,
                                                            column->width, column->lengths)))
            return odbc_statement_failed(result->handle);
    }
    return true;
}

/* The driver's names of the types, for people: outside the clock. */
static void name_types(odbc_result *result, const rp_phase *phase) {
    for (int i = 0; i < result->column_count; i++) {
        odbc_column *column = &result->columns[i];
        SQLColAttribute(result->handle, (SQLUSMALLINT)(i + 1), SQL_DESC_TYPE_NAME, column->name, sizeof column->name,
                        NULL, NULL);
        rp_deliver(&phase->columns[i], column->name);
    }
}

bool odbc_set_block(odbc_result *result) {
    result->fetched = 1;
    if (result->block_rows == 1) return true;
    SQLHSTMT handle = result->handle;
    result->statuses = calloc(result->block_rows, sizeof *result->statuses);
    return (SQL_SUCCEEDED(SQLSetStmtAttr(handle, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)result->block_rows, 0)) &&
            SQL_SUCCEEDED(SQLSetStmtAttr(handle, SQL_ATTR_ROWS_FETCHED_PTR, &result->fetched, 0)) &&
            SQL_SUCCEEDED(SQLSetStmtAttr(handle, SQL_ATTR_ROW_STATUS_PTR, result->statuses, 0))) ||
           odbc_statement_failed(handle);
}

static int64_t microseconds_of(const SQL_TIMESTAMP_STRUCT *at) {
    int64_t seconds = rp_days_of_civil(at->year, at->month, at->day) * RP_SECONDS_PER_DAY +
                      (at->hour * 60 + at->minute) * 60 + at->second;
    return seconds * RP_US_PER_SECOND + at->fraction / 1000;
}

/* No driver has a year 0 before Christ: -44 is 44 BC. */
static void take_as_written(rp_sink *sink, rp_column *column, int year, unsigned month, unsigned day, int64_t ns) {
    rp_moment moment = {.year = year < 0 ? year + 1 : year, .month = month, .day = day, .time_ns = ns};
    rp_take_moment(sink, column, &moment);
}

/* Outside the clock a timestamp is taken with its nanoseconds, and the day as it is written. */
static void take_whole_timestamp(rp_sink *sink, rp_column *column, const SQL_TIMESTAMP_STRUCT *at) {
    int64_t seconds = (at->hour * 60 + at->minute) * 60 + at->second;
    take_as_written(sink, column, at->year, at->month, at->day, seconds * RP_NS_PER_SECOND + at->fraction);
}

static void take_bytes(rp_sink *sink, rp_column *column, const char *data, size_t length) {
    size_t bits = 8 * length,
           count = column->length > 0 && (size_t)column->length < bits ? (size_t)column->length : bits;
    if (column->type == RP_BITS)
        rp_bits(sink, column, data, bits - count, (uint32_t)count);
    else
        rp_binary(sink, column, data, length);
}

/* Always inline: a call for every value would be more than 1 % of a row. */
__attribute__((always_inline)) static inline void take_value(rp_sink *sink, rp_column *column, SQLSMALLINT c_type,
                                                             const char *data, SQLLEN length) {
    switch (c_type) {
    case SQL_C_SLONG: rp_integer(sink, column, *(const SQLINTEGER *)data); return;
    case SQL_C_SBIGINT: rp_integer(sink, column, *(const SQLBIGINT *)data); return;
    case SQL_C_UBIGINT: rp_unsigned(sink, column, *(const SQLUBIGINT *)data); return;
    case SQL_C_DOUBLE: rp_float(sink, column, *(const SQLDOUBLE *)data); return;
    case SQL_C_BINARY: take_bytes(sink, column, data, (size_t)length); return;
    case SQL_C_TYPE_TIMESTAMP:
        if (RP_UNLIKELY(sink->digest != NULL))
            take_whole_timestamp(sink, column, (const void *)data);
        else
            rp_timestamp(sink, column, microseconds_of((const void *)data));
        return;
    case SQL_C_TYPE_DATE: {
        const SQL_DATE_STRUCT *date = (const void *)data;
        if (RP_UNLIKELY(date->year < 1 || date->month - 1u > 11 || date->day - 1u > 27))
            take_as_written(sink, column, date->year, date->month, date->day, 0);
        else
            rp_date(sink, column, (int32_t)rp_days_of_civil(date->year, date->month, date->day));
        return;
    }
    case SQL_C_TYPE_TIME: {
        const SQL_TIME_STRUCT *time = (const void *)data;
        rp_time(sink, column, ((time->hour * 60 + time->minute) * 60LL + time->second) * RP_NS_PER_SECOND);
        return;
    }
    default: rp_text_as(sink, column, data, (size_t)length);
    }
}

/* Bytes behind a value that belong to no value: text is closed by NUL. */
static SQLLEN close_of(const odbc_column *column) {
    return column->c_type == SQL_C_CHAR;
}

static bool is_cut(const odbc_column *column, SQLLEN length) {
    bool varies = column->c_type == SQL_C_CHAR || column->c_type == SQL_C_BINARY;
    return varies && (length == SQL_NO_TOTAL || length + close_of(column) > column->width);
}

/* Reads a value piece by piece, behind the `have` bytes that the buffer holds; its length, negative after rp_fail. */
static SQLLEN read_pieces(odbc_result *result, int i, const odbc_column *column, char **buffer, SQLLEN *capacity,
                          SQLLEN have) {
    for (;;) {
        if (*capacity < have + LONG_BYTES) {
            *capacity = 2 * (have + LONG_BYTES);
            *buffer = realloc(*buffer, (size_t)*capacity);
            if (*buffer == NULL) abort();
        }
        SQLLEN left, room = *capacity - have;
        SQLRETURN got = SQLGetData(result->handle, (SQLUSMALLINT)(i + 1), column->c_type, *buffer + have, room, &left);
        if (!SQL_SUCCEEDED(got)) return odbc_statement_failed(result->handle) - 1;
        if (left != SQL_NO_TOTAL && left + close_of(column) <= room) return have + left;
        have += room - close_of(column);
    }
}

/* Of a block the driver need not be able to go back to a row. */
static bool go_to(const odbc_result *result, SQLULEN row) {
    return result->block_rows == 1 ||
           SQL_SUCCEEDED(SQLSetPos(result->handle, (SQLSETPOSIROW)(row + 1), SQL_POSITION, SQL_LOCK_NO_CHANGE));
}

/* A bound value that was cut, read again as a whole. */
static bool take_long(odbc_result *result, rp_sink *sink, rp_column *column, int i, SQLULEN row) {
    const odbc_column *from = &result->columns[i];
    if (!go_to(result, row)) {
        rp_foreign(sink, column, from->data + row * (SQLULEN)from->width, (size_t)(from->width - close_of(from)),
                   "cut: it is longer than a block's room for it, and the driver cannot go back to it; fetch=row can");
        return true;
    }
    SQLLEN length = read_pieces(result, i, from, &result->long_value, &result->long_capacity, 0);
    if (length < 0) return false;
    take_value(sink, column, from->c_type, result->long_value, length);
    return true;
}

/* A value for which the type that C has for it has no room (TIME of 100:00:00), as the driver's text. */
static bool get_text(odbc_result *result, rp_sink *sink, rp_column *column, int i) {
    const odbc_column as_text = {.c_type = SQL_C_CHAR};
    char first[LONG_BYTES];
    SQLLEN length;
    SQLRETURN got = SQLGetData(result->handle, (SQLUSMALLINT)(i + 1), SQL_C_CHAR, first, sizeof first, &length);
    if (!SQL_SUCCEEDED(got)) return odbc_statement_failed(result->handle);
    if (length == SQL_NULL_DATA) {
        rp_null(sink, column);
    } else if (length == SQL_NO_TOTAL || length >= (SQLLEN)sizeof first) {
        if (result->long_capacity < (SQLLEN)sizeof first) {
            result->long_capacity = 2 * LONG_BYTES;
            result->long_value = realloc(result->long_value, 2 * LONG_BYTES);
            if (result->long_value == NULL) abort();
        }
        memcpy(result->long_value, first, sizeof first);
        length = read_pieces(result, i, &as_text, &result->long_value, &result->long_capacity, sizeof first - 1);
        if (length < 0) return false;
        rp_text_as(sink, column, result->long_value, (size_t)length);
    } else {
        rp_text_as(sink, column, first, (size_t)length);
    }
    return true;
}

static bool get_value(odbc_result *result, rp_sink *sink, rp_column *column, int i) {
    odbc_column *from = &result->columns[i];
    SQLLEN length;
    SQLRETURN got = SQLGetData(result->handle, (SQLUSMALLINT)(i + 1), from->c_type, from->data, from->width, &length);
    if (RP_UNLIKELY(!SQL_SUCCEEDED(got)))
        return odbc_has_no_room(result->handle) ? get_text(result, sink, column, i)
                                                : odbc_statement_failed(result->handle);
    if (length == SQL_NULL_DATA) {
        rp_null(sink, column);
        return true;
    }
    if (RP_UNLIKELY(got == SQL_SUCCESS_WITH_INFO) && is_cut(from, length)) {
        length = read_pieces(result, i, from, &from->data, &from->width, from->width - close_of(from));
        if (length < 0) return false;
    }
    take_value(sink, column, from->c_type, from->data, length);
    return true;
}

static bool get_values(odbc_result *result, const rp_phase *phase, rp_sink *sink) {
    for (int i = 0; i < phase->column_count; i++)
        if (!get_value(result, sink, &phase->columns[i], i)) return false;
    rp_row(sink);
    return true;
}

/* A row of a block with a value that its buffer has no room for: each value by a call of its own. */
static bool get_refused(odbc_result *result, const rp_phase *phase, rp_sink *sink, SQLULEN row) {
    if (!odbc_has_no_room(result->handle)) return odbc_statement_failed(result->handle);
    odbc_statement_failed(result->handle);
    return go_to(result, row) && get_values(result, phase, sink);
}

static bool take_bound(odbc_result *result, const rp_phase *phase, rp_sink *sink, SQLULEN row, bool warned) {
    if (warned && result->statuses != NULL && result->statuses[row] == SQL_ROW_ERROR)
        return get_refused(result, phase, sink, row);
    for (int i = 0; i < phase->column_count; i++) {
        const odbc_column *from = &result->columns[i];
        rp_column *column = &phase->columns[i];
        SQLLEN length = from->lengths[row];
        if (length == SQL_NULL_DATA) {
            rp_null(sink, column);
        } else if (RP_UNLIKELY(warned) && is_cut(from, length)) {
            if (!take_long(result, sink, column, i, row)) return false;
        } else {
            take_value(sink, column, from->c_type, from->data + row * (SQLULEN)from->width, length);
        }
    }
    rp_row(sink);
    return true;
}

bool odbc_take_rows(odbc_result *result, const rp_phase *phase, rp_sink *sink) {
    if (result->columns == NULL && !bind_columns(result, phase)) {
        release_columns(result); /* an operation that follows one that failed binds them again */
        return false;
    }
    if (sink->digest) name_types(result, phase);
    SQLRETURN fetched;
    while (SQL_SUCCEEDED(fetched = SQLFetch(result->handle))) {
        bool warned = fetched == SQL_SUCCESS_WITH_INFO;
        if (result->gets_data) {
            if (!get_values(result, phase, sink)) return false;
            continue;
        }
        for (SQLULEN row = 0; row < result->fetched; row++)
            if (!take_bound(result, phase, sink, row, warned)) return false;
    }
    return fetched == SQL_NO_DATA || odbc_statement_failed(result->handle);
}
