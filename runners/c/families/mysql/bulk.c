/* The bulk ways: one INSERT of as many rows as the protocol allows, MariaDB's array of parameters, LOAD DATA. */
#include <stdlib.h>

#include "mysql_operation.h"

/* The INSERT of as many of `all` rows as the protocol allows; those that remain are the `rest`. */
static my_operation *multi_row_of(my_connection *connection, const rp_phase *phase, uint64_t all) {
    uint64_t rows = rp_rows_at_once(phase, all, MY_MOST_PARAMETERS);
    char *sql = rp_rows_of_values(phase->sql, rows);
    my_operation *operation = sql != NULL ? my_operation_of(connection, phase, sql, rows) : NULL;
    if (operation == NULL || all % rows == 0) return operation;
    operation->rest = multi_row_of(connection, phase, all % rows);
    if (operation->rest != NULL) return operation;
    my_release(operation);
    return NULL;
}

my_operation *my_bulk_of(my_connection *connection, const rp_phase *phase) {
    if (strcmp(connection->bulk, "load-data") == 0) {
        my_operation *operation = calloc(1, sizeof *operation);
        operation->connection = connection;
        operation->sql = my_load_data_sql(phase);
        return operation;
    }
    if (connection->mode == RP_LITERAL) {
        rp_fail(RP_UNSUPPORTED, "", "bulk=%s binds its values", connection->bulk);
        return NULL;
    }
    return strcmp(connection->bulk, "array") == 0 ? my_operation_of(connection, phase, strdup(phase->sql), 1)
                                                  : multi_row_of(connection, phase, phase->rows_per_operation);
}

static bool insert_rows(my_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count) {
    rp_sink nothing = {0};
    for (uint64_t last = row + count; row < last; row += operation->rows) {
        if (last - row < operation->rows) operation = operation->rest;
        if (!my_execute_bound(operation, phase, row, &nothing)) return false;
    }
    return true;
}

#ifndef EMBEDDED_LIBRARY
/* The next row of an array, asked for by the library. */
typedef struct my_array {
    my_operation *operation;
    const rp_phase *phase;
    uint64_t row;
} my_array;

static my_bool put_array_row(void *user, MYSQL_BIND *binds, unsigned int row) {
    my_array *array = user;
    (void)binds; /* bound to the operation's parameters, which take the row's values */
    my_put_parameters(array->operation, array->phase, array->row + row);
    return 0;
}

static bool insert_array(my_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count) {
    my_array array = {operation, phase, row};
    unsigned int size = (unsigned int)count;
    for (int i = 0; i < operation->parameter_count; i++)
        operation->parameter_binds[i].u.indicator = &operation->parameters[i].is_null; /* STMT_INDICATOR_NULL is 1 */
    my_put_parameters(operation, phase, row);
    MYSQL_STMT *statement = operation->statement != NULL ? operation->statement : my_prepare_statement(operation);
    if (statement == NULL) return false;
    bool good = !mysql_stmt_bind_param(statement, operation->parameter_binds) &&
                !mysql_stmt_attr_set(statement, STMT_ATTR_ARRAY_SIZE, &size) &&
                !mysql_stmt_attr_set(statement, STMT_ATTR_CB_USER_DATA, &array) &&
                !mysql_stmt_attr_set(statement, STMT_ATTR_CB_PARAM, (const void *)put_array_row) &&
                !mysql_stmt_execute(statement);
    if (!good) my_fail_statement(statement);
    if (statement != operation->statement) mysql_stmt_close(statement);
    return good;
}
#else
static bool insert_array(my_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count) {
    (void)operation, (void)phase, (void)row, (void)count;
    return rp_fail(RP_UNSUPPORTED, "", "the embedded library binds no arrays");
}
#endif

static bool store_rows(my_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count) {
    const char *bulk = operation->connection->bulk;
    if (strcmp(bulk, "load-data") == 0) return my_load_data(operation, phase, row, count);
    if (strcmp(bulk, "array") == 0) return insert_array(operation, phase, row, count);
    return insert_rows(operation, phase, row, count);
}

bool my_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count) {
    my_operation *operation = statement;
    my_connection *connection = operation->connection;
    my_attend_thread();
    if (operation->rows == count) return store_rows(operation, phase, row, count);
    if (my_run(connection, "BEGIN") && store_rows(operation, phase, row, count) && my_run(connection, "COMMIT"))
        return true;
    mysql_real_query(connection->mysql, "ROLLBACK", 8);
    return false;
}
