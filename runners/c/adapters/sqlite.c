/* SQLite through its C API, the database in this process. DECIMAL, DATE, TIME and TIMESTAMP live in TEXT columns
   (NUMERIC affinity would make them floating point) and are converted inside the clock. Each client has a connection
   of its own. The bulk way is one INSERT with as many rows of placeholders as the library allows. */
#include <stdlib.h>
#include <string.h>

#include "sqlite.h"
#include "text_reader.h"

/* One client writes at a time; the others ask again, at most every 100 ms, and whoever is unlucky asks often. */
#define MOST_WAIT_MS 60000

typedef struct sqlite_connection {
    sqlite3 *database;
    rp_statement_mode mode;
} sqlite_connection;

typedef struct sqlite_operation {
    sqlite3 *database;
    sqlite3_stmt *prepared; /* NULL: prepared again in each operation */
    sqlite_rows *rows;      /* of the bulk way; NULL: another phase */
} sqlite_operation;

static bool sqlite_run(void *opened, const char *sql) {
    sqlite_connection *connection = opened;
    int result = sqlite3_exec(connection->database, sql, NULL, NULL, NULL);
    return result == SQLITE_OK || sqlite_fail(connection->database, RP_SQL_ERROR);
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
        sqlite3_busy_timeout(connection->database, MOST_WAIT_MS) == SQLITE_OK && sqlite_run(connection, settings) &&
        (!rp_option_is(options, "locking", "exclusive") || sqlite_run(connection, "PRAGMA locking_mode=EXCLUSIVE")))
        return connection;
    sqlite_fail(connection->database, RP_CONNECT_ERROR);
    sqlite_close(connection);
    return NULL;
}

static void sqlite_release(void *statement) {
    sqlite_operation *operation = statement;
    sqlite3_finalize(operation->prepared);
    if (operation->rows != NULL) sqlite_release_rows(operation->rows);
    free(operation);
}

static void *sqlite_prepare(void *opened, rp_phase *phase) {
    sqlite_connection *connection = opened;
    sqlite_operation *operation = calloc(1, sizeof *operation);
    operation->database = connection->database;
    /* A CREATE TABLE is compiled against the schema of its moment: what has no parameters and no result is not kept. */
    bool kept = phase->kind == RP_QUERY || (phase->kind != RP_CONNECT && phase->parameter_column_count > 0);
    bool good = true;
    if (phase->bulk)
        good = (operation->rows = sqlite_rows_of(connection->database, connection->mode, phase)) != NULL;
    else if (connection->mode == RP_PREPARED && kept)
        good = sqlite_keep_prepared(connection->database, phase->sql, &operation->prepared);
    if (good) return operation;
    sqlite_release(operation);
    return NULL;
}

/* The digest takes each value as what it was stored as. */
static void digest_stored(sqlite3_stmt *statement, int i, rp_column *column, rp_sink *sink) {
    int type = sqlite3_column_type(statement, i);
    const void *bytes = NULL;
    if (type == SQLITE_TEXT) bytes = sqlite3_column_text(statement, i);
    if (type == SQLITE_BLOB) bytes = sqlite3_column_blob(statement, i);
    size_t length = bytes != NULL ? (size_t)sqlite3_column_bytes(statement, i) : 0;
    if (type == SQLITE_NULL)
        rp_digest_null(sink, column);
    else if (column->type == RP_OPAQUE)
        rp_digest_opaque(sink, column);
    else if (type == SQLITE_INTEGER)
        rp_digest_integer(sink, column, sqlite3_column_int64(statement, i));
    else if (type == SQLITE_FLOAT)
        rp_digest_float(sink, column, sqlite3_column_double(statement, i));
    else if (type == SQLITE_BLOB || column->type == RP_BINARY)
        rp_digest_binary(sink, column, bytes, length);
    else
        rp_digest_text(sink, column, (const char *)bytes, length);
}

static void take_rare(sqlite3_stmt *statement, int i, rp_column *column, rp_sink *sink) {
    switch (column->type) {
    case RP_FLOAT32:
    case RP_FLOAT64: rp_float(sink, column, sqlite3_column_double(statement, i)); return;
    case RP_BINARY: {
        const void *bytes = sqlite3_column_blob(statement, i);
        rp_binary(sink, column, bytes, (size_t)sqlite3_column_bytes(statement, i));
        return;
    }
    case RP_ANY:
    case RP_OPAQUE: {
        int type = sqlite3_column_type(statement, i);
        if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
            double number = sqlite3_column_double(statement, i);
            rp_opaque(sink, column, &number, sizeof number);
        } else {
            const void *bytes = sqlite3_column_blob(statement, i);
            rp_opaque(sink, column, bytes, (size_t)sqlite3_column_bytes(statement, i));
        }
        return;
    }
    default: { /* what is read to its end needs no length: a program does without that call */
        const char *text = (const char *)sqlite3_column_text(statement, i);
        rp_convert(sink, column, text, text == NULL ? 0 : strlen(text));
    }
    }
}

