/* An operation: a statement that is prepared once (or anew each time), or SQL texts; executed, and its rows taken. */
#ifndef RP_MYSQL_OPERATION_H
#define RP_MYSQL_OPERATION_H

#include "mysql_values.h"

#define MOST_PARAMETERS 65535 /* of one statement: the protocol counts them in 16 bits */

typedef struct my_operation {
    my_connection *connection;
    rp_statement_mode mode;
    char *sql, *handler; /* the statement; the name under which HANDLER has opened the table */
    bool takes_result, by_name;
    MYSQL_STMT *statement; /* NULL: prepared anew in each operation, or text */
    uint64_t rows;         /* parameter rows of one execution */
    int parameter_count, result_count;
    my_value *parameters, *results;
    MYSQL_BIND *parameter_binds, *result_binds;
    int *positions;            /* of the phase's columns in the result; NULL: not described yet */
    struct my_operation *rest; /* a HANDLER's next records; of bulk, the rows that remain */
} my_operation;

static inline void free_values(my_value *values, int count) {
    for (int i = 0; values != NULL && i < count; i++)
        free(values[i].text);
    free(values);
}

static inline void close_handler(my_operation *operation) {
    char sql[64];
    snprintf(sql, sizeof sql, "HANDLER %s CLOSE", operation->handler);
    my_run(operation->connection, sql);
    free(operation->handler);
}

static inline void my_release(void *statement) {
    my_operation *operation = statement;
    attend_thread();
    if (operation->rest != NULL) my_release(operation->rest);
    if (operation->statement != NULL) mysql_stmt_close(operation->statement);
    if (operation->handler != NULL) close_handler(operation);
    free_values(operation->parameters, operation->parameter_count);
    free_values(operation->results, operation->result_count);
    free(operation->parameter_binds);
    free(operation->result_binds);
    free(operation->positions);
    free(operation->sql);
    free(operation);
}

/* Buffers for the parameters, those of text as long as the longest text that will be put into them. */
static inline void make_parameters(my_operation *operation, const rp_phase *phase) {
    size_t width = (size_t)phase->parameter_column_count, count = width * operation->rows;
    size_t *longest = calloc(width + 1, sizeof *longest);
    operation->parameters = calloc(count + 1, sizeof *operation->parameters);
    operation->parameter_binds = calloc(count + 1, sizeof *operation->parameter_binds);
    for (uint64_t row = 0; row < phase->parameter_count; row++)
        for (size_t i = 0; i < width; i++) {
            const rp_value *value = &rp_parameters(phase, row)[i];
            size_t bytes = has_text(parameter_type(&phase->parameter_columns[i])) ? text_bytes(value) : 0;
            if (bytes > longest[i]) longest[i] = bytes;
        }
    for (size_t i = 0; i < count; i++) {
        my_value *value = &operation->parameters[i];
        value->room = longest[i % width] + 1;
        value->text = malloc(value->room);
        bind_value(&operation->parameter_binds[i], value, parameter_type(&phase->parameter_columns[i % width]));
    }
    operation->parameter_count = (int)count;
    free(longest);
}

/* A statement on the server, its parameters bound; NULL after rp_fail. */
static inline MYSQL_STMT *prepare_statement(my_operation *operation) {
    MYSQL_STMT *statement = mysql_stmt_init(operation->connection->mysql);
    unsigned long cursor = CURSOR_TYPE_READ_ONLY, *prefetch = &operation->connection->prefetch;
    bool good = statement != NULL;
    if (good && *prefetch > 0 && operation->takes_result)
        good = !mysql_stmt_attr_set(statement, STMT_ATTR_CURSOR_TYPE, &cursor) &&
               !mysql_stmt_attr_set(statement, STMT_ATTR_PREFETCH_ROWS, prefetch);
    good = good && !mysql_stmt_prepare(statement, operation->sql, strlen(operation->sql));
    if (good && mysql_stmt_param_count(statement) != (unsigned long)operation->parameter_count)
        rp_fail(RP_SQL_ERROR, "", "the statement has %lu placeholders, not %d", mysql_stmt_param_count(statement),
                operation->parameter_count);
    else if (good && (operation->parameter_count == 0 || !mysql_stmt_bind_param(statement, operation->parameter_binds)))
        return statement;
    else if (statement != NULL)
        fail_statement(statement);
    if (statement != NULL) mysql_stmt_close(statement);
    return NULL;
}

