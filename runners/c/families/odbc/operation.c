/* A connection's operations: made ready, executed, stopped, released; and the bulk way. */
#include <stdlib.h>

#include "odbc.h"

#define MOST_ARRAY_ROWS 1000 /* parameter rows of one execution: enough that the execution itself counts no more */

typedef struct odbc_operation {
    odbc_connection *connection;
    SQLHSTMT handle;
    rp_statement_mode mode;
    odbc_parameters parameters;
    odbc_result result;
    void *sql, **texts; /* as the driver takes them; one text for each parameter row */
    uint64_t text_count;
    SQLULEN array_rows, done; /* bulk=array: of one execution; how many of them were done */
} odbc_operation;

void *odbc_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid; /* ODBC does not know it */
    const char *fetch = rp_option(options, "fetch", "row");
    odbc_connection *connection = calloc(1, sizeof *connection);
    connection->mode = rp_option_statement(options);
    connection->block_rows = strncmp(fetch, "block:", 6) == 0 ? strtoul(fetch + 6, NULL, 10) : 1;
    connection->gets_data = strcmp(fetch, "get-data") == 0;
    SQLAllocHandle(SQL_HANDLE_DBC, odbc_environment(), &connection->handle);
    bool connected = odbc_connect(connection, options);
    if (connected && SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, connection->handle, &connection->run)))
        return connection;
    if (connected) odbc_fail(SQL_HANDLE_DBC, connection->handle, RP_CONNECT_ERROR);
    odbc_close(connection);
    return NULL;
}

void odbc_release(void *statement) {
    odbc_operation *operation = statement;
    SQLFreeHandle(SQL_HANDLE_STMT, operation->handle);
    odbc_release_parameters(&operation->parameters);
    odbc_release_result(&operation->result);
    for (uint64_t i = 0; i < operation->text_count; i++)
        free(operation->texts[i]);
    free(operation->texts);
    free(operation->sql);
    free(operation);
}

/* The texts of statement mode `text` as the driver takes them. */
static void convert_texts(odbc_operation *operation, const rp_phase *phase) {
    operation->text_count = phase->parameter_column_count > 0 ? phase->parameter_count : 1;
    operation->texts = calloc(operation->text_count + 1, sizeof *operation->texts);
    for (uint64_t i = 0; i < operation->text_count; i++)
        operation->texts[i] = odbc_sql(phase->texts[i]);
}

static bool prepare_statement(odbc_operation *operation) {
    SQLHSTMT handle = operation->handle;
    SQLRETURN result = odbc_driver_here.wide ? SQLPrepareW(handle, operation->sql, SQL_NTS)
                                             : SQLPrepare(handle, operation->sql, SQL_NTS);
    return SQL_SUCCEEDED(result) || odbc_statement_failed(handle);
}

static bool set_array(odbc_operation *operation, SQLULEN rows) {
    return SQL_SUCCEEDED(SQLSetStmtAttr(operation->handle, SQL_ATTR_PARAMSET_SIZE, (SQLPOINTER)rows, 0)) ||
           odbc_statement_failed(operation->handle);
}

static bool can_deliver(const odbc_operation *operation, const rp_phase *phase) {
    for (int i = 0; odbc_driver_here.no_binary_arrays != NULL && phase->bulk && i < phase->parameter_column_count; i++)
        if (phase->parameter_columns[i].type == RP_BINARY)
            return rp_fail(RP_UNSUPPORTED, "", "%s", odbc_driver_here.no_binary_arrays);
    if (odbc_driver_here.text_since == NULL || operation->mode != RP_LITERAL || phase->column_count == 0) return true;
    char version[64] = "";
    SQLGetInfo(operation->connection->handle, SQL_DRIVER_VER, version, sizeof version, NULL);
    return strcmp(version, odbc_driver_here.text_since) >= 0 ||
           rp_fail(RP_UNSUPPORTED, "", "this driver (%s; not from %s on) prepares what has a result", version,
                   odbc_driver_here.text_since);
}

/* A query has one without columns, too. */
static bool has_result(const rp_phase *phase) {
    return phase->kind == RP_QUERY || phase->column_count > 0;
}