static inline void take_timestamp(sqlite3_stmt *statement, int i, rp_column *column, rp_sink *sink) {
    const char *text = (const char *)sqlite3_column_text(statement, i);
    size_t length = text == NULL ? 0 : strlen(text); /* as above */
    if (!rp_usual_timestamp(sink, column, text, length)) rp_convert(sink, column, text, length);
}

static inline __attribute__((always_inline)) void take(sqlite3_stmt *statement, int i, rp_column *column,
                                                       rp_sink *sink) {
    /* Only where NULL can be a program asks for the value's type. */
    if (column->nullable && sqlite3_column_type(statement, i) == SQLITE_NULL) {
        rp_null(sink, column);
        return;
    }
    if (rp_is_text(column->type)) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        rp_text(sink, column, text, (size_t)sqlite3_column_bytes(statement, i));
    } else if (column->type == RP_INTEGER || column->type == RP_BOOLEAN) {
        rp_integer(sink, column, sqlite3_column_int64(statement, i));
    } else if (column->type == RP_TIMESTAMP) {
        take_timestamp(statement, i, column, sink);
    } else {
        take_rare(statement, i, column, sink);
    }
}

/* The touch sum is that of the clock, whatever was stored. */
static void take_digested_row(sqlite3_stmt *statement, const rp_phase *phase, rp_sink *sink) {
    rp_sink timed = {0};
    for (int i = 0; i < phase->column_count; i++) {
        digest_stored(statement, i, &phase->columns[i], sink);
        take(statement, i, &phase->columns[i], &timed);
    }
    sink->touch += timed.touch;
}

/* A program names each column of its query, so the processor foresees what comes. In a loop over columns of any type it
   guesses wrong: that took 5 % of a scan. So the first eight stand in a row, each with branches of its own. */
static void take_row(sqlite3_stmt *statement, const rp_phase *phase, rp_sink *sink) {
    rp_column *const columns = phase->columns;
    const int count = phase->column_count;
#define TAKE(i)                                                                                                        \
    if (count > (i)) take(statement, (i), &columns[i], sink)
    TAKE(0);
    TAKE(1);
    TAKE(2);
    TAKE(3);
    TAKE(4);
    TAKE(5);
    TAKE(6);
    TAKE(7);
#undef TAKE
    for (int i = 8; i < count; i++)
        take(statement, i, &columns[i], sink);
}

static bool sqlite_execute(void *operated, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    sqlite_operation *operation = operated;
    sqlite3_stmt *statement = operation->prepared;
    const char *sql = phase->texts != NULL ? phase->texts[row] : phase->sql;
    if (statement == NULL && sqlite3_prepare_v2(operation->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return sqlite_fail(operation->database, RP_SQL_ERROR);
    int result = SQLITE_OK;
    const rp_value *parameters = rp_parameters(phase, row);
    for (int i = 0; phase->texts == NULL && i < phase->parameter_column_count && result == SQLITE_OK; i++)
        result = sqlite_bind(statement, i + 1, &parameters[i]);
    if (result == SQLITE_OK) result = sqlite3_step(statement);
    rp_executed(sink);
    if (result == SQLITE_ROW && sqlite3_column_count(statement) != phase->column_count)
        rp_misfit(sink, NULL, "the result has another number of columns");
    for (; result == SQLITE_ROW; result = sqlite3_step(statement)) {
        if (RP_UNLIKELY(sink->digest != NULL))
            take_digested_row(statement, phase, sink);
        else
            take_row(statement, phase, sink);
        rp_row(sink);
    }
    bool good = result == SQLITE_DONE || sqlite_fail(operation->database, RP_SQL_ERROR);
    if (statement == operation->prepared)
        sqlite3_reset(statement);
    else
        sqlite3_finalize(statement);
    return good;
}

static bool sqlite_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count) {
    const sqlite_operation *operation = statement;
    return sqlite_insert_rows(operation->database, operation->rows, phase, row, count);
}

static void *sqlite_canceller(void *opened) {
    return opened;
}

static bool sqlite_cancel(void *canceller) {
    sqlite_connection *connection = canceller;
    sqlite3_interrupt(connection->database);
    return true;
}

static int setting_from_row(void *facts, int count, char **values, char **names) {
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
                 setting_from_row, facts, NULL);
}

const rp_adapter rp_adapter_here = {
    .driver = "sqlite",
    .binary_literal = {"X'", "'"},
    .decimals_are_texts = true,
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