/* An operation that executes `sql`, whose placeholders are those of `rows` parameter rows; owns `sql`. */
static inline my_operation *operation_of(my_connection *connection, const rp_phase *phase, char *sql, uint64_t rows) {
    my_operation *operation = calloc(1, sizeof *operation);
    operation->connection = connection;
    operation->mode = connection->mode;
    operation->sql = sql;
    operation->rows = rows;
    operation->takes_result = phase->column_count > 0;
    if (operation->mode == RP_LITERAL) return operation;
    if ((uint64_t)phase->parameter_column_count * rows > MOST_PARAMETERS)
        rp_fail(RP_UNSUPPORTED, "", "more placeholders than the %d of the protocol", MOST_PARAMETERS);
    else {
        make_parameters(operation, phase);
        if (operation->mode != RP_PREPARED || (operation->statement = prepare_statement(operation)) != NULL)
            return operation;
    }
    my_release(operation);
    return NULL;
}

/* The result's columns, looked at once: where the phase's columns are and what they are delivered as. */
static inline bool describe(my_operation *operation, const rp_phase *phase, MYSQL_RES *result) {
    if (operation->positions != NULL) return true;
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);
    int count = (int)mysql_num_fields(result), columns = phase->column_count;
    if (!operation->by_name && count != columns)
        return rp_fail(RP_VERIFY, "", "the result has %d columns, not %d", count, columns);
    int *positions = calloc((size_t)columns + 1, sizeof *positions);
    bool good = true;
    for (int i = 0; good && i < columns; i++) {
        rp_column *column = &phase->columns[i];
        int at = positions[i] = position_of(column, i, fields, count, operation->by_name);
        good = at < 0 ? rp_fail(RP_VERIFY, "", "the result has no column %s", column->name)
                      : describe_column(column, &fields[at]);
    }
    if (good) {
        operation->positions = positions;
        operation->result_count = count;
    } else {
        free(positions);
    }
    return good;
}

static inline size_t text_room(const rp_column *column) {
    if (column->length == 0) return USUAL_TEXT_BYTES;
    return column->length < MOST_TEXT_BYTES / 4 ? 4 * (size_t)column->length + 1 : MOST_TEXT_BYTES;
}

/* Buffers for the columns that are wanted; the others (HANDLER) get none. */
static inline void make_results(my_operation *operation, const rp_phase *phase) {
    operation->results = calloc((size_t)operation->result_count + 1, sizeof *operation->results);
    operation->result_binds = calloc((size_t)operation->result_count + 1, sizeof *operation->result_binds);
    for (int i = 0; i < operation->result_count; i++)
        bind_value(&operation->result_binds[i], &operation->results[i], MYSQL_TYPE_STRING);
    for (int i = 0; i < phase->column_count; i++) {
        const rp_column *column = &phase->columns[i];
        my_value *value = &operation->results[operation->positions[i]];
        if (has_text((enum enum_field_types)column->code)) {
            value->room = text_room(column);
            value->text = malloc(value->room);
        }
        bind_value(&operation->result_binds[operation->positions[i]], value, (enum enum_field_types)column->code);
    }
}

static inline bool bind_results(my_operation *operation, const rp_phase *phase, MYSQL_STMT *statement) {
    if (operation->results != NULL && statement == operation->statement) return true; /* bound before */
    if (operation->positions == NULL) {
        MYSQL_RES *described = mysql_stmt_result_metadata(statement);
        if (described == NULL) return rp_fail(RP_VERIFY, "", "the statement has no result");
        bool good = describe(operation, phase, described);
        mysql_free_result(described);
        if (!good) return false;
        make_results(operation, phase);
    }
    return !mysql_stmt_bind_result(statement, operation->result_binds) || fail_statement(statement);
}

