/* PostgreSQL through libpq. Statement modes: PQprepare once, PQexecParams, or a simple query with literals. Results
   whole, row by row or in chunks. Text values of other types are converted inside the clock; binary ones are decoded.
 */
#include <stdio.h>
#include <stdlib.h>

#include <libpq-fe.h>

#include "postgresql_binary.h"

#define MOST_PARAMETERS 64

typedef struct pq_connection {
    PGconn *pg;
    rp_statement_mode mode;
    bool binary;
    int chunk_rows; /* 0: the result whole */
    int statements;
} pq_connection;

typedef struct pq_operation {
    pq_connection *connection;
    rp_statement_mode mode;
    char name[16], *sql; /* of the prepared statement; with $1, $2, … */
    bool described;
    int parameter_count;
    Oid types[MOST_PARAMETERS];
    const char *values[MOST_PARAMETERS];
    int lengths[MOST_PARAMETERS], formats[MOST_PARAMETERS];
    char scratch[MOST_PARAMETERS][RP_SCRATCH_BYTES];
} pq_operation;

static bool fail(PGconn *pg, const PGresult *result) {
    bool lost = PQstatus(pg) == CONNECTION_BAD;
    const char *code = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    return rp_fail(lost ? RP_CONNECT_ERROR : RP_SQL_ERROR, code, "%s", PQerrorMessage(pg));
}

static void pq_close(void *opened) {
    pq_connection *connection = opened;
    PQfinish(connection->pg);
    free(connection);
}

static int chunk_rows(const char *result) {
    if (strcmp(result, "single-row") == 0) return 1;
    return strncmp(result, "chunked:", 8) == 0 ? atoi(result + 8) : 0;
}

static void *pq_open(const rp_options *options, int64_t *server_pid) {
    bool local = rp_option_is(options, "transport", "unix");
    const char *const names[] = {
        "host",    "port", "user", "password", "dbname", "application_name", "sslmode", "gssencmode", "client_encoding",
        "options", NULL};
    const char *const values[] = {local ? rp_option(options, "socket_dir", "")
                                        : rp_option(options, "host", "127.0.0.1"),
                                  rp_option(options, "port", "5432"),
                                  rp_option(options, "user", NULL),
                                  rp_option(options, "password", NULL),
                                  rp_option(options, "database", NULL),
                                  "rowpath",
                                  rp_option_is(options, "tls", "on") ? "require" : "disable",
                                  "disable",
                                  "UTF8",
                                  "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601",
                                  NULL};
    pq_connection *connection = calloc(1, sizeof *connection);
    connection->mode = rp_option_statement(options);
    connection->binary = rp_option_is(options, "format", "binary");
    connection->chunk_rows = chunk_rows(rp_option(options, "result", "whole"));
    if (connection->binary && connection->mode == RP_LITERAL) {
        rp_fail(RP_UNSUPPORTED, "", "a simple query delivers text only");
        free(connection);
        return NULL;
    }
    connection->pg = PQconnectdbParams(names, values, 0);
    *server_pid = PQbackendPID(connection->pg);
    if (PQstatus(connection->pg) == CONNECTION_OK) return connection;
    rp_fail(RP_CONNECT_ERROR, "", "%s", PQerrorMessage(connection->pg));
    pq_close(connection);
    return NULL;
}

static void pq_release(void *statement) {
    pq_operation *operation = statement;
    free(operation->sql);
    free(operation);
}

static void *pq_prepare(void *opened, rp_phase *phase) {
    pq_connection *connection = opened;
    int count = phase->parameter_column_count;
    if (count > MOST_PARAMETERS) {
        rp_fail(RP_UNSUPPORTED, "", "%d placeholders; this adapter binds at most %d", count, MOST_PARAMETERS);
        return NULL;
    }
    pq_operation *operation = calloc(1, sizeof *operation);
    operation->connection = connection;
    operation->mode = connection->mode == RP_PREPARED && phase->kind == RP_CONNECT ? RP_BOUND : connection->mode;
    operation->sql = rp_numbered_placeholders(phase->sql);
    operation->parameter_count = count;
    for (int i = 0; i < count; i++)
        operation->types[i] = pg_parameter_type(&phase->parameter_columns[i]);
    if (operation->mode != RP_PREPARED) return operation;
    snprintf(operation->name, sizeof operation->name, "rp%d", ++connection->statements);
    PGresult *result = PQprepare(connection->pg, operation->name, operation->sql, count, operation->types);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK || fail(connection->pg, result);
    PQclear(result);
    if (good) return operation;
    pq_release(operation);
    return NULL;
}

static void bind(pq_operation *operation, const rp_phase *phase, uint64_t row) {
    const rp_value *value = rp_parameters(phase, row);
    for (int i = 0; i < operation->parameter_count; i++, value++) {
        char *scratch = operation->scratch[i];
        size_t length;
        bool raw = value->type == RP_BINARY || value->type == RP_UUID;
        int size = operation->connection->binary ? pg_put_binary(value, &phase->parameter_columns[i], scratch) : -1;
        operation->formats[i] = raw || size >= 0;
        operation->lengths[i] = raw ? (int)value->length : size;
        if (value->type == RP_NULL)
            operation->values[i] = NULL;
        else
            operation->values[i] = raw ? value->text : size >= 0 ? scratch : rp_value_text(value, scratch, &length);
    }
}

