/* SQLite through its C API, the database in this process. DECIMAL, DATE, TIME and TIMESTAMP live in TEXT columns
   (NUMERIC affinity would make them floating point) and are converted inside the clock. */
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#else
#include "sqlite3_declarations.h"
#endif

#include "rowpath.h"

typedef struct sqlite_connection {
    sqlite3 *database;
    rp_statement_mode mode;
} sqlite_connection;

typedef struct sqlite_operation {
    sqlite3 *database;
    sqlite3_stmt *prepared; /* NULL: prepared anew in each operation */
} sqlite_operation;

static bool fail(sqlite3 *database, rp_error_kind kind) {
    char code[16];
    snprintf(code, sizeof code, "%d", sqlite3_extended_errcode(database));
    return rp_fail(kind, code, "%s", sqlite3_errmsg(database));
}

static bool sqlite_run(void *opened, const char *sql) {
    sqlite_connection *connection = opened;
    int result = sqlite3_exec(connection->database, sql, NULL, NULL, NULL);
    return result == SQLITE_OK || fail(connection->database, RP_SQL_ERROR);
}

static void sqlite_close(void *opened) {
    sqlite_connection *connection = opened;
    sqlite3_close(connection->database);
    free(connection);
}

static void *sqlite_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    sqlite_connection *connection = calloc(1, sizeof *connection);
    connection->mode = rp_option_statement(options);
    /* One thread uses the connection, so it needs no mutex; a missing file is an error, not a new database. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    const char *settings = rp_option_is(options, "durability", "none")
                               ? "PRAGMA synchronous=OFF"
                               : "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL";
    if (sqlite3_open_v2(rp_option(options, "path", ""), &connection->database, flags, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(connection->database, 5000) == SQLITE_OK && sqlite_run(connection, settings))
        return connection;
    fail(connection->database, RP_CONNECT_ERROR);
    sqlite_close(connection);
    return NULL;
}

static void *sqlite_prepare(void *opened, rp_phase *phase) {
    sqlite_connection *connection = opened;
    sqlite_operation *operation = calloc(1, sizeof *operation);
    operation->database = connection->database;
    /* A CREATE TABLE is compiled against the schema of its moment: what has no parameters and no result is not kept. */
    bool kept = phase->kind == RP_QUERY || (phase->kind == RP_EXECUTE && phase->parameter_column_count > 0);
    if (connection->mode != RP_PREPARED || !kept) return operation;
    if (sqlite3_prepare_v3(connection->database, phase->sql, -1, SQLITE_PREPARE_PERSISTENT, &operation->prepared,
                           NULL) == SQLITE_OK)
        return operation;
    fail(connection->database, RP_SQL_ERROR);
    free(operation);
    return NULL;
}

static void sqlite_release(void *statement) {
    sqlite_operation *operation = statement;
    sqlite3_finalize(operation->prepared);
    free(operation);
}

static int bind(sqlite3_stmt *statement, int position, const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length;
    switch (value->type) {
    case RP_NULL: return sqlite3_bind_null(statement, position);
    case RP_INTEGER:
    case RP_BOOLEAN: return sqlite3_bind_int64(statement, position, value->integer);
    case RP_FLOAT32:
    case RP_FLOAT64: return sqlite3_bind_double(statement, position, value->real);
    case RP_BINARY: return sqlite3_bind_blob(statement, position, value->text, (int)value->length, SQLITE_STATIC);
    default: break;
    }
    const char *text = rp_value_text(value, scratch, &length);
    return sqlite3_bind_text(statement, position, text, (int)length,
                             text == scratch ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

static void take(sqlite3_stmt *statement, int i, rp_column *column, rp_sink *sink) {
    /* Only where NULL can be (and for the digest, which checks everything) a program asks for the value's type. */
    int type = column->nullable || sink->digest ? sqlite3_column_type(statement, i) : 0;
    if (type == SQLITE_NULL) {
        rp_null(sink, column);
        return;
    }
    switch (column->type) {
    case RP_INTEGER:
    case RP_BOOLEAN:
        if (sink->digest && type != SQLITE_INTEGER) rp_misfit(sink, column, "not an integer");
        rp_integer(sink, column, sqlite3_column_int64(statement, i));
        return;
    case RP_FLOAT32:
    case RP_FLOAT64:
        if (sink->digest && type != SQLITE_FLOAT) rp_misfit(sink, column, "not a floating-point number");
        rp_float(sink, column, sqlite3_column_double(statement, i));
        return;
    case RP_BINARY: {
        if (sink->digest && type != SQLITE_BLOB) rp_misfit(sink, column, "not a blob");
        const void *bytes = sqlite3_column_blob(statement, i);
        rp_binary(sink, column, bytes, (size_t)sqlite3_column_bytes(statement, i));
        return;
    }
    default: break;
    }
    if (sink->digest && type != SQLITE_TEXT && column->type != RP_DECIMAL) rp_misfit(sink, column, "not text");
    const char *text = (const char *)sqlite3_column_text(statement, i);
    rp_text_as(sink, column, text, (size_t)sqlite3_column_bytes(statement, i));
}

static bool sqlite_execute(void *operated, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    sqlite_operation *operation = operated;
    sqlite3_stmt *statement = operation->prepared;
    const char *sql = phase->texts != NULL ? phase->texts[row] : phase->sql;
    if (statement == NULL && sqlite3_prepare_v2(operation->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail(operation->database, RP_SQL_ERROR);
    int result = SQLITE_OK;
    const rp_value *parameters = rp_parameters(phase, row);
    for (int i = 0; phase->texts == NULL && i < phase->parameter_column_count && result == SQLITE_OK; i++)
        result = bind(statement, i + 1, &parameters[i]);
    if (result == SQLITE_OK) result = sqlite3_step(statement);
    rp_executed(sink);
    if (result == SQLITE_ROW && sqlite3_column_count(statement) != phase->column_count)
        rp_misfit(sink, NULL, "the result has another number of columns");
    for (; result == SQLITE_ROW; result = sqlite3_step(statement)) {
        for (int i = 0; i < phase->column_count; i++)
            take(statement, i, &phase->columns[i], sink);
        rp_row(sink);
    }
    bool good = result == SQLITE_DONE || fail(operation->database, RP_SQL_ERROR);
    if (statement == operation->prepared)
        sqlite3_reset(statement);
    else
        sqlite3_finalize(statement);
    return good;
}

static int note_setting(void *facts, int count, char **values, char **names) {
    for (int i = 0; i < count; i++)
        rp_setting(facts, names[i], values[i]);
    return 0;
}

static void sqlite_facts(void *opened, rp_facts *facts) {
    sqlite_connection *connection = opened;
    rp_driver_version(facts, sqlite3_libversion());
    rp_engine_version(facts, sqlite3_libversion());
    rp_build(facts, sqlite3_sourceid());
    rp_setting(facts, "autocommit", sqlite3_get_autocommit(connection->database) ? "on" : "off");
    sqlite3_exec(connection->database,
                 "PRAGMA journal_mode; PRAGMA synchronous; PRAGMA cache_size; PRAGMA page_size; PRAGMA mmap_size;"
                 "PRAGMA encoding; PRAGMA locking_mode; PRAGMA wal_autocheckpoint",
                 note_setting, facts, NULL);
}

const rp_adapter rp_adapter_here = {
    .driver = "sqlite",
    .binary_literal = {"X'", "'"},
    .open = sqlite_open,
    .close = sqlite_close,
    .prepare = sqlite_prepare,
    .execute = sqlite_execute,
    .release = sqlite_release,
    .run = sqlite_run,
    .facts = sqlite_facts,
};
