/* An operation: a statement that is prepared once (or again each time), or SQL texts; made, executed, released. */
#include <stdio.h>
#include <stdlib.h>

#include "mysql_operation.h"

static void free_values(my_value *values, int count) {
    for (int i = 0; values != NULL && i < count; i++)
        free(values[i].text);
    free(values);
}

static void close_handler(my_operation *operation) {
    char sql[64];
    snprintf(sql, sizeof sql, "HANDLER %s CLOSE", operation->handler);
    my_run(operation->connection, sql);
    free(operation->handler);
}

void my_release(void *statement) {
    my_operation *operation = statement;
    my_attend_thread();
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

MYSQL_STMT *my_prepare_statement(my_operation *operation) {
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
        my_fail_statement(statement);
    if (statement != NULL) mysql_stmt_close(statement);
    return NULL;
}

my_operation *my_operation_of(my_connection *connection, const rp_phase *phase, char *sql, uint64_t rows) {
    my_operation *operation = calloc(1, sizeof *operation);
    operation->connection = connection;
    operation->mode = connection->mode;
    operation->sql = sql;
    operation->rows = rows;
    operation->takes_result = phase->column_count > 0;
    if (operation->mode == RP_LITERAL) return operation;
    if ((uint64_t)phase->parameter_column_count * rows > MY_MOST_PARAMETERS)
        rp_fail(RP_UNSUPPORTED, "", "more placeholders than the %d of the protocol", MY_MOST_PARAMETERS);
    else {
        my_make_parameters(operation, phase);
        if (operation->mode != RP_PREPARED || (operation->statement = my_prepare_statement(operation)) != NULL)
            return operation;
    }
    my_release(operation);
    return NULL;
}

bool my_describe(my_operation *operation, const rp_phase *phase, MYSQL_RES *result) {
    if (operation->positions != NULL) return true;
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);
    int count = (int)mysql_num_fields(result), columns = phase->column_count;
    if (!operation->by_name && count != columns)
        return rp_fail(RP_VERIFY, "", "the result has %d columns, not %d", count, columns);
    int *positions = calloc((size_t)columns + 1, sizeof *positions);
    bool good = true;
    for (int i = 0; good && i < columns; i++) {
        rp_column *column = &phase->columns[i];
        int at = positions[i] = my_position_of(column, i, fields, count, operation->by_name);
        good = at >= 0 || rp_fail(RP_VERIFY, "", "the result has no column %s", column->name);
        if (good) my_describe_column(column, &fields[at]);
    }
    if (good) {
        operation->positions = positions;
        operation->result_count = count;
    } else {
        free(positions);
    }
    return good;
}

void *my_prepare(void *opened, rp_phase *phase) {
    my_connection *connection = opened;
    my_attend_thread();
    if (phase->bulk) return my_bulk_of(connection, phase);
    if (connection->handler && phase->kind == RP_QUERY) return my_handler_of(connection, phase);
    return my_operation_of(connection, phase, strdup(phase->sql), 1);
}

bool my_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    my_operation *operation = statement;
    my_attend_thread();
    if (operation->handler != NULL) return my_execute_handler(operation, phase, row, sink);
    if (operation->mode == RP_LITERAL) return my_execute_text(operation, phase, phase->texts[row], sink);
    return my_execute_bound(operation, phase, row, sink);
}

void my_facts(void *opened, rp_facts *facts) {
    MYSQL *mysql = ((my_connection *)opened)->mysql;
    my_attend_thread();
    rp_driver_version(facts, mysql_get_client_info());
    rp_library(facts, rp_adapter_here.driver, mysql_get_client_info());
    rp_engine_version(facts, mysql_get_server_info(mysql));
    char *build = my_first_value(
        mysql, "SELECT CONCAT(@@version_comment, ', ', @@version_compile_os, ', ', @@version_compile_machine)");
    rp_build(facts, build);
    free(build);
    my_facts_from_query(mysql,
                        "SHOW SESSION VARIABLES WHERE Variable_name IN ('autocommit', 'tx_isolation', "
                        "'transaction_isolation', 'character_set_client', 'character_set_results', "
                        "'collation_connection', 'time_zone', 'default_storage_engine', 'sql_mode', "
                        "'innodb_flush_log_at_trx_commit', 'innodb_buffer_pool_size', 'innodb_flush_method', "
                        "'sync_binlog', 'log_bin', 'query_cache_type', 'key_buffer_size', 'max_allowed_packet', "
                        "'net_buffer_length', 'max_statement_time', 'max_execution_time', 'skip_name_resolve', "
                        "'performance_schema')",
                        facts);
}
