/* The drain of PostgreSQL: a query as text (format=text) or as an extended query whose values come in binary
   (format=binary), received to the end. Source: PostgreSQL's manual, "Frontend/Backend Protocol", Message Formats. */
#include <ctype.h>
#include <endian.h>

#include "drain.h"
#include "libpq_connection.h"

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

static void put_integer(FILE *to, uint32_t value) {
    value = htobe32(value);
    fwrite(&value, sizeof value, 1, to);
}

/* A message whose body begins with `text` and its NUL, preceded by `before` NULs. */
static void put_message(FILE *to, char type, size_t before, const char *text, const char *rest, size_t rest_length) {
    fputc(type, to);
    put_integer(to, (uint32_t)(4 + before + strlen(text) + 1 + rest_length));
    for (size_t i = 0; i < before; i++)
        fputc('\0', to);
    fwrite(text, 1, strlen(text) + 1, to);
    fwrite(rest, 1, rest_length, to);
}

static void *pq_prepare(void *opened, rp_phase *phase) {
    if (!drain_can(phase)) return NULL;
    pq_request *request = calloc(1, sizeof *request);
    request->connection = opened;
    FILE *to = open_memstream(&request->data, &request->length);
    if (!request->connection->binary) {
        put_message(to, 'Q', 0, phase->sql, "", 0);
    } else {
        put_message(to, 'P', 1, phase->sql, "\0\0", 2);     /* Parse: no parameter's type is given */
        put_message(to, 'B', 1, "", "\0\0\0\0\0\1\0\1", 8); /* Bind: no parameters; one format for all: binary */
        put_message(to, 'E', 0, "", "\0\0\0\0", 4);         /* Execute: every row */
        fwrite("S\0\0\0\4", 1, 5, to);                      /* Sync */
    }
    fclose(to);
    return request;
}

static void pq_release(void *statement) {
    pq_request *request = statement;
    free(request->data);
    free(request);
}

/* ReadyForQuery behind the NUL that closes a message: the last bytes of any answer. */
static bool looks_ready(const drain *drain) {
    const char *end = drain->end;
    return end[-7] == '\0' && memcmp(end - 6, "Z\0\0\0\5", 5) == 0 &&
           (end[-1] == 'I' || end[-1] == 'T' || end[-1] == 'E');
}

/* Behind the command tag of a query. No value of a text can look like it: a NUL stands in lengths only. */
static bool is_complete(const drain *drain) {
    const char *at = drain->end - 8;
    if (!looks_ready(drain) || !isdigit((unsigned char)*at)) return false;
    while (isdigit((unsigned char)*at))
        at--;
    return memcmp(at - 6, "SELECT ", 7) == 0;
}

/* What looked like the end was one: an error's, or that of another command. */
static bool failed(const drain *drain) {
    static const char *const severities[] = {"SERROR", "SFATAL"};
    const char *first = drain->from - DRAIN_TAIL_BYTES, *code = "", *text = "the server ended the result";
    const char *field = NULL;
    for (size_t i = 0; i < 2 && field == NULL; i++)
        field = memmem(first, (size_t)(drain->end - first), severities[i], strlen(severities[i]) + 1);
    for (; field != NULL && field < drain->end && *field != '\0'; field += strlen(field) + 1) {
        if (*field == 'C') code = field + 1;
        if (*field == 'M') text = field + 1;
    }
    return rp_fail(RP_SQL_ERROR, code, "%s", text);
}

static bool receive_all(drain *drain) {
    while (drain_receive(drain)) {
        if (RP_UNLIKELY(is_complete(drain))) return true;
        if (RP_UNLIKELY(looks_ready(drain)) && drain_quiet(drain)) return failed(drain);
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
    char version[32];
    snprintf(version, sizeof version, "%d.%d", PQlibVersion() / 10000, PQlibVersion() % 10000);
    rp_driver_version(facts, "recv(2)");
    rp_library(facts, "libpq", version); /* that logs in */
    rp_engine_version(facts, PQparameterStatus(connection->pg, "server_version"));
    rp_setting(facts, "autocommit", PQtransactionStatus(connection->pg) == PQTRANS_IDLE ? "on" : "off");
    rp_setting(facts, "tls", "off");
    rp_setting(facts, "host", PQhost(connection->pg));
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
