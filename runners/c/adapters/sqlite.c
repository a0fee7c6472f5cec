/* SQLite through its C API, the database in this process. DECIMAL, DATE, TIME and TIMESTAMP live in TEXT columns
   (NUMERIC affinity would make them floating point) and are converted inside the clock. Each client has a connection
   of its own. The bulk way is one INSERT with as many rows of placeholders as the library allows. */
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#else
#include "sqlite3_declarations.h"
#endif

#include "rowpath.h"

/* One client writes at a time; the others ask again, at most every 100 ms, and whoever is unlucky asks often. */
#define MOST_WAIT_MS 60000

typedef struct sqlite_connection {
    sqlite3 *database;
    rp_statement_mode mode;
} sqlite_connection;

typedef struct sqlite_operation {
    sqlite3 *database;
    sqlite3_stmt *prepared; /* NULL: prepared anew in each operation */
    struct sqlite_rows *rows;
} sqlite_operation;

/* bulk=multi-row: the INSERT of `most` rows, and that of the rows which remain. */
typedef struct sqlite_rows {
    uint64_t most;
    char *sql, *rest_sql;
    sqlite3_stmt *prepared, *prepared_rest; /* NULL: prepared anew in each operation */
} sqlite_rows;

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
    if (rp_option_integer(options, "clients", 1) > 1 && !sqlite3_threadsafe()) {
        rp_fail(RP_UNSUPPORTED, "", "this SQLite was compiled for one thread (SQLITE_THREADSAFE=0)");
        free(connection);
        return NULL;
    }
    /* One thread at a time uses the connection, so it needs no mutex; a missing file is an error, not a new database.
     */
    int mode = rp_option_is(options, "read_only", "yes") ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int flags = mode | SQLITE_OPEN_NOMUTEX;
    const char *settings = rp_option_is(options, "durability", "none")
                               ? "PRAGMA synchronous=OFF"
                               : "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL";
    if (sqlite3_open_v2(rp_option(options, "path", ""), &connection->database, flags, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(connection->database, MOST_WAIT_MS) == SQLITE_OK && sqlite_run(connection, settings))
        return connection;
    fail(connection->database, RP_CONNECT_ERROR);
    sqlite_close(connection);
    return NULL;
}

static void release_rows(sqlite_rows *rows) {
    if (rows == NULL) return;
    sqlite3_finalize(rows->prepared);
    sqlite3_finalize(rows->prepared_rest);
    free(rows->sql);
    free(rows->rest_sql);
    free(rows);
}

static void sqlite_release(void *statement) {
    sqlite_operation *operation = statement;
    sqlite3_finalize(operation->prepared);
    release_rows(operation->rows);
    free(operation);
}

static bool keep_prepared(sqlite3 *database, const char *sql, sqlite3_stmt **prepared) {
    return sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, prepared, NULL) == SQLITE_OK ||
           fail(database, RP_SQL_ERROR);
}

static bool prepare_rows(sqlite_operation *operation, const sqlite_connection *connection, const rp_phase *phase) {
    if (connection->mode == RP_LITERAL) return rp_fail(RP_UNSUPPORTED, "", "bulk=multi-row binds its values");
    uint64_t all = phase->rows_per_operation, width = (uint64_t)phase->parameter_column_count;
    uint64_t limit = (uint64_t)sqlite3_limit(connection->database, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    if (width == 0 || width > limit)
        return rp_fail(RP_UNSUPPORTED, "", "%llu placeholders in a row", (unsigned long long)width);
    sqlite_rows *rows = operation->rows = calloc(1, sizeof *rows);
    rows->most = all < limit / width ? all : limit / width;
    rows->sql = rp_rows_of_values(phase->sql, rows->most);
    rows->rest_sql = rp_rows_of_values(phase->sql, all % rows->most);
    if (rows->sql == NULL || rows->rest_sql == NULL) return false;
    if (connection->mode != RP_PREPARED) return true;
    return keep_prepared(connection->database, rows->sql, &rows->prepared) &&
           (all % rows->most == 0 || keep_prepared(connection->database, rows->rest_sql, &rows->prepared_rest));
}

static void *sqlite_prepare(void *opened, rp_phase *phase) {
    sqlite_connection *connection = opened;
    sqlite_operation *operation = calloc(1, sizeof *operation);
    operation->database = connection->database;
    /* A CREATE TABLE is compiled against the schema of its moment: what has no parameters and no result is not kept. */
    bool kept = phase->kind == RP_QUERY || (phase->kind != RP_CONNECT && phase->parameter_column_count > 0);
    bool good = true;
    if (phase->bulk)
        good = prepare_rows(operation, connection, phase);
    else if (connection->mode == RP_PREPARED && kept)
        good = keep_prepared(connection->database, phase->sql, &operation->prepared);
    if (good) return operation;
    sqlite_release(operation);
    return NULL;
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
        if (sink->digest && type != SQLITE_FLOAT && type != SQLITE_INTEGER)
            rp_misfit(sink, column, "not a floating-point number");
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

/* Executes one INSERT of `count` rows, prepared or given as text. */
static bool insert_rows(sqlite3 *database, sqlite3_stmt *prepared, const char *sql, const rp_value *values,
                        uint64_t count) {
    sqlite3_stmt *statement = prepared;
    int result = prepared != NULL ? SQLITE_OK : sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    for (uint64_t i = 0; i < count && result == SQLITE_OK; i++)
        result = bind(statement, (int)i + 1, &values[i]);
    if (result == SQLITE_OK) result = sqlite3_step(statement);
    bool good = result == SQLITE_DONE || fail(database, RP_SQL_ERROR);
    if (prepared != NULL)
        sqlite3_reset(prepared);
    else
        sqlite3_finalize(statement);
    return good;
}

static bool sqlite_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count) {
    sqlite_operation *operation = statement;
    const sqlite_rows *rows = operation->rows;
    sqlite3 *database = operation->database;
    uint64_t width = (uint64_t)phase->parameter_column_count;
    if (sqlite3_exec(database, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) return fail(database, RP_SQL_ERROR);
    bool good = true;
    for (uint64_t last = row + count, most; good && row < last; row += most) {
        bool rest = last - row < rows->most;
        most = rest ? last - row : rows->most;
        good = insert_rows(database, rest ? rows->prepared_rest : rows->prepared, rest ? rows->rest_sql : rows->sql,
                           rp_parameters(phase, row), most * width);
    }
    if (good && sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) good = fail(database, RP_SQL_ERROR);
    if (!good) sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return good;
}

static void *sqlite_canceller(void *opened) {
    return opened;
}

static bool sqlite_cancel(void *canceller) {
    sqlite_connection *connection = canceller;
    sqlite3_interrupt(connection->database);
    return true;
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
    rp_setting(facts, "threadsafe", (char[]){(char)('0' + sqlite3_threadsafe()), '\0'});
    sqlite3_exec(connection->database,
                 "PRAGMA journal_mode; PRAGMA synchronous; PRAGMA cache_size; PRAGMA page_size; PRAGMA mmap_size;"
                 "PRAGMA encoding; PRAGMA locking_mode; PRAGMA busy_timeout; PRAGMA wal_autocheckpoint",
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
    .bulk = sqlite_bulk,
    .canceller = sqlite_canceller,
    .cancel = sqlite_cancel,
    .no_timeout = "SQLite has no statement timeout (a program can build one with sqlite3_progress_handler)",
};
