/* A floor without a database: a delimited file through a socket, sent by our netcat (tools/netcat_server.c). */
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drain.h"

static void netcat_close(void *opened) {
    drain *connection = opened;
    if (connection->socket >= 0) close(connection->socket);
    free(connection->buffer);
    free(connection);
}

static bool netcat_connect(drain *connection, const rp_options *options) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)rp_option_integer(options, "port", 0))};
    char login[512], answer;
    int one = 1, length = snprintf(login, sizeof login, "%s\n", rp_option(options, "password", ""));
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    inet_pton(AF_INET, rp_option(options, "host", "127.0.0.1"), &address.sin_addr);
    if (connection->socket < 0 || length >= (int)sizeof login ||
        connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0)
        return rp_fail_errno(RP_CONNECT_ERROR, "netcat");
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!drain_send(connection, login, (size_t)length)) return false;
    if (recv(connection->socket, &answer, 1, 0) != 1) return rp_fail(RP_CONNECT_ERROR, "", "netcat refused the login");
    return drain_open(connection, connection->socket, false, options);
}

static void *netcat_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    drain *connection = calloc(1, sizeof *connection);
    if (netcat_connect(connection, options)) return connection;
    netcat_close(connection);
    return NULL;
}

static void *netcat_prepare(void *opened, rp_phase *phase) {
    if (!drain_can(phase)) return NULL;
    drain_request *request = calloc(1, sizeof *request);
    request->drain = opened;
    int length = asprintf(&request->data, "%s\n", phase->table);
    if (length < 0) abort();
    request->length = (size_t)length;
    return request;
}

static bool receive_all(void *statement, drain *drain) {
    (void)statement;
    uint64_t size, held = 0;
    while (held < sizeof size) {
        if (!drain_receive(drain)) return false;
        held = drain->bytes;
    }
    memcpy(&size, drain->end - held, sizeof size); /* so few bytes lie together, also when they came in pieces */
    if (size == UINT64_MAX) return rp_fail(RP_SQL_ERROR, "", "netcat's server cannot read the table");
    for (size = le64toh(size) + sizeof size; drain->bytes < size;)
        if (!drain_receive(drain)) return false;
    return true;
}

static bool netcat_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    (void)phase, (void)row;
    return drain_execute(statement, sink, receive_all);
}

static void netcat_facts(void *connection, rp_facts *facts) {
    (void)connection;
    rp_driver_version(facts, "recv(2)");
    rp_setting(facts, "sender", "64 KiB read(2) and send(2)");
}

const rp_adapter rp_adapter_here = {
    .driver = "netcat",
    .open = netcat_open,
    .close = netcat_close,
    .prepare = netcat_prepare,
    .execute = netcat_execute,
    .release = drain_release,
    .facts = netcat_facts,
};
