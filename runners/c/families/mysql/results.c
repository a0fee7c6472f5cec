/* Executing, and the rows of the result: values of the binary protocol in buffers of their natural type, bound to the
   statement (MYSQL_BIND), or of the text protocol as they come. */
#include <stdlib.h>

#include "mysql_operation.h"

#define MOST_TEXT_BYTES (64 * 1024)
#define MOST_NUMBER_BYTES 256 /* of a DECIMAL's text: it has 65 digits */
#define USUAL_TEXT_BYTES 8192 /* of a text without a declared length; longer ones are fetched again */

static void take_bits(rp_sink *sink, rp_column *column, const char *bytes, size_t length) {
    size_t bits = 8 * length,
           wanted = column->length > 0 && (size_t)column->length < bits ? (size_t)column->length : bits;
    rp_bits(sink, column, bytes, bits - wanted, (uint32_t)wanted);
}

/* Bytes as either protocol delivers them. */
static void take_bytes(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    char zoned[RP_SCRATCH_BYTES];
    if (column->type == RP_BINARY) {
        rp_binary(sink, column, text, length);
    } else if (RP_UNLIKELY(column->type == RP_BITS)) {
        take_bits(sink, column, text, length);
    } else if (RP_UNLIKELY(column->type == RP_TIMESTAMPTZ && length < sizeof zoned - 3)) {
        memcpy(mempcpy(zoned, text, length), "+00", 3); /* the session's time zone */
        rp_convert(sink, column, zoned, length + 3);
    } else {
        rp_text_as(sink, column, text, length);
    }
}

static int32_t days_of(const MYSQL_TIME *moment) {
    return (int32_t)rp_days_of_civil(moment->year, moment->month, moment->day);
}

static int64_t clock_us(const MYSQL_TIME *moment) {
    int64_t seconds = ((int64_t)moment->hour * 60 + moment->minute) * 60 + moment->second;
    return seconds * RP_US_PER_SECOND + (int64_t)moment->second_part;
}

static int64_t integer_of(const my_value *value, int type) {
    switch (type) {
    case MYSQL_TYPE_TINY: return value->tiny;
    case MYSQL_TYPE_SHORT: return value->small;
    case MYSQL_TYPE_LONG: return value->number;
    default: return value->integer;
    }
}

/* What no clock has, and what no calendar has or need not have: 0000-00-00, the 30th, times of more than a day. */
static bool may_be_strange(rp_type kind, const MYSQL_TIME *moment) {
    if (kind == RP_TIME) return moment->neg || moment->hour > 23 || moment->day > 0;
    return moment->month == 0 || moment->day - 1 > 27;
}

static bool take_strange(rp_sink *sink, rp_column *column, rp_type kind, const MYSQL_TIME *moment) {
    rp_moment strange = {.year = moment->year, .month = moment->month, .day = moment->day};
    if (kind != RP_TIME && rp_is_day(moment->year, moment->month, moment->day)) return false;
    strange.time_ns = clock_us(moment) * 1000;
    if (kind == RP_TIME) {
        strange.time_ns += (int64_t)moment->day * RP_SECONDS_PER_DAY * RP_NS_PER_SECOND;
        if (moment->neg) strange.time_ns = -strange.time_ns;
    }
    rp_take_moment(sink, column, &strange);
    return true;
}

/* A value that is not NULL. */
static void take_value(rp_sink *sink, rp_column *column, const my_value *value) {
    rp_type kind = (rp_type)(column->code >> 8 & 0xff);
    if (kind >= RP_DATE && RP_UNLIKELY(may_be_strange(kind, &value->moment)) &&
        take_strange(sink, column, kind, &value->moment))
        return;
    switch (kind) {
    case RP_INTEGER: rp_integer(sink, column, integer_of(value, column->code & 0xff)); return;
    case RP_FLOAT64:
        rp_float(sink, column, my_buffer(column) == MYSQL_TYPE_FLOAT ? (double)value->single : value->real);
        return;
    case RP_DATE: rp_date(sink, column, days_of(&value->moment)); return;
    case RP_TIME: rp_time(sink, column, clock_us(&value->moment) * 1000); return;
    case RP_TIMESTAMP:
        rp_timestamp(sink, column,
                     days_of(&value->moment) * RP_SECONDS_PER_DAY * RP_US_PER_SECOND + clock_us(&value->moment));
        return;
    default: take_bytes(sink, column, value->text, value->length);
    }
}

static size_t text_room(const rp_column *column) {
    if (column->length == 0) return USUAL_TEXT_BYTES;
    return column->length < MOST_TEXT_BYTES / 4 ? 4 * (size_t)column->length + 1 : MOST_TEXT_BYTES;
}

/* Buffers for the columns that are wanted; the others (HANDLER) get none. */
static void make_results(my_operation *operation, const rp_phase *phase) {
    operation->results = calloc((size_t)operation->result_count + 1, sizeof *operation->results);
    operation->result_binds = calloc((size_t)operation->result_count + 1, sizeof *operation->result_binds);
    for (int i = 0; i < operation->result_count; i++)
        my_bind_value(&operation->result_binds[i], &operation->results[i], MYSQL_TYPE_STRING);
    for (int i = 0; i < phase->column_count; i++) {
        const rp_column *column = &phase->columns[i];
        my_value *value = &operation->results[operation->positions[i]];
        if (my_has_text(my_buffer(column))) {
            value->room = text_room(column);
            value->text = malloc(value->room);
        }
        my_bind_value(&operation->result_binds[operation->positions[i]], value, my_buffer(column));
    }
}

