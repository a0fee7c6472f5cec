/* Pipeline mode: statements are queued, sent together, and their results read one by one.

   Without a Sync the server takes everything up to the next one as one transaction, and skips what follows an error.
   So a Sync stands behind each write, as each is its own transaction; behind reads only where the pipeline ends. */
#include "libpq.h"

bool pq_pipelines(const pq_connection *connection) {
    bool whole = connection->chunk_rows == 0 && connection->cursor_rows == 0 && !connection->copies_out;
    if (connection->mode == RP_LITERAL) return rp_fail(RP_UNSUPPORTED, "", "pipeline mode takes no simple query");
    return whole || rp_fail(RP_UNSUPPORTED, "", "in a pipeline results are taken whole");
}

static bool has_sync(const rp_phase *phase, bool last) {
    return last || phase->kind == RP_EXECUTE;
}

/* Only the last one is sent at once. */
static bool sync_after(PGconn *pg, bool last) {
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
    if (!last) return PQsendPipelineSync(pg) || pq_fail(pg, NULL);
#else
    (void)last;
#endif
    return PQpipelineSync(pg) || pq_fail(pg, NULL);
}

bool pq_send(void *statement, const rp_phase *phase, uint64_t row, bool last) {
    pq_operation *operation = statement;
    PGconn *pg = operation->connection->pg;
    if (PQpipelineStatus(pg) == PQ_PIPELINE_OFF && !PQenterPipelineMode(pg)) return pq_fail(pg, NULL);
    pq_bind(operation, phase, row);
    if (pq_send_statement(operation, NULL)) return !has_sync(phase, last) || sync_after(pg, last);
    PQpipelineSync(pg); /* what was sent before is answered all the same */
    return false;
}

static bool take_one(pq_operation *operation, const rp_phase *phase, rp_sink *sink) {
    PGconn *pg = operation->connection->pg;
    PGresult *result = PQgetResult(pg);
    bool good = PQresultStatus(result) == PGRES_PIPELINE_ABORTED
                    ? rp_fail(RP_SQL_ERROR, "", "the pipeline was aborted by the error of an earlier statement")
                    : pq_take(operation, phase, result, sink);
    PQclear(result);
    while (result != NULL && (result = PQgetResult(pg)) != NULL)
        PQclear(result);
    return good;
}

bool pq_receive(void *statement, const rp_phase *phase, bool last, rp_sink *sink) {
    pq_operation *operation = statement;
    PGconn *pg = operation->connection->pg;
    bool good = take_one(operation, phase, sink);
    if (has_sync(phase, last)) PQclear(PQgetResult(pg));
    if (last && !PQexitPipelineMode(pg)) return pq_fail(pg, NULL);
    return good;
}
