/* The drain of MariaDB and MySQL: a query as text, its result received to the end. Only the packets' headers show
   where a result really ends. So the first operation walks through them and learns how many bytes the result has;
   every further one takes exactly as many, and other bytes at the end are an error. With compression the first one
   unpacks, no further one does: the last bytes are then the checksum of the last packet's content. */
#include <stdlib.h>

#include "drain.h"
#include "mysql_connection.h"
#include "mysql_packets.h"

typedef struct my_drain {
    my_connection *mysql;
    bool compressed;
    drain drain;
} my_drain;

typedef struct my_request {
    drain_request sent;
    bool compressed;
    uint64_t learned; /* bytes of the result; 0: not yet */
    char end[5];      /* the last packet's header and first byte; with compression the last bytes */
    size_t end_bytes; /* the whole last packet, or those */
    size_t usual;     /* with compression: the most that a packet holds, but for the last one; 0: there is one */
    my_compressed at;
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
    connection->compressed = rp_option_is(options, "compression", "zlib");
    bool encrypted = mysql_get_ssl_cipher(mysql->mysql) != NULL;
    if (drain_open(&connection->drain, (int)mysql_get_socket(mysql->mysql), encrypted, options)) return connection;
    my_drain_close(connection);
    return NULL;
}

static void *my_drain_prepare(void *opened, rp_phase *phase) {
    my_drain *connection = opened;
    size_t length;
    char *data = drain_can(phase) ? my_query_packet(phase->sql, connection->compressed, &length) : NULL;
    if (data == NULL) return NULL;
    my_request *request = calloc(1, sizeof *request);
    request->sent = (drain_request){&connection->drain, data, length};
    request->compressed = connection->compressed;
    return request;
}

static bool walk(my_request *request, drain *drain, my_packets *packets, my_compressed *compressed) {
    while (packets->at != MY_DONE || packets->skip > 0) {
        if (!drain_receive(drain)) return false;
        if (!request->compressed)
            my_step(packets, drain->from, drain->end);
        else if (!my_step_compressed(compressed, packets, drain->from, drain->end, &request->usual))
            return false;
    }
    if (!packets->failed) return true;
    return request->compressed
               ? my_refused(packets, compressed->plain + compressed->plain_bytes, compressed->plain_bytes)
               : my_refused(packets, drain->end, DRAIN_TAIL_BYTES);
}

static bool learn(my_request *request, drain *drain) {
    my_packets packets = {0};
    my_compressed compressed = {0};
    request->usual = 0;
    bool good = walk(request, drain, &packets, &compressed);
    free(compressed.packed);
    free(compressed.plain);
    if (!good) return false;
    request->learned = drain->bytes;
    request->end_bytes = request->compressed ? sizeof request->end : 4 + packets.length;
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
static bool ended_early(my_request *request, const drain *drain) {
    const char *end = drain->end, *packet = end - request->end_bytes;
    if (request->compressed) {
        my_skip_compressed(&request->at, drain->from, end);
        bool whole = request->at.have == 0 && request->at.left == 0;
        return whole && (request->usual == 0 || request->at.plain_bytes < request->usual) && drain_quiet(drain);
    }
    bool refused = drain->bytes > 4 && drain->bytes < DRAIN_TAIL_BYTES && (uint8_t)end[4 - (int)drain->bytes] == 0xff;
    bool ended = memcmp(packet, request->end, 3) == 0 && packet[4] == request->end[4];
    return (refused || ended) && drain_quiet(drain);
}

static bool receive_all(void *statement, drain *drain) {
    my_request *request = statement;
    if (request->learned == 0) return learn(request, drain);
    request->at = (my_compressed){0};
    while (drain->bytes < request->learned) {
        if (!drain_receive(drain)) return false;
        if (RP_UNLIKELY(drain->bytes < request->learned && ended_early(request, drain))) return forget(request, drain);
    }
    return (drain->bytes == request->learned && ends_alike(request, drain)) || forget(request, drain);
}

static bool my_drain_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    (void)phase, (void)row;
    return drain_execute(statement, sink, receive_all);
}

static bool my_drain_run(void *opened, const char *sql) {
    return my_run(((my_drain *)opened)->mysql, sql);
}

static void my_drain_facts(void *opened, rp_facts *facts) {
    MYSQL *mysql = ((my_drain *)opened)->mysql->mysql;
    rp_driver_version(facts, "recv(2)");
    rp_library(facts, "libmariadb", mysql_get_client_info()); /* that logs in */
    rp_engine_version(facts, mysql_get_server_info(mysql));
    rp_setting(facts, "tls", "off");
    my_compression_fact(((my_drain *)opened)->mysql, facts);
    rp_setting(facts, "host", mysql_get_host_info(mysql));
}

const rp_adapter rp_adapter_here = {
    .driver = "drain",
    .binary_literal = {"X'", "'"},
    .open = my_drain_open,
    .close = my_drain_close,
    .prepare = my_drain_prepare,
    .execute = my_drain_execute,
    .release = drain_release,
    .run = my_drain_run,
    .facts = my_drain_facts,
};
