/* The drain of MariaDB and MySQL: a query as text, its result received to the end. An end cannot be told from what
   looks like one without walking through the packets, so the first operation walks, and learns how many bytes the
   result has; every further one takes exactly so many, and other bytes at the end are an error.
   Source: MariaDB's documentation, "Client/Server Protocol", 0-packet and Result Set Packets. */
#include "drain.h"
#include "mysql_connection.h"

#define COM_QUERY_BYTE 3
#define WHOLE_PACKET 0xffffff /* a packet so long is gone on with in the next */
#define HEAD_BYTES 7          /* of a packet: length, number, and what tells its kind */

typedef struct my_drain {
    my_connection *mysql;
    drain drain;
} my_drain;

typedef struct my_request {
    my_drain *connection;
    char *data;
    size_t length;
    uint64_t learned; /* bytes of the result; 0: not yet */
    char end[5];      /* the last packet's header and first byte */
    size_t end_bytes; /* the whole last packet */
} my_request;

static void my_drain_close(void *opened) {
    my_drain *connection = opened;
    free(connection->drain.buffer);
    my_close(connection->mysql);
    free(connection);
}

static void *my_drain_open(const rp_options *options, int64_t *server_pid) {
    my_connection *mysql = my_open(options, server_pid);
    if (mysql == NULL) return NULL;
    my_drain *connection = calloc(1, sizeof *connection);
    connection->mysql = mysql;
    drain_open(&connection->drain, (int)mysql_get_socket(mysql->mysql), options);
    if (mysql_get_ssl_cipher(mysql->mysql) == NULL) return connection;
    rp_fail(RP_UNSUPPORTED, "", "bytes that are encrypted cannot be told from their protocol: tls=off");
    my_drain_close(connection);
    return NULL;
}

static void *my_prepare(void *opened, rp_phase *phase) {
    size_t length = strlen(phase->sql) + 1;
    if (!drain_can(phase)) return NULL;
    if (length >= WHOLE_PACKET) {
        rp_fail(RP_UNSUPPORTED, "", "a query of %zu bytes does not go into one packet", length);
        return NULL;
    }
    my_request *request = calloc(1, sizeof *request);
    request->connection = opened;
    request->length = 4 + length;
    request->data = malloc(request->length);
    if (request->data == NULL) abort();
    memcpy(request->data, (char[]){(char)length, (char)(length >> 8), (char)(length >> 16), 0, COM_QUERY_BYTE}, 5);
    memcpy(request->data + 5, phase->sql, length - 1);
    return request;
}

static void my_drain_release(void *statement) {
    my_request *request = statement;
    free(request->data);
    free(request);
}

/* The way through the packets of a result. */
typedef struct walk {
    enum { COUNT, DEFINITIONS, FIRST, ROWS, DONE } at;
    uint64_t definitions; /* left */
    bool goes_on;         /* the packet before was a whole one */
    bool failed;
    uint8_t head[HEAD_BYTES];
    size_t have;
    uint32_t length; /* of the packet's body */
    uint64_t skip;   /* of that body */
} walk;

static void judge(walk *walk) {
    uint8_t kind = walk->length > 0 ? walk->head[4] : 1;
    bool continued = walk->goes_on;
    walk->goes_on = walk->length == WHOLE_PACKET;
    if (continued) return;
    if (kind == 0xff) { /* an error: no row and no definition begins so */
        walk->failed = true;
        walk->at = DONE;
    } else if (walk->at == COUNT) {
        walk->definitions = kind == 0xfc ? walk->head[5] | (uint64_t)walk->head[6] << 8 : kind;
        walk->at = kind == 0 ? DONE : DEFINITIONS;
    } else if (walk->at == DEFINITIONS) {
        if (--walk->definitions == 0) walk->at = FIRST;
    } else {
        /* Five bytes end the definitions where the two sides have not agreed to leave that out. */
        bool definitions_end = walk->at == FIRST && kind == 0xfe && walk->length == 5;
        walk->at = kind == 0xfe && !definitions_end && walk->length < WHOLE_PACKET ? DONE : ROWS;
    }
}

