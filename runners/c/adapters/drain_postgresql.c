/* The drain of PostgreSQL: a query as text (format=text) or as an extended query whose values come in binary
   (format=binary), or its COPY in either format (fetch=drain:copy), received to the end. */
#include <stdio.h>
#include <stdlib.h>

#include "drain.h"
#include "libpq_connection.h"
#include "postgresql_messages.h"

typedef struct pq_drain {
    PGconn *pg;
    bool binary, copy;
    drain drain;
} pq_drain;

static void pq_drain_close(void *opened) {
    pq_drain *connection = opened;
    PQfinish(connection->pg);
    free(connection->drain.buffer);
    free(connection);
}

static void *pq_drain_open(const rp_options *options, int64_t *server_pid) {
    PGconn *pg = pq_connect(options, server_pid);
    if (pg == NULL) return NULL;
    pq_drain *connection = calloc(1, sizeof *connection);
    connection->pg = pg;
    connection->binary = rp_option_is(options, "format", "binary");
    connection->copy = rp_option_is(options, "fetch", "drain:copy");
    if (drain_open(&connection->drain, PQsocket(pg), PQsslInUse(pg), options)) return connection;
    pq_drain_close(connection);
    return NULL;
}

static void *pq_drain_prepare(void *opened, rp_phase *phase) {
    pq_drain *connection = opened;
    if (!drain_can(phase)) return NULL;
    drain_request *request = calloc(1, sizeof *request);
    request->drain = &connection->drain;
    if (!connection->copy) {
        request->data = pg_query_messages(phase->sql, connection->binary, &request->length);
        return request;
    }
    char *sql;
    if (asprintf(&sql, "COPY (%s\n) TO STDOUT (FORMAT %s)", phase->sql, connection->binary ? "binary" : "text") < 0)
        abort();
    request->data = pg_query_messages(sql, false, &request->length);
    free(sql);
    return request;
}

static bool receive_all(void *statement, drain *drain) {
    (void)statement;
    while (drain_receive(drain)) {
        if (RP_UNLIKELY(pg_is_complete(drain->end))) return true;
        if (RP_UNLIKELY(pg_looks_ready(drain->end)) && drain_quiet(drain))
            return pg_refused(drain->from - DRAIN_TAIL_BYTES, drain->end);
    }
    return false;
}

static bool pq_drain_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    (void)phase, (void)row;
    return drain_execute(statement, sink, receive_all);
}

static bool pq_drain_run(void *opened, const char *sql) {
    return pq_execute_text(((pq_drain *)opened)->pg, sql);
}

static void pq_drain_facts(void *opened, rp_facts *facts) {
    const pq_drain *connection = opened;
    pq_connection_facts(connection->pg, facts);
    rp_driver_version(facts, "recv(2)"); /* libpq logs in only */
}

const rp_adapter rp_adapter_here = {
    .driver = "drain",
    .binary_literal = {"'\\x", "'::bytea"},
    .open = pq_drain_open,
    .close = pq_drain_close,
    .prepare = pq_drain_prepare,
    .execute = pq_drain_execute,
    .release = drain_release,
    .run = pq_drain_run,
    .facts = pq_drain_facts,
};
