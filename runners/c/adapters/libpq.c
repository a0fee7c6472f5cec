/* PostgreSQL through libpq. Statement modes: PQprepare once, PQexecParams, or a simple query with literals. Results
   whole, row by row, in chunks, by a server's cursor, as a COPY, or whole by PQenterPipelineMode. Text values of other
   types are converted inside the clock; binary ones are decoded. Bulk ways: COPY … FROM STDIN, one INSERT with as many
   rows of placeholders as the protocol allows, or one INSERT from unnest() of arrays. */
#include <stdio.h>
#include <stdlib.h>

#include "libpq.h"

static void pq_close(void *opened) {
    pq_connection *connection = opened;
    PQfinish(connection->pg);
    free(connection);
}

/* The number of rows behind `kind` in `chunked:n` or `cursor:n`; 0 when it is something else. */
static int rows_of_result(const char *result, const char *kind) {
    size_t length = strlen(kind);
    return strncmp(result, kind, length) == 0 ? atoi(result + length) : 0;
}

/* A COPY can be neither prepared nor given parameters; a simple query delivers text only. */
static bool exists(const pq_connection *connection, const char *result) {
    bool text = connection->mode == RP_LITERAL;
    if (connection->copies_out && !text) return rp_fail(RP_UNSUPPORTED, "", "fetch=copy is statement=text");
    if (connection->copies_out && strcmp(result, "whole") != 0)
        return rp_fail(RP_UNSUPPORTED, "", "fetch=copy has no result=%s: its rows come as they are read", result);
    return !connection->binary || !text || connection->copies_out ||
           rp_fail(RP_UNSUPPORTED, "", "a simple query delivers text only");
}

static void *pq_open(const rp_options *options, int64_t *server_pid) {
    const char *result = rp_option(options, "result", "whole");
    pq_connection *connection = calloc(1, sizeof *connection);
    connection->mode = rp_option_statement(options);
    connection->binary = rp_option_is(options, "format", "binary");
    connection->copies_out = rp_option_is(options, "fetch", "copy");
    connection->chunk_rows = strcmp(result, "single-row") == 0 ? 1 : rows_of_result(result, "chunked:");
    connection->cursor_rows = rows_of_result(result, "cursor:");
    snprintf(connection->fetch, sizeof connection->fetch, "FETCH FORWARD %d FROM " PQ_CURSOR, connection->cursor_rows);
    snprintf(connection->bulk, sizeof connection->bulk, "%s", rp_option(options, "bulk", "copy"));
    if (exists(connection, result)) connection->pg = pq_connect(options, server_pid);
    if (connection->pg != NULL) return connection;
    free(connection);
    return NULL;
}

static void *pq_prepare(void *opened, rp_phase *phase) {
    pq_connection *connection = opened;
    bool rows = phase->kind == RP_QUERY; /* a result may have no columns */
    if (phase->pipeline > 0 && !pq_pipelines(connection)) return NULL;
    if (rows && connection->copies_out) return pq_copy_out_of(connection, phase);
    if (rows && connection->cursor_rows > 0) return pq_cursor_of(connection, phase);
    return phase->bulk ? pq_bulk_of(connection, phase) : pq_statement_of(connection, phase, phase->sql, 1);
}

static bool send_streamed(const pq_operation *operation, const char *text) {
    PGconn *pg = operation->connection->pg;
    int rows = operation->connection->chunk_rows;
    if (!pq_send_statement(operation, text)) return false;
    if (rows == 1) return PQsetSingleRowMode(pg) || pq_fail(pg, NULL);
#ifdef LIBPQ_HAS_CHUNK_MODE
    return PQsetChunkedRowsMode(pg, rows) || pq_fail(pg, NULL);
#else
    return rp_fail(RP_UNSUPPORTED, "", "this libpq delivers no chunks (it is older than 17)");
#endif
}

static bool pq_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    pq_operation *operation = statement;
    PGconn *pg = operation->connection->pg;
    const char *text = phase->texts != NULL ? phase->texts[row] : NULL;
    PGresult *result;
    if (operation->copies_out) return pq_execute_copy(operation, phase, text, sink);
    if (operation->mode != RP_LITERAL) pq_bind(operation, phase, row);
    if (operation->has_cursor) return pq_execute_cursor(operation, phase, text, sink);
    if (operation->connection->chunk_rows == 0) {
        result = pq_execute_whole(operation, text);
        rp_executed(sink);
        bool good = pq_take(operation, phase, result, sink);
        PQclear(result);
        return good;
    }
    bool good = send_streamed(operation, text);
    rp_executed(sink);
    while ((result = PQgetResult(pg)) != NULL) {
        good = good && pq_take(operation, phase, result, sink);
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
    if (canceller == NULL) pq_fail(connection->pg, NULL);
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
    pq_connection_facts(connection->pg, facts);
    pq_facts_from_query(
        connection->pg,
        "SELECT name, setting FROM pg_settings WHERE name IN ('TimeZone', 'DateStyle', 'IntervalStyle', 'fsync',"
        " 'synchronous_commit', 'full_page_writes', 'transaction_isolation', 'shared_buffers', 'jit',"
        " 'max_parallel_workers_per_gather', 'data_checksums', 'client_encoding', 'application_name', "
        "'statement_timeout') UNION ALL SELECT 'build', version()",
        facts);
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
    .send = pq_send,
    .receive = pq_receive,
    .bulk = pq_bulk,
    .canceller = pq_canceller,
    .cancel = pq_cancel,
    .set_timeout = pq_set_timeout,
};
