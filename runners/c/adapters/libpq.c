/* PostgreSQL through libpq. Statement modes: PQprepare once, PQexecParams, or a simple query with literals. Results
   whole, row by row or in chunks. Text values of other types are converted inside the clock; binary ones are decoded.
   Bulk ways: COPY … FROM STDIN, or one INSERT with as many rows of placeholders as the protocol allows. */
#include "libpq_bulk.h"

static void pq_close(void *opened) {
    pq_connection *connection = opened;
    PQfinish(connection->pg);
    free(connection);
}

static int chunk_rows(const char *result) {
    if (strcmp(result, "single-row") == 0) return 1;
    return strncmp(result, "chunked:", 8) == 0 ? atoi(result + 8) : 0;
}

/* The libpq default is not said at all. */
static const char *ssl_mode(const rp_options *options) {
    if (rp_option_is(options, "tls", "default")) return NULL;
    return rp_option_is(options, "tls", "on") ? "require" : "disable";
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
                                  ssl_mode(options),
                                  "disable",
                                  "UTF8",
                                  "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601",
                                  NULL};
    pq_connection *connection = calloc(1, sizeof *connection);
    connection->mode = rp_option_statement(options);
    connection->binary = rp_option_is(options, "format", "binary");
    connection->chunk_rows = chunk_rows(rp_option(options, "result", "whole"));
    snprintf(connection->bulk, sizeof connection->bulk, "%s", rp_option(options, "bulk", "copy"));
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

static void *pq_prepare(void *opened, rp_phase *phase) {
    pq_connection *connection = opened;
    if (!phase->bulk) return statement_of(connection, phase, phase->sql, 1);
    if (strncmp(connection->bulk, "copy", 4) == 0) return copy_of(connection, phase);
    if (strcmp(connection->bulk, "multi-row") == 0) return multi_row_of(connection, phase);
    rp_fail(RP_UNSUPPORTED, "", "libpq has no bulk way '%s'", connection->bulk);
    return NULL;
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

/* Made by the thread that owns the connection; the request then goes over a connection of its own. */
static void *pq_canceller(void *opened) {
    pq_connection *connection = opened;
#ifdef LIBPQ_HAS_ASYNC_CANCEL
    PGcancelConn *canceller = PQcancelCreate(connection->pg);
#else
    PGcancel *canceller = PQgetCancel(connection->pg);
#endif
    if (canceller == NULL) fail(connection->pg, NULL);
    return canceller;
}

static bool pq_cancel(void *canceller) {
#ifdef LIBPQ_HAS_ASYNC_CANCEL
    bool good = PQcancelBlocking(canceller) || rp_fail(RP_CONNECT_ERROR, "", "%s", PQcancelErrorMessage(canceller));
    PQcancelFinish(canceller);
#else
    char text[256] = "";
    bool good = PQcancel(canceller, text, sizeof text) || rp_fail(RP_CONNECT_ERROR, "", "%s", text);
    PQfreeCancel(canceller);
#endif
    return good;
}

static bool pq_set_timeout(void *opened, int64_t ms) {
    char sql[64];
    snprintf(sql, sizeof sql, "SET statement_timeout = %lld", (long long)ms);
    return pq_run(opened, sql);
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
    if (PQsslInUse(pg)) {
        rp_setting(facts, "tls_protocol", PQsslAttribute(pg, "protocol"));
        rp_setting(facts, "tls_cipher", PQsslAttribute(pg, "cipher"));
    }
    rp_setting(facts, "host", PQhost(pg));
    PGresult *settings = PQexec(
        pg, "SELECT name, setting FROM pg_settings WHERE name IN ('TimeZone', 'DateStyle', 'IntervalStyle', 'fsync',"
            " 'synchronous_commit', 'full_page_writes', 'transaction_isolation', 'shared_buffers', 'jit',"
            " 'max_parallel_workers_per_gather', 'data_checksums', 'client_encoding', 'application_name', "
            "'statement_timeout')"
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
    .bulk = pq_bulk,
    .canceller = pq_canceller,
    .cancel = pq_cancel,
    .set_timeout = pq_set_timeout,
};
