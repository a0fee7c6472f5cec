/* A connection through libpq: logging in, what its errors say, statements outside the clock. */
#ifndef RP_LIBPQ_CONNECTION_H
#define RP_LIBPQ_CONNECTION_H

#include <stdio.h>
#include <stdlib.h>

#include <libpq-fe.h>

#include "rowpath.h"

static inline bool fail(PGconn *pg, const PGresult *result) {
    bool lost = PQstatus(pg) == CONNECTION_BAD;
    const char *code = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    return rp_fail(lost ? RP_CONNECT_ERROR : RP_SQL_ERROR, code, "%s", PQerrorMessage(pg));
}

/* The libpq default is not said at all. */
static inline const char *pq_ssl_mode(const rp_options *options) {
    if (rp_option_is(options, "tls", "default")) return NULL;
    return rp_option_is(options, "tls", "on") ? "require" : "disable";
}

/* NULL after rp_fail. */
static inline PGconn *pq_connect(const rp_options *options, int64_t *server_pid) {
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
                                  pq_ssl_mode(options),
                                  "disable",
                                  "UTF8",
                                  "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601",
                                  NULL};
    PGconn *pg = PQconnectdbParams(names, values, 0);
    *server_pid = PQbackendPID(pg);
    if (PQstatus(pg) == CONNECTION_OK) return pg;
    rp_fail(RP_CONNECT_ERROR, "", "%s", PQerrorMessage(pg));
    PQfinish(pg);
    return NULL;
}

static inline bool pq_execute_text(PGconn *pg, const char *sql) {
    PGresult *result = PQexec(pg, sql);
    ExecStatusType status = PQresultStatus(result);
    bool good =
        status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY || fail(pg, result);
    PQclear(result);
    return good;
}

#endif
