/* A connection through libpq: logging in, errors, statements outside the clock, facts. */
#ifndef RP_LIBPQ_CONNECTION_H
#define RP_LIBPQ_CONNECTION_H

#include <libpq-fe.h>

#include "adapter.h"

/* The error of `result`, or of the connection when it is NULL; always false. */
bool pq_fail(PGconn *pg, const PGresult *result);

/* NULL after rp_fail. */
PGconn *pq_connect(const rp_options *options, int64_t *server_pid);

/* Executes a statement and drops whatever it delivers. */
bool pq_execute_text(PGconn *pg, const char *sql);

/* Versions, TLS, host. */
void pq_connection_facts(PGconn *pg, rp_facts *facts);

/* A fact for each row (name, value) of the query. */
void pq_facts_from_query(PGconn *pg, const char *sql, rp_facts *facts);

#endif
