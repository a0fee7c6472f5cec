/* Flight SQL through ADBC's driver, a library written in Go; what a server sends arrives as Arrow's batches. fetch=row
   takes them row by row, fetch=columnar column by column. */
#include <stdio.h>
#include <stdlib.h>

#include "adbc.h"

#ifndef ADBC_DRIVER_VERSION /* the build names it */
#define ADBC_DRIVER_VERSION "unknown"
#endif

typedef struct adbc_connection {
    struct AdbcDatabase database;
    struct AdbcConnection connection;
    bool columnar;
} adbc_connection;

/* `status` is what a call returned; always false. */
static bool fail(uint8_t status, struct AdbcError *error, rp_error_kind kind) {
    char code[8];
    snprintf(code, sizeof code, "%d", status);
    rp_fail(kind, code, "%s", error->message != NULL ? error->message : "the driver says nothing");
    if (error->release != NULL) error->release(error);
    return false;
}

static void adbc_close(void *opened) {
    adbc_connection *connection = opened;
    struct AdbcError error = {0};
    if (connection->connection.private_data != NULL) AdbcConnectionRelease(&connection->connection, &error);
    if (connection->database.private_data != NULL) AdbcDatabaseRelease(&connection->database, &error);
    if (error.release != NULL) error.release(&error);
    free(connection);
}

static void *adbc_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    adbc_connection *made = calloc(1, sizeof *made);
    struct AdbcError error = {0};
    char address[300];
    snprintf(address, sizeof address, "grpc+tcp://%s:%s", rp_option(options, "host", "127.0.0.1"),
             rp_option(options, "port", ""));
    made->columnar = rp_option_is(options, "fetch", "columnar");
    const char *set[][2] = {{"uri", address},
                            {"username", rp_option(options, "user", "")},
                            {"password", rp_option(options, "password", "")}};
    uint8_t status = AdbcDatabaseNew(&made->database, &error);
    for (size_t i = 0; i < sizeof set / sizeof *set && status == ADBC_STATUS_OK; i++)
        status = AdbcDatabaseSetOption(&made->database, set[i][0], set[i][1], &error);
    if (status == ADBC_STATUS_OK) status = AdbcDatabaseInit(&made->database, &error);
    if (status == ADBC_STATUS_OK) status = AdbcConnectionNew(&made->connection, &error);
    if (status == ADBC_STATUS_OK) status = AdbcConnectionInit(&made->connection, &made->database, &error);
    if (status == ADBC_STATUS_OK) return made;
    fail(status, &error, RP_CONNECT_ERROR);
    adbc_close(made);
    return NULL;
}

static void *adbc_prepare(void *opened, rp_phase *phase) {
    (void)phase;
    return opened;
}

static void adbc_release(void *statement) {
    (void)statement;
}

/* The digest takes rows, so columns stand only inside the clock. */
static bool take_batch(const struct ArrowArray *batch, const struct ArrowSchema *schema, const rp_phase *phase,
                       bool columnar, rp_sink *sink) {
    bool by_column = columnar && sink->digest == NULL;
    const int64_t step = by_column ? batch->length : 1;
    for (int64_t row = 0; row < batch->length; row += step) {
        for (int i = 0; i < phase->column_count; i++)
            if (!adbc_take(batch->children[i], schema->children[i]->format, batch->offset + row, step,
                           &phase->columns[i], sink))
                return false;
        for (int64_t taken = 0; taken < step; taken++)
            rp_row(sink);
    }
    return true;
}

static bool stream_failed(struct ArrowArrayStream *stream) {
    const char *why = stream->get_last_error(stream);
    return rp_fail(RP_SQL_ERROR, "", "%s", why != NULL ? why : "the stream ended early");
}

static bool take_stream(struct ArrowArrayStream *stream, const rp_phase *phase, bool columnar, rp_sink *sink) {
    struct ArrowSchema schema = {0};
    if (stream->get_schema(stream, &schema) != 0) return stream_failed(stream);
    bool good = schema.n_children == phase->column_count;
    if (!good) rp_misfit(sink, NULL, "the result has another number of columns");
    for (int i = 0; i < phase->column_count && good && sink->digest != NULL; i++) {
        const char *format = schema.children[i]->format;
        const char *named = *format == 'l' ? "int64" : *format == 'g' ? "double" : *format == 'u' ? "utf8" : "binary";
        if (phase->columns[i].delivered == NULL) rp_deliver(&phase->columns[i], named);
    }
    bool fits = good;
    for (struct ArrowArray batch; good; batch.release(&batch)) {
        batch = (struct ArrowArray){0};
        if (stream->get_next(stream, &batch) != 0) good = stream_failed(stream);
        if (!good || batch.release == NULL) break;
        good = take_batch(&batch, &schema, phase, columnar, sink);
    }
    schema.release(&schema);
    return good || !fits;
}

