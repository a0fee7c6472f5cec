/* The stand-in for an IBM i: the servers' side of the conversation with IBM Toolbox for Java (database, sign-on, DDM),
   over tables in memory, so that the driver's side can be measured. It is no Db2 for i: docs/stand-in.md says what it
   answers.

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

enum { FIRST_BYTES = 6, HEAD_BYTES = 20, DDM_HEAD_BYTES = 10, INPUT_BYTES = 65536, LONGEST = 64 << 20 };

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

struct client {
    struct connection *connection; /* to the database host server, or to the sign-on server */
    struct records *records;       /* over DDM, NULL: it speaks no DDM */
};

/* One port serves all: of a first request, which is short, only a length in DDM's two bytes is not 0 there. */
static void begin(struct client *client, const uint8_t *first) {
    if (get16(first) != 0)
        client->records = records_new(&database);
    else
        client->connection = connection_new(&database);
}

static const struct reply *answer_to(struct client *client, const uint8_t *request, size_t length) {
    return client->records != NULL ? records_answer(client->records, request, length)
                                   : connection_answer(client->connection, request, length);
}

static bool answer_one(int socket, struct client *client, const uint8_t *request, size_t length) {
    const struct reply *reply;
    int one = 1;
    pthread_mutex_lock(&lock);
    reply = answer_to(client, request, length);
    pthread_mutex_unlock(&lock);
    if (reply != NULL) return send_all(socket, reply->at, reply->length);
    /* The driver's next request waits for this one's acknowledgement, which the kernel delays. */
    setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
    return true;
}

static void converse(int socket, struct client *client) {
    struct input input = {0};
    size_t needed = FIRST_BYTES;
    bool on = true;
    while (on && receive(socket, &input, needed)) {
        size_t at = 0;
        needed = FIRST_BYTES;
        while (on && input.filled - at >= FIRST_BYTES) {
            if (client->records == NULL && client->connection == NULL) begin(client, input.at + at);
            size_t length = client->records != NULL ? get16(input.at + at) : get32(input.at + at);
            on = length >= (client->records != NULL ? DDM_HEAD_BYTES : HEAD_BYTES) && length <= LONGEST;
            needed = length;
            if (!on || input.filled - at < length) break;
            on = answer_one(socket, client, input.at + at, length);
            at += length;
            needed = FIRST_BYTES;
        }
        input.filled -= at;
        if (at > 0 && input.filled > 0) memmove(input.at, input.at + at, input.filled);
    }
    free(input.at);
}

static void *serve(void *passed) {
    int socket = (int)(intptr_t)passed;
    struct client client = {0};
    converse(socket, &client);
    pthread_mutex_lock(&lock);
    if (client.connection != NULL) connection_free(client.connection);
    records_free(client.records);
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