/* A value that did not fit its buffer is fetched again into a longer one, which is then used for this row only. */
static inline bool fetch_long(MYSQL_STMT *statement, int position, rp_column *column, my_value *value, rp_sink *sink) {
    my_value whole = {.room = value->length + 1, .text = malloc(value->length + 1)};
    MYSQL_BIND bind;
    if (whole.text == NULL) abort();
    bind_value(&bind, &whole, MYSQL_TYPE_STRING);
    bool good = mysql_stmt_fetch_column(statement, &bind, (unsigned int)position, 0) == 0 || fail_statement(statement);
    if (good) take_value(sink, column, &whole);
    free(whole.text);
    return good;
}

static inline bool take_row(my_operation *operation, const rp_phase *phase, MYSQL_STMT *statement, rp_sink *sink) {
    for (int i = 0; i < phase->column_count; i++) {
        rp_column *column = &phase->columns[i];
        int at = operation->positions[i];
        my_value *value = &operation->results[at];
        if (value->is_null)
            rp_null(sink, column);
        else if (RP_UNLIKELY(value->length > value->room && has_text((enum enum_field_types)column->code))) {
            if (!fetch_long(statement, at, column, value, sink)) return false;
        } else
            take_value(sink, column, value);
    }
    rp_row(sink);
    return true;
}

static inline bool take_rows(my_operation *operation, const rp_phase *phase, MYSQL_STMT *statement, rp_sink *sink) {
    int result;
    while ((result = mysql_stmt_fetch(statement)) == 0 || result == MYSQL_DATA_TRUNCATED)
        if (!take_row(operation, phase, statement, sink)) return false;
    return result == MYSQL_NO_DATA || fail_statement(statement);
}

static inline bool execute_statement(my_operation *operation, const rp_phase *phase, MYSQL_STMT *statement,
                                     rp_sink *sink) {
    if (mysql_stmt_execute(statement) != 0) return fail_statement(statement);
    if (!operation->takes_result) {
        rp_executed(sink);
        return true;
    }
    bool good = bind_results(operation, phase, statement);
    if (good && !operation->connection->streams)
        good = mysql_stmt_store_result(statement) == 0 || fail_statement(statement);
    rp_executed(sink);
    good = good && take_rows(operation, phase, statement, sink);
    mysql_stmt_free_result(statement);
    return good;
}

static inline bool take_text(my_operation *operation, const rp_phase *phase, MYSQL_RES *result, rp_sink *sink) {
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
    return mysql_errno(mysql) == 0 || fail(mysql, RP_SQL_ERROR);
}

static inline bool execute_text(my_operation *operation, const rp_phase *phase, const char *sql, rp_sink *sink) {
    MYSQL *mysql = operation->connection->mysql;
    if (mysql_real_query(mysql, sql, strlen(sql)) != 0) return fail(mysql, RP_SQL_ERROR);
    MYSQL_RES *result = operation->connection->streams ? mysql_use_result(mysql) : mysql_store_result(mysql);
    rp_executed(sink);
    if (result == NULL)
        return mysql_errno(mysql) != 0    ? fail(mysql, RP_SQL_ERROR)
               : !operation->takes_result ? true
                                          : rp_fail(RP_VERIFY, "", "the statement has no result");
    bool good =
        !operation->takes_result || (describe(operation, phase, result) && take_text(operation, phase, result, sink));
    mysql_free_result(result);
    return good;
}

static inline void put_parameters(my_operation *operation, const rp_phase *phase, uint64_t row) {
    const rp_value *value = rp_parameters(phase, row);
    const rp_column *first = phase->parameter_columns, *end = first + phase->parameter_column_count, *column = first;
    for (int i = 0; i < operation->parameter_count; i++) {
        put_value(&operation->parameters[i], &value[i], column);
        if (++column == end) column = first;
    }
}

/* Prepared once, or prepared and closed again here. */
static inline bool execute_bound(my_operation *operation, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    MYSQL_STMT *statement = operation->statement != NULL ? operation->statement : prepare_statement(operation);
    if (statement == NULL) return false;
    put_parameters(operation, phase, row);
    bool good = execute_statement(operation, phase, statement, sink);
    if (statement != operation->statement) mysql_stmt_close(statement);
    return good;
}

#endif