static void step(walk *walk, const char *at, const char *end) {
    while (at < end) {
        if (walk->skip > 0) {
            uint64_t room = (uint64_t)(end - at), skipped = walk->skip < room ? walk->skip : room;
            walk->skip -= skipped;
            at += skipped;
            continue;
        }
        walk->head[walk->have++] = (uint8_t)*at++;
        if (walk->have < 4) continue;
        walk->length = walk->head[0] | (uint32_t)walk->head[1] << 8 | (uint32_t)walk->head[2] << 16;
        size_t told = walk->length < HEAD_BYTES - 4 ? walk->length : HEAD_BYTES - 4;
        if (walk->have < 4 + told) continue;
        judge(walk);
        walk->skip = walk->length - told;
        walk->have = 0;
    }
}

/* An error's packet is the last that came: a mark, two bytes of number, # and five of state, the text. */
static bool refused(const drain *drain, const walk *walk) {
    const uint8_t *packet = (const uint8_t *)drain->end - walk->length;
    char code[32];
    if (walk->length < 9 || walk->length > DRAIN_TAIL_BYTES) return rp_fail(RP_SQL_ERROR, "", "the server refused");
    snprintf(code, sizeof code, "%u (%.5s)", packet[1] | (unsigned)packet[2] << 8, (const char *)packet + 4);
    return rp_fail(RP_SQL_ERROR, code, "%.*s", (int)walk->length - 9, (const char *)packet + 9);
}

static bool learn(my_request *request, drain *drain) {
    walk walk = {0};
    while (walk.at != DONE || walk.skip > 0) {
        if (!drain_receive(drain)) return false;
        step(&walk, drain->from, drain->end);
    }
    if (walk.failed) return refused(drain, &walk);
    request->learned = drain->bytes;
    request->end_bytes = 4 + walk.length;
    memcpy(request->end, drain->end - request->end_bytes, sizeof request->end);
    return true;
}

/* The last packet's header and kind: its status may differ, inside a transaction and outside. */
static bool ends_alike(const my_request *request, const drain *drain) {
    return memcmp(drain->end - request->end_bytes, request->end, sizeof request->end) == 0;
}

/* Of a result that is not the one which was learned: whatever is left is taken, so that the next operation can begin.
 */
static bool forget(my_request *request, drain *drain) {
    uint64_t learned = request->learned;
    request->learned = 0;
    while (!drain_quiet(drain))
        if (!drain_receive(drain)) return false;
    return rp_fail(RP_VERIFY, "", "a result of %llu bytes, where the first one had %llu",
                   (unsigned long long)drain->bytes, (unsigned long long)learned);
}

/* Whether an answer shorter than the result is over: refused at once, or ended as the result ends. */
static bool ended_early(const my_request *request, const drain *drain) {
    const char *end = drain->end, *packet = end - request->end_bytes;
    bool refused = drain->bytes > 4 && drain->bytes < DRAIN_TAIL_BYTES && (uint8_t)end[4 - (int)drain->bytes] == 0xff;
    bool ended = memcmp(packet, request->end, 3) == 0 && packet[4] == request->end[4];
    return (refused || ended) && drain_quiet(drain);
}

static bool receive_learned(my_request *request, drain *drain) {
    while (drain->bytes < request->learned) {
        if (!drain_receive(drain)) return false;
        if (RP_UNLIKELY(drain->bytes < request->learned && ended_early(request, drain))) return forget(request, drain);
    }
    return (drain->bytes == request->learned && ends_alike(request, drain)) || forget(request, drain);
}

static bool my_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    my_request *request = statement;
    drain *drain = &request->connection->drain;
    (void)phase, (void)row;
    drain_begin(drain);
    bool good = drain_send(drain, request->data, request->length);
    rp_executed(sink);
    good = good && (request->learned == 0 ? learn(request, drain) : receive_learned(request, drain));
    drain_end(drain);
    sink->bytes += drain->bytes;
    return good;
}

static bool my_drain_run(void *opened, const char *sql) {
    return my_run(((my_drain *)opened)->mysql, sql);
}

static void my_facts(void *opened, rp_facts *facts) {
    MYSQL *mysql = ((my_drain *)opened)->mysql->mysql;
    rp_driver_version(facts, "recv(2)");
    rp_library(facts, "libmariadb", mysql_get_client_info()); /* that logs in */
    rp_engine_version(facts, mysql_get_server_info(mysql));
    rp_setting(facts, "tls", "off");
    rp_setting(facts, "host", mysql_get_host_info(mysql));
}

const rp_adapter rp_adapter_here = {
    .driver = "drain",
    .binary_literal = {"X'", "'"},
    .open = my_drain_open,
    .close = my_drain_close,
    .prepare = my_prepare,
    .execute = my_execute,
    .release = my_drain_release,
    .run = my_drain_run,
    .facts = my_facts,
};