static bool bind_results(my_operation *operation, const rp_phase *phase, MYSQL_STMT *statement) {
    if (operation->results != NULL && statement == operation->statement) return true; /* bound before */
    if (operation->positions == NULL) {
        MYSQL_RES *described = mysql_stmt_result_metadata(statement);
        if (described == NULL) return rp_fail(RP_VERIFY, "", "the statement has no result");
        bool good = my_describe(operation, phase, described);
        mysql_free_result(described);
        if (!good) return false;
        make_results(operation, phase);
    }
    return !mysql_stmt_bind_result(statement, operation->result_binds) || my_fail_statement(statement);
}

/* The value as bytes, in a longer buffer that is used for this one only. */
static bool fetch_bytes(MYSQL_STMT *statement, int position, rp_column *column, size_t length, rp_sink *sink) {
    my_value whole = {.room = length + 1, .text = malloc(length + 1)};
    MYSQL_BIND bind;
    if (whole.text == NULL) abort();
    my_bind_value(&bind, &whole, MYSQL_TYPE_STRING);
    bool good =
        mysql_stmt_fetch_column(statement, &bind, (unsigned int)position, 0) == 0 || my_fail_statement(statement);
    if (good) take_bytes(sink, column, whole.text, whole.length);
    free(whole.text);
    return good;
}

/* A value that did not fit its buffer: a long text, an integer without a sign, or one of more than 64 bits. */
static bool take_cut(MYSQL_STMT *statement, int position, rp_column *column, const my_value *value, rp_sink *sink) {
    bool text = my_has_text(my_buffer(column));
    if (text && value->length <= value->room) {
        take_value(sink, column, value);
    } else if ((column->code & MY_UNSIGNED) != 0) {
        rp_unsigned(sink, column, (uint64_t)value->integer);
    } else {
        return fetch_bytes(statement, position, column, text ? value->length : MOST_NUMBER_BYTES, sink);
    }
    return true;
}

static bool take_row(my_operation *operation, const rp_phase *phase, MYSQL_STMT *statement, rp_sink *sink) {
    for (int i = 0; i < phase->column_count; i++) {
        rp_column *column = &phase->columns[i];
        int at = operation->positions[i];
        my_value *value = &operation->results[at];
        if (value->is_null)
            rp_null(sink, column);
        else if (RP_UNLIKELY(value->error || (value->length > value->room && my_has_text(my_buffer(column))))) {
            if (!take_cut(statement, at, column, value, sink)) return false;
        } else
            take_value(sink, column, value);
    }
    rp_row(sink);
    return true;
}

static bool take_rows(my_operation *operation, const rp_phase *phase, MYSQL_STMT *statement, rp_sink *sink) {
    int result;
    while ((result = mysql_stmt_fetch(statement)) == 0 || result == MYSQL_DATA_TRUNCATED)
        if (!take_row(operation, phase, statement, sink)) return false;
    return result == MYSQL_NO_DATA || my_fail_statement(statement);
}

static bool execute_statement(my_operation *operation, const rp_phase *phase, MYSQL_STMT *statement, rp_sink *sink) {
    if (mysql_stmt_execute(statement) != 0) return my_fail_statement(statement);
    if (!operation->takes_result) {
        rp_executed(sink);
        return true;
    }
    bool good = bind_results(operation, phase, statement);
    if (good && !operation->connection->streams)
        good = mysql_stmt_store_result(statement) == 0 || my_fail_statement(statement);
    rp_executed(sink);
    good = good && take_rows(operation, phase, statement, sink);
    mysql_stmt_free_result(statement);
    return good;
}

static bool take_text(my_operation *operation, const rp_phase *phase, MYSQL_RES *result, rp_sink *sink) {
    MYSQL *mysql = operation->connection->mysql;
    for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL; rp_row(sink)) {
        const unsigned long *lengths = mysql_fetch_lengths(result);
        for (int i = 0; i < phase->column_count; i++) {
            int at = operation->positions[i];
            if (row[at] == NULL)
                rp_null(sink, &phase->columns[i]);
            else
                take_bytes(sink, &phase->columns[i], row[at], lengths[at]);
        }
    }
    return mysql_errno(mysql) == 0 || my_fail(mysql, RP_SQL_ERROR);
}

bool my_execute_text(my_operation *operation, const rp_phase *phase, const char *sql, rp_sink *sink) {
    MYSQL *mysql = operation->connection->mysql;
    if (mysql_real_query(mysql, sql, strlen(sql)) != 0) return my_fail(mysql, RP_SQL_ERROR);
    MYSQL_RES *result = operation->connection->streams ? mysql_use_result(mysql) : mysql_store_result(mysql);
    rp_executed(sink);
    if (result == NULL)
        return mysql_errno(mysql) != 0    ? my_fail(mysql, RP_SQL_ERROR)
               : !operation->takes_result ? true
                                          : rp_fail(RP_VERIFY, "", "the statement has no result");
    bool good = !operation->takes_result ||
                (my_describe(operation, phase, result) && take_text(operation, phase, result, sink));
    mysql_free_result(result);
    return good;
}

bool my_execute_bound(my_operation *operation, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    MYSQL_STMT *statement = operation->statement != NULL ? operation->statement : my_prepare_statement(operation);
    if (statement == NULL) return false;
    my_put_parameters(operation, phase, row);
    bool good = execute_statement(operation, phase, statement, sink);
    if (statement != operation->statement) mysql_stmt_close(statement);
    return good;
}
