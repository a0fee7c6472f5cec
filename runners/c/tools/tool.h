/* What the programs beside the runners share: giving up, the clock, and a port of 127.0.0.1 or another
   address, a unix socket. */
#ifndef RP_TOOL_H
#define RP_TOOL_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

static inline _Noreturn void die(const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(1);
}

static inline uint64_t ns_of(struct timespec time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return ns_of(now);
}

static inline uint64_t now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

/* A listener on `port` of this address of ours, 0: any free one; sets the port that it got. */
static inline int listen_on(const char *where, int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    errno = EINVAL;
    if (inet_pton(AF_INET, where, &address.sin_addr) != 1) die(where);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 128) != 0)
        die(where);
    if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) die("getsockname");
    *port = ntohs(address.sin_port);
    return listener;
}

static inline int listen_on_loopback(int *port) {
    return listen_on("127.0.0.1", port);
}

/* A listener on a unix socket of this name. */
static inline int listen_on_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        die(path);
    }
    strcpy(address.sun_path, path);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0)
        die(path);
    return listener;
}

#endif