/* The result's types, looked at once. */
static bool describe(pq_operation *operation, const rp_phase *phase, const PGresult *result) {
    if (PQnfields(result) != phase->column_count)
        return rp_fail(RP_VERIFY, "", "the result has %d columns, not %d", PQnfields(result), phase->column_count);
    for (int i = 0; i < phase->column_count; i++) {
        rp_column *column = &phase->columns[i];
        const pg_type *type = pg_find_type(PQftype(result, i));
        if (type == NULL || (type->declared >> column->type & 1) == 0)
            return rp_fail(RP_VERIFY, "", "column %s: type %u (%s) does not fit the declared type", column->name,
                           PQftype(result, i), type != NULL ? type->name : "unknown here");
        column->code = (int)type->number;
        column->element = type->element;
        rp_deliver(column, type->name);
    }
    operation->described = true;
    return true;
}

static bool take(pq_operation *operation, const rp_phase *phase, const PGresult *result, rp_sink *sink) {
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) return true;
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE || result == NULL)
        return fail(operation->connection->pg, result);
    if (!operation->described && !describe(operation, phase, result)) return false;
    int rows = PQntuples(result), columns = phase->column_count;
    bool binary = operation->connection->binary;
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < columns; i++) {
            rp_column *column = &phase->columns[i];
            const char *value = PQgetvalue(result, row, i);
            if (column->nullable || sink->digest ? PQgetisnull(result, row, i) : 0)
                rp_null(sink, column);
            else if (binary)
                pg_take_binary(sink, column, value, (size_t)PQgetlength(result, row, i));
            else
                rp_text_as(sink, column, value, (size_t)PQgetlength(result, row, i));
        }
        rp_row(sink);
    }
    return true;
}

static PGresult *execute_whole(const pq_operation *operation, const char *text) {
    PGconn *pg = operation->connection->pg;
    int count = operation->parameter_count, binary = operation->connection->binary;
    if (operation->mode == RP_LITERAL) return PQexec(pg, text);
    if (operation->mode == RP_PREPARED)
        return PQexecPrepared(pg, operation->name, count, operation->values, operation->lengths, operation->formats,
                              binary);
    return PQexecParams(pg, operation->sql, count, operation->types, operation->values, operation->lengths,
                        operation->formats, binary);
}

static bool send_streamed(const pq_operation *operation, const char *text) {
    PGconn *pg = operation->connection->pg;
    int count = operation->parameter_count, binary = operation->connection->binary;
    int rows = operation->connection->chunk_rows, sent;
    if (operation->mode == RP_LITERAL)
        sent = PQsendQuery(pg, text);
    else if (operation->mode == RP_PREPARED)
        sent = PQsendQueryPrepared(pg, operation->name, count, operation->values, operation->lengths,
                                   operation->formats, binary);
    else
        sent = PQsendQueryParams(pg, operation->sql, count, operation->types, operation->values, operation->lengths,
                                 operation->formats, binary);
    if (!sent) return fail(pg, NULL);
    if (rows == 1) return PQsetSingleRowMode(pg) || fail(pg, NULL);
#ifdef LIBPQ_HAS_CHUNK_MODE
    return PQsetChunkedRowsMode(pg, rows) || fail(pg, NULL);
#else
    return rp_fail(RP_UNSUPPORTED, "", "this libpq delivers no chunks (it is older than 17)");
#endif
}

static bool pq_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    pq_operation *operation = statement;
    PGconn *pg = operation->connection->pg;
    const char *text = phase->texts != NULL ? phase->texts[row] : NULL;
    PGresult *result;
    if (operation->mode != RP_LITERAL) bind(operation, phase, row);
    if (operation->connection->chunk_rows == 0) {
        result = execute_whole(operation, text);
        rp_executed(sink);
        bool good = take(operation, phase, result, sink);
        PQclear(result);
        return good;
    }
    bool good = send_streamed(operation, text);
    rp_executed(sink);
    while ((result = PQgetResult(pg)) != NULL) {
        good = good && take(operation, phase, result, sink);
        PQclear(result);
    }
    return good;
}

static bool pq_run(void *opened, const char *sql) {
    pq_connection *connection = opened;
    PGresult *result = PQexec(connection->pg, sql);
    ExecStatusType status = PQresultStatus(result);
    bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY ||
                fail(connection->pg, result);
    PQclear(result);
    return good;
}

static void pq_facts(void *opened, rp_facts *facts) {
    pq_connection *connection = opened;
    PGconn *pg = connection->pg;
    char version[32];
    snprintf(version, sizeof version, "%d.%d", PQlibVersion() / 10000, PQlibVersion() % 10000);
    rp_driver_version(facts, version);
    rp_library(facts, "libpq", version);
    rp_engine_version(facts, PQparameterStatus(pg, "server_version"));
    rp_setting(facts, "autocommit", PQtransactionStatus(pg) == PQTRANS_IDLE ? "on" : "off");
    rp_setting(facts, "tls", PQsslInUse(pg) ? "on" : "off");
    rp_setting(facts, "host", PQhost(pg));
    PGresult *settings = PQexec(
        pg, "SELECT name, setting FROM pg_settings WHERE name IN ('TimeZone', 'DateStyle', 'IntervalStyle', 'fsync',"
            " 'synchronous_commit', 'full_page_writes', 'transaction_isolation', 'shared_buffers', 'jit',"
            " 'max_parallel_workers_per_gather', 'data_checksums', 'client_encoding', 'application_name')"
            " UNION ALL SELECT 'build', version()");
    for (int i = 0; i < PQntuples(settings); i++) {
        const char *name = PQgetvalue(settings, i, 0), *value = PQgetvalue(settings, i, 1);
        if (strcmp(name, "build") == 0)
            rp_build(facts, value);
        else
            rp_setting(facts, name, value);
    }
    PQclear(settings);
}

const rp_adapter rp_adapter_here = {
    .driver = "libpq",
    .binary_literal = {"'\\x", "'::bytea"},
    .open = pq_open,
    .close = pq_close,
    .prepare = pq_prepare,
    .execute = pq_execute,
    .release = pq_release,
    .run = pq_run,
    .facts = pq_facts,
};