/* Executes `sql`; what it delivers is `stream`, unless that is NULL: then it is an update. */
static bool begin(adbc_connection *connection, const char *sql, struct AdbcStatement *statement,
                  struct ArrowArrayStream *stream) {
    struct AdbcError error = {0};
    uint8_t status = AdbcStatementNew(&connection->connection, statement, &error);
    if (status == ADBC_STATUS_OK) status = AdbcStatementSetSqlQuery(statement, sql, &error);
    if (status == ADBC_STATUS_OK) status = AdbcStatementExecuteQuery(statement, stream, NULL, &error);
    return status == ADBC_STATUS_OK || fail(status, &error, RP_SQL_ERROR);
}

static void end(struct AdbcStatement *statement, struct ArrowArrayStream *stream) {
    struct AdbcError error = {0};
    if (stream != NULL && stream->release != NULL) stream->release(stream);
    if (statement->private_data != NULL) AdbcStatementRelease(statement, &error);
    if (error.release != NULL) error.release(&error);
}

static bool adbc_execute(void *operated, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    adbc_connection *connection = operated;
    struct AdbcStatement statement = {0};
    struct ArrowArrayStream stream = {0};
    bool good = begin(connection, phase->texts != NULL ? phase->texts[row] : phase->sql, &statement, &stream);
    if (good) {
        rp_executed(sink);
        good = take_stream(&stream, phase, connection->columnar, sink);
    }
    end(&statement, &stream);
    return good;
}

static bool adbc_run(void *opened, const char *sql) {
    struct AdbcStatement statement = {0};
    bool good = begin(opened, sql, &statement, NULL);
    end(&statement, NULL);
    return good;
}

/* The first value that `sql` delivers, as text; empty where there is none. */
static void ask(adbc_connection *connection, const char *sql, char *answer, size_t size) {
    struct AdbcStatement statement = {0};
    struct ArrowArrayStream stream = {0};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    answer[0] = '\0';
    if (begin(connection, sql, &statement, &stream) && stream.get_schema(&stream, &schema) == 0 &&
        stream.get_next(&stream, &batch) == 0 && batch.release != NULL && batch.length > 0 && batch.n_children > 0) {
        const struct ArrowArray *values = batch.children[0];
        if (schema.children[0]->format[0] == 'l')
            snprintf(answer, size, "%lld", (long long)((const int64_t *)values->buffers[1])[values->offset]);
        else if (schema.children[0]->format[0] == 'u') {
            const int32_t *ends = (const int32_t *)values->buffers[1] + values->offset;
            snprintf(answer, size, "%.*s", (int)(ends[1] - ends[0]), (const char *)values->buffers[2] + ends[0]);
        }
    }
    if (batch.release != NULL) batch.release(&batch);
    if (schema.release != NULL) schema.release(&schema);
    end(&statement, &stream);
}

static void adbc_facts(void *opened, rp_facts *facts) {
    static const char *const names[] = {"journal_mode", "synchronous", "cache_size"};
    char sql[64], answer[64];
    ask(opened, "SELECT sqlite_version()", answer, sizeof answer);
    rp_engine_version(facts, answer);
    rp_driver_version(facts, ADBC_DRIVER_VERSION);
    rp_setting(facts, "autocommit", "on");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(sql, sizeof sql, "PRAGMA %s", names[i]);
        ask(opened, sql, answer, sizeof answer);
        rp_setting(facts, names[i], answer);
    }
}

const rp_adapter rp_adapter_here = {
    .driver = "adbc-flightsql",
    .binary_literal = {"X'", "'"},
    .decimals_are_texts = true,
    .open = adbc_open,
    .close = adbc_close,
    .prepare = adbc_prepare,
    .execute = adbc_execute,
    .release = adbc_release,
    .run = adbc_run,
    .facts = adbc_facts,
    .no_timeout = "ADBC's timeouts are of calls, not of statements",
};
