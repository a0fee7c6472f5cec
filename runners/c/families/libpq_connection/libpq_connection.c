#include "libpq_connection.h"

#include <stdio.h>

bool pq_fail(PGconn *pg, const PGresult *result) {
    bool lost = PQstatus(pg) == CONNECTION_BAD;
    const char *code = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *own = result != NULL ? PQresultErrorMessage(result) : ""; /* a pipeline's connection has all of them */
    return rp_fail(lost ? RP_CONNECT_ERROR : RP_SQL_ERROR, code, "%s", *own != '\0' ? own : PQerrorMessage(pg));
}

/* libpq's own default: no keyword. */
static const char *ssl_mode(const rp_options *options) {
    const char *tls = rp_option(options, "tls", "off");
    if (strcmp(tls, "default") == 0) return NULL;
    if (strncmp(tls, "verify-", 7) == 0) return tls;
    return strcmp(tls, "on") == 0 ? "require" : "disable";
}

/* A database of no encoding hands over its bytes; asked for UTF-8, the server refuses those that are none. */
static bool leave_bytes(PGconn *pg) {
    const char *encoding = PQparameterStatus(pg, "server_encoding");
    return encoding == NULL || strcmp(encoding, "SQL_ASCII") != 0 || PQsetClientEncoding(pg, "SQL_ASCII") == 0;
}

enum { OWN_WORDS = 13 };

PGconn *pq_connect(const rp_options *options, int64_t *server_pid) {
    bool local = rp_option_is(options, "transport", "unix");
    bool plain = rp_option_is(options, "startup", "plain"); /* a pooler may refuse what sets something */
    const char *session = plain ? NULL : "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601";
    const char *names[OWN_WORDS + RP_MOST_SETTINGS + 1] = {"host",     "port",        "user",
                                                           "password", "dbname",      "application_name",
                                                           "sslmode",  "gssencmode",  "client_encoding",
                                                           "options",  "sslrootcert", "sslcert",
                                                           "sslkey"};
    const char *values[OWN_WORDS + RP_MOST_SETTINGS] = {local ? rp_option(options, "socket_dir", "")
                                                              : rp_option(options, "host", "127.0.0.1"),
                                                        rp_option(options, "port", "5432"),
                                                        rp_option(options, "user", NULL),
                                                        rp_option(options, "password", NULL),
                                                        rp_option(options, "database", NULL),
                                                        "rowpath",
                                                        ssl_mode(options),
                                                        "disable",
                                                        "UTF8",
                                                        session,
                                                        rp_option(options, "tls_ca", NULL),
                                                        rp_option(options, "tls_cert", NULL),
                                                        rp_option(options, "tls_key", NULL)};
    rp_settings settings;
    if (!rp_driver_settings(options, &settings)) return NULL;
    for (int i = 0; i < settings.count; i++) { /* of two words of a name the last one counts */
        names[OWN_WORDS + i] = settings.names[i];
        values[OWN_WORDS + i] = settings.values[i];
    }
    PGconn *pg = PQconnectdbParams(names, values, 0);
    *server_pid = PQbackendPID(pg);
    if (PQstatus(pg) == CONNECTION_OK && leave_bytes(pg)) return pg;
    rp_fail(RP_CONNECT_ERROR, "", "%s", PQerrorMessage(pg));
    PQfinish(pg);
    return NULL;
}

bool pq_execute_text(PGconn *pg, const char *sql) {
    PGresult *result = PQexec(pg, sql);
    ExecStatusType status = PQresultStatus(result);
    bool good =
        status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY || pq_fail(pg, result);
    PQclear(result);
    return good;
}

void pq_facts_from_query(PGconn *pg, const char *sql, rp_facts *facts) {
    PGresult *rows = PQexec(pg, sql);
    for (int i = 0; i < PQntuples(rows); i++)
        rp_fact(facts, PQgetvalue(rows, i, 0), PQgetvalue(rows, i, 1));
    PQclear(rows);
}

void pq_connection_facts(PGconn *pg, rp_facts *facts) {
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
}
