/* Ping-pong with the ping server (tools/echo.c): one byte there, one byte back. The least that any client of a server
   pays. writes=2: the request as two small writes on a connection that leaves Nagle's algorithm on, as a careless
   driver sends it (the finding delayed-acknowledgement). late_ns=N: it sleeps that long before it reads the answer. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "adapter.h"

typedef struct ping_connection {
    int socket;
    bool twice;
    uint64_t late_ns;
} ping_connection;

static int connect_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int opened = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened >= 0 && connect(opened, (struct sockaddr *)&address, sizeof address) == 0) return opened;
    if (opened >= 0) close(opened);
    return -1;
}

static int connect_tcp(const char *host, int port, int no_delay) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened >= 0 && setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay) == 0 &&
        connect(opened, (struct sockaddr *)&address, sizeof address) == 0)
        return opened;
    if (opened >= 0) close(opened);
    return -1;
}

static void *ping_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    ping_connection *connection = calloc(1, sizeof *connection);
    connection->twice = rp_option_is(options, "writes", "2");
    connection->late_ns = (uint64_t)rp_option_integer(options, "late_ns", 0);
    connection->socket = rp_option_is(options, "transport", "unix")
                             ? connect_unix(rp_option(options, "socket", ""))
                             : connect_tcp(rp_option(options, "host", "127.0.0.1"),
                                           (int)rp_option_integer(options, "port", 0), !connection->twice);
    if (connection->socket >= 0) return connection;
    rp_fail_errno(RP_CONNECT_ERROR, "the ping server");
    free(connection);
    return NULL;
}

static void ping_close(void *opened) {
    ping_connection *connection = opened;
    close(connection->socket);
    free(connection);
}

static void *ping_prepare(void *connection, rp_phase *phase) {
    if (phase->kind == RP_NOTHING) return connection;
    rp_fail(RP_UNSUPPORTED, "", "the ping adapter serves phases of kind null only");
    return NULL;
}

static bool ping_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    ping_connection *connection = statement;
    char more = '+', byte = '.';
    (void)phase, (void)row, (void)sink;
    if (connection->twice && send(connection->socket, &more, 1, MSG_NOSIGNAL) != 1)
        return rp_fail_errno(RP_CONNECT_ERROR, "send");
    if (send(connection->socket, &byte, 1, MSG_NOSIGNAL) != 1) return rp_fail_errno(RP_CONNECT_ERROR, "send");
    if (connection->late_ns > 0)
        nanosleep(
            &(struct timespec){(time_t)(connection->late_ns / 1000000000u), (long)(connection->late_ns % 1000000000u)},
            NULL);
    ssize_t count = recv(connection->socket, &byte, 1, 0);
    if (count == 0) return rp_fail(RP_CONNECT_ERROR, "", "the ping server closed the connection");
    if (count < 0) return rp_fail_errno(RP_CONNECT_ERROR, "recv");
    return true;
}

static void ping_release(void *statement) {
    (void)statement;
}

static void ping_facts(void *opened, rp_facts *facts) {
    ping_connection *connection = opened;
    int no_delay = 0;
    socklen_t length = sizeof no_delay;
    rp_driver_version(facts, "send(2), recv(2)");
    if (getsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &no_delay, &length) == 0)
        rp_setting(facts, "TCP_NODELAY", no_delay ? "on" : "off");
}

const rp_adapter rp_adapter_here = {
    .driver = "ping",
    .open = ping_open,
    .close = ping_close,
    .prepare = ping_prepare,
    .execute = ping_execute,
    .release = ping_release,
    .facts = ping_facts,
};
