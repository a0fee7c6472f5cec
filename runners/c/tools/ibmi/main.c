/* The stand-in for an IBM i: the database host server's side of the conversation with IBM Toolbox for Java, over tables
   in memory, so that the driver's side can be measured. It is no Db2 for i: docs/stand-in.md says what it answers.

   ibmi [--tcp PORT]

   It listens on 127.0.0.1; PORT 0 is any free one. The first line of its stdin is the hexadecimal token of the only
   login (login.c). It prints `ready tcp=PORT`, serves, a thread for each connection, and ends with its parent or its
   stdin. What it refuses stands on stderr. */
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../tool.h"
#include "ibmi.h"

enum { HEAD_BYTES = 20, INPUT_BYTES = 65536, LONGEST = 64 << 20 };

static struct database database;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool send_all(int socket, const uint8_t *from, size_t length) {
    while (length > 0) {
        ssize_t count = send(socket, from, length, MSG_NOSIGNAL);
        if (count <= 0) return false;
        from += count;
        length -= (size_t)count;
    }
    return true;
}

struct input {
    uint8_t *at;
    size_t filled, room;
};

/* More of the requests; false when the connection is over. */
static bool receive(int socket, struct input *input, size_t needed) {
    ssize_t count;
    if (needed > input->room) {
        input->room = needed + INPUT_BYTES;
        input->at = realloc(input->at, input->room);
        if (input->at == NULL) abort();
    }
    count = recv(socket, input->at + input->filled, input->room - input->filled, 0);
    if (count <= 0) return false;
    input->filled += (size_t)count;
    return true;
}

static bool answer_one(int socket, struct connection *connection, const uint8_t *request, size_t length) {
    const struct reply *reply;
    int one = 1;
    pthread_mutex_lock(&lock);
    reply = connection_answer(connection, request, length);
    pthread_mutex_unlock(&lock);
    if (reply != NULL) return send_all(socket, reply->at, reply->length);
    /* The driver's next request waits for this one's acknowledgement, which the kernel delays. */
    setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
    return true;
}

static void converse(int socket, struct connection *connection) {
    struct input input = {0};
    size_t needed = HEAD_BYTES;
    bool on = true;
    while (on && receive(socket, &input, needed)) {
        size_t at = 0;
        needed = HEAD_BYTES;
        while (on && input.filled - at >= HEAD_BYTES) {
            size_t length = get32(input.at + at);
            on = length >= HEAD_BYTES && length <= LONGEST;
            needed = length;
            if (!on || input.filled - at < length) break;
            on = answer_one(socket, connection, input.at + at, length);
            at += length;
            needed = HEAD_BYTES;
        }
        input.filled -= at;
        if (at > 0 && input.filled > 0) memmove(input.at, input.at + at, input.filled);
    }
    free(input.at);
}

static void *serve(void *passed) {
    int socket = (int)(intptr_t)passed;
    struct connection *connection = connection_new(&database);
    converse(socket, connection);
    pthread_mutex_lock(&lock);
    connection_free(connection);
    pthread_mutex_unlock(&lock);
    close(socket);
    return NULL;
}

static void *accept_all(void *passed) {
    int listener = (int)(intptr_t)passed, one = 1;
    for (;;) {
        int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_t thread;
        if (socket < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            die("accept");
        }
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)socket) != 0) die("thread");
        pthread_detach(thread);
    }
}

int main(int count, char **arguments) {
    int port = 0;
    char ignored[256];
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 1; i < count; i += 2) {
        if (i + 1 == count || strcmp(arguments[i], "--tcp") != 0) {
            fprintf(stderr, "usage: ibmi [--tcp PORT]\n");
            return 2;
        }
        port = atoi(arguments[i + 1]);
    }
    if (!login_expect(stdin)) {
        fprintf(stderr, "ibmi: no token on stdin\n");
        return 2;
    }
    int listener = listen_on_loopback(&port);
    if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener) != 0) die("thread");
    printf("ready tcp=%d\n", port);
    fflush(stdout);
    while (read(STDIN_FILENO, ignored, sizeof ignored) > 0)
        continue;
    return 0;
}
