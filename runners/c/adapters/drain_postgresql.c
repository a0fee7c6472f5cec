/* The drain of PostgreSQL: a query as text (format=text) or as an extended query whose values come in binary
   (format=binary), received to the end. */
#include <stdlib.h>

#include "drain.h"
#include "libpq_connection.h"
#include "postgresql_messages.h"

typedef struct pq_drain {
    PGconn *pg;
    bool binary;
    drain drain;
} pq_drain;

typedef struct pq_request {
    pq_drain *connection;
    char *data;
    size_t length;
} pq_request;

static void pq_close(void *opened) {
    pq_drain *connection = opened;
    PQfinish(connection->pg);
    free(connection->drain.buffer);
    free(connection);
}

static void *pq_open(const rp_options *options, int64_t *server_pid) {
    PGconn *pg = pq_connect(options, server_pid);
    if (pg == NULL) return NULL;
    pq_drain *connection = calloc(1, sizeof *connection);
    connection->pg = pg;
    connection->binary = rp_option_is(options, "format", "binary");
    drain_open(&connection->drain, PQsocket(pg), options);
    if (!PQsslInUse(pg)) return connection;
    rp_fail(RP_UNSUPPORTED, "", "bytes that are encrypted cannot be told from their protocol: tls=off");
    pq_close(connection);
    return NULL;
}

static void *pq_prepare(void *opened, rp_phase *phase) {
    pq_drain *connection = opened;
    if (!drain_can(phase)) return NULL;
    pq_request *request = calloc(1, sizeof *request);
    request->connection = connection;
    request->data = pg_query_messages(phase->sql, connection->binary, &request->length);
    return request;
}

static void pq_release(void *statement) {
    pq_request *request = statement;
    free(request->data);
    free(request);
}

static bool receive_all(drain *drain) {
    while (drain_receive(drain)) {
        if (RP_UNLIKELY(pg_is_complete(drain->end))) return true;
        if (RP_UNLIKELY(pg_looks_ready(drain->end)) && drain_quiet(drain))
            return pg_refused(drain->from - DRAIN_TAIL_BYTES, drain->end);
    }
    return false;
}

static bool pq_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    const pq_request *request = statement;
    drain *drain = &request->connection->drain;
    (void)phase, (void)row;
    drain_begin(drain);
    bool good = drain_send(drain, request->data, request->length);
    rp_executed(sink);
    good = good && receive_all(drain);
    drain_end(drain);
    sink->bytes += drain->bytes;
    return good;
}

static bool pq_run(void *opened, const char *sql) {
    return pq_execute_text(((pq_drain *)opened)->pg, sql);
}

static void pq_facts(void *opened, rp_facts *facts) {
    const pq_drain *connection = opened;
    pq_connection_facts(connection->pg, facts);
    rp_driver_version(facts, "recv(2)"); /* libpq logs in only */
}

const rp_adapter rp_adapter_here = {
    .driver = "drain",
    .binary_literal = {"'\\x", "'::bytea"},
    .open = pq_open,
    .close = pq_close,
    .prepare = pq_prepare,
    .execute = pq_execute,
    .release = pq_release,
    .run = pq_run,
    .facts = pq_facts,
};