static bool make_ready(odbc_operation *operation, rp_phase *phase) {
    if (!can_deliver(operation, phase)) return false;
    if (phase->bulk) {
        if (operation->mode == RP_LITERAL) return rp_fail(RP_UNSUPPORTED, "", "bulk=array binds its values");
        operation->array_rows =
            phase->rows_per_operation < MOST_ARRAY_ROWS ? phase->rows_per_operation : MOST_ARRAY_ROWS;
        SQLSetStmtAttr(operation->handle, SQL_ATTR_PARAMS_PROCESSED_PTR, &operation->done, 0);
    }
    if (operation->mode == RP_LITERAL) convert_texts(operation, phase);
    if (operation->mode == RP_PREPARED && !prepare_statement(operation)) return false;
    if (operation->mode != RP_LITERAL && !odbc_bind_parameters(&operation->parameters, operation->handle, phase,
                                                               phase->bulk ? operation->array_rows : 1))
        return false;
    return !has_result(phase) || odbc_set_block(&operation->result);
}

void *odbc_prepare(void *opened, rp_phase *phase) {
    odbc_connection *connection = opened;
    odbc_operation *operation = calloc(1, sizeof *operation);
    operation->connection = connection;
    /* A CREATE TABLE, executed once, is not worth a prepared statement: psqlodbc would take three round trips to it. */
    bool kept = phase->kind != RP_CONNECT && (phase->column_count > 0 || phase->parameter_column_count > 0);
    operation->mode = connection->mode == RP_PREPARED && !kept ? RP_BOUND : connection->mode;
    operation->sql = odbc_sql(phase->sql);
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, connection->handle, &operation->handle))) {
        odbc_fail(SQL_HANDLE_DBC, connection->handle, RP_SQL_ERROR);
        free(operation->sql);
        free(operation);
        return NULL;
    }
    operation->result = (odbc_result){
        .handle = operation->handle, .block_rows = connection->block_rows, .gets_data = connection->gets_data};
    if (make_ready(operation, phase)) return operation;
    odbc_release(operation);
    return NULL;
}

static SQLRETURN execute(odbc_operation *operation, uint64_t row) {
    if (operation->mode == RP_PREPARED) return SQLExecute(operation->handle);
    return odbc_execute_direct(operation->handle,
                               operation->mode == RP_LITERAL ? operation->texts[row] : operation->sql);
}

bool odbc_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    odbc_operation *operation = statement;
    if (operation->parameters.count > 0) odbc_put_row(&operation->parameters, 0, rp_parameters(phase, row));
    SQLRETURN result = execute(operation, row);
    rp_executed(sink);
    bool good = SQL_SUCCEEDED(result) || result == SQL_NO_DATA || odbc_statement_failed(operation->handle);
    if (!has_result(phase)) return good;
    good = good && odbc_take_rows(&operation->result, phase, sink);
    SQLFreeStmt(operation->handle, SQL_CLOSE);
    return good;
}

static bool insert_array(odbc_operation *operation, const rp_phase *phase, uint64_t row, SQLULEN rows) {
    for (SQLULEN i = 0; i < rows; i++)
        odbc_put_row(&operation->parameters, i, rp_parameters(phase, row + i));
    operation->done = 0;
    if (!set_array(operation, rows)) return false;
    if (!SQL_SUCCEEDED(execute(operation, row))) return odbc_statement_failed(operation->handle);
    return operation->done == rows || rp_fail(RP_SQL_ERROR, "", "%llu of %llu rows were stored",
                                              (unsigned long long)operation->done, (unsigned long long)rows);
}

bool odbc_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count) {
    odbc_operation *operation = statement;
    bool good = odbc_run(operation->connection, "BEGIN");
    for (uint64_t last = row + count, rows; good && row < last; row += rows) {
        rows = last - row < operation->array_rows ? last - row : operation->array_rows;
        good = insert_array(operation, phase, row, rows);
    }
    if (good) return odbc_run(operation->connection, "COMMIT");
    SQLEndTran(SQL_HANDLE_DBC, operation->connection->handle, SQL_ROLLBACK);
    odbc_set_autocommit(operation->connection, true);
    return false;
}

void *odbc_canceller(void *opened) {
    return opened;
}

bool odbc_cancel(void *canceller) {
    odbc_connection *connection = canceller;
    return SQL_SUCCEEDED(SQLCancel(connection->run)) || odbc_statement_failed(connection->run);
}

bool odbc_set_timeout(void *opened, int64_t ms) {
    SQLHSTMT handle = ((odbc_connection *)opened)->run;
    SQLULEN seconds = (SQLULEN)(ms + 999) / 1000, kept = 0;
    SQLRETURN set = SQLSetStmtAttr(handle, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)seconds, 0);
    if (set == SQL_ERROR) return odbc_statement_failed(handle);
    SQLGetStmtAttr(handle, SQL_ATTR_QUERY_TIMEOUT, &kept, 0, NULL);
    return kept == seconds ||
           rp_fail(RP_UNSUPPORTED, "", "the driver has no statement timeout: of %llu s it keeps %llu",
                   (unsigned long long)seconds, (unsigned long long)kept);
}
