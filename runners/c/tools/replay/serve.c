/* The connections: one thread serves them all, for a reply costs less than a switch between threads. */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../tool.h"
#include "replay.h"

#define INPUT_BYTES 65536u
#define SERVER_BUFFER_BYTES 8192u        /* a PostgreSQL server sends when its buffer of that size is full */
#define WAITING_BYTES ((size_t)64 << 20) /* a client that does not read is not read either */
#define EVENTS 64

static struct connection *connections;
static int ready;
static uint32_t opened;
static size_t answered;

static void watch(struct connection *connection, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = connection};
    if (events == connection->events) return;
    connection->events = events;
    epoll_ctl(ready, EPOLL_CTL_MOD, connection->socket, &event);
}

static void hang_up(struct connection *connection) {
    struct connection **link = &connections;
    while (*link != connection)
        link = &(*link)->next;
    *link = connection->next;
    close(connection->socket);
    if (connection->logged_in) session_end(&connection->session);
    output_free(&connection->output);
    free(connection->input);
    free(connection);
}

static void accept_one(const struct answers *answers, int listener) {
    struct epoll_event event = {.events = EPOLLIN};
    struct connection *connection;
    int one = 1, socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) return;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); /* a unix socket refuses it: no matter */
    connection = calloc(1, sizeof *connection);
    if (connection == NULL) abort();
    *connection = (struct connection){.next = connections, .socket = socket, .number = ++opened, .events = EPOLLIN};
    connections = connection;
    event.data.ptr = connection;
    if (epoll_ctl(ready, EPOLL_CTL_ADD, socket, &event) != 0) die("epoll");
    greet(answers, connection);
    if (!output_send(&connection->output, socket, 0)) hang_up(connection);
}

static void reply_with(const struct answers *answers, struct connection *connection, const struct question *question,
                       const struct record *record) {
    answered++;
    if (answers->tape->protocol == DRDA) {
        if (record->failed) connection->skipping = connection->chained;
        connection->flushing = connection->flushing || connection->skipping;
        drda_answer(connection, record->reply);
        return;
    }
    if (answers->tape->protocol == POSTGRESQL) {
        postgresql_learn(&connection->session, question, record);
        connection->skipping = record->failed && question->type != 'Q';
        output_tape(&connection->output, record->reply);
        return;
    }
    uint32_t number = mysql_learn(&connection->session, question, record);
    if (number != 0 && record->reply.length > 9) { /* the statement's number is this connection's own */
        uint8_t head[9];
        memcpy(head, record->reply.at, 5);
        for (int i = 0; i < 4; i++)
            head[5 + i] = (uint8_t)(number >> 8 * i);
        output_copy(&connection->output, head, sizeof head);
        output_tape(&connection->output, (struct span){record->reply.at + 9, record->reply.length - 9});
    } else
        output_tape(&connection->output, record->reply);
}

static void refuse_one(const struct answers *answers, struct connection *connection, uint8_t type, const char *why,
                       const char *what) {
    refuse(answers, connection, why, what);
    if (answers->tape->protocol != POSTGRESQL) return;
    if (connection->session.state == 'T') connection->session.state = 'E';
    if (type == 'Q') {
        uint8_t end[6] = "Z\0\0\0\5";
        end[5] = connection->session.state;
        output_copy(&connection->output, end, sizeof end);
    } else
        connection->skipping = true;
}

static void one_message(const struct answers *answers, struct connection *connection, uint8_t type, struct span body) {
    struct session *session = &connection->session;
    static struct question question; /* one thread */
    const struct record *record;
    if (answers->tape->protocol == DRDA) {
        bool chained = drda_chained(body);
        if (connection->skipping) {
            connection->skipping = chained;
            return;
        }
        memcpy(connection->correlation, body.at + 4, sizeof connection->correlation);
        connection->chained = chained;
        connection->command = drda_command(body);
        connection->flushing = connection->flushing || !chained;
        drda_ask(session, body, &question);
    } else if (answers->tape->protocol == POSTGRESQL) {
        if (connection->skipping && type != 'S' && type != 'X') return;
        if (type == 'S') connection->skipping = false;
        connection->flushing = connection->flushing || type == 'S' || type == 'H' || type == 'Q';
        postgresql_ask(session, type, body, &question);
    } else {
        connection->flushing = true;
        mysql_ask(session, body, &question);
    }
    switch (question.meaning) {
    case NO_REPLY: break;
    case FAREWELL: connection->closing = true; break;
    case UNFORESEEN: refuse_one(answers, connection, type, question.why, question.text); break;
    case DONE:
        if (answers->tape->protocol == DRDA) {
            drda_answer(connection, (struct span){question.reply, question.reply_bytes});
            break;
        }
        output_copy(&connection->output, question.reply, question.reply_bytes);
        if (type == 'S' && session->state == IDLE) session->chain = (struct key){0, 0};
        break;
    case LOOK_UP:
        record = answers_find(answers, session, question.key);
        if (record != NULL)
            reply_with(answers, connection, &question, record);
        else if (answers->tape->protocol != DRDA || !drda_let_in(connection, answers->tape))
            refuse_one(answers, connection, type,
                       connection->stranger ? "another driver was recorded, or other settings of it"
                                            : "this request was not recorded",
                       question.text);
    }
}

/* The bytes that one message takes, 0: more is needed, or the connection is closing. */
static size_t next_message(const struct answers *answers, struct connection *connection, const uint8_t *at,
                           size_t left) {
    bool mysql = answers->tape->protocol == MYSQL;
    size_t head = mysql ? 4 : 5, size;
    if (!connection->logged_in) return log_in(answers, connection, at, left);
    if (answers->tape->protocol == DRDA) {
        head = 0;
        size = drda_bytes(at, left);
        if (size == SIZE_MAX) connection->closing = true;
        if (size == SIZE_MAX || (size == 0 && left <= answers->tape->longest_request + INPUT_BYTES)) return 0;
        if (size == 0) size = left;
    } else {
        if (left < head) return 0;
        size = mysql ? (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16
                     : (size_t)at[1] << 24 | (size_t)at[2] << 16 | (size_t)at[3] << 8 | (size_t)at[4];
        if (!mysql && size < 4) {
            connection->closing = true;
            return 0;
        }
        size = mysql ? size + 4 : size + 1;
    }
    if (size > answers->tape->longest_request + INPUT_BYTES) {
        connection->flushing = connection->closing = true;
        refuse(answers, connection, "this request is longer than any that was recorded", "");
        return 0;
    }
    if (left < size) return 0;
    one_message(answers, connection, at[0], (struct span){at + head, size - head});
    return size;
}

static bool full(const struct connection *connection) {
    return connection->output.waiting >= WAITING_BYTES;
}

/* False when the connection is over. */
static bool converse(const struct answers *answers, struct connection *connection, const struct options *options) {
    size_t at, taken;
    bool stopped;
    do {
        at = 0;
        while (!connection->closing && !full(connection) &&
               (taken = next_message(answers, connection, connection->input + at, connection->filled - at)) > 0)
            at += taken;
        connection->filled -= at;
        if (at > 0 && connection->filled > 0) memmove(connection->input, connection->input + at, connection->filled);
        stopped = full(connection);
        if (connection->flushing || connection->closing || connection->output.waiting >= SERVER_BUFFER_BYTES) {
            connection->flushing = connection->output.waiting > 0;
            if (options->late_ns > 0 && connection->flushing)
                nanosleep(&(struct timespec){(time_t)(options->late_ns / 1000000000u),
                                             (long)(options->late_ns % 1000000000u)},
                          NULL);
            if (!output_send(&connection->output, connection->socket, options->chunk_bytes)) return false;
            connection->flushing = connection->flushing && connection->output.waiting > 0;
        }
    } while (stopped && connection->output.waiting == 0); /* no event will come for what was not taken */
    return !connection->closing || connection->output.waiting > 0;
}

static bool receive(struct connection *connection) {
    ssize_t count;
    if (connection->room - connection->filled < INPUT_BYTES / 2) {
        connection->room = connection->room * 2 + INPUT_BYTES;
        connection->input = realloc(connection->input, connection->room);
        if (connection->input == NULL) abort();
    }
    count = recv(connection->socket, connection->input + connection->filled, connection->room - connection->filled, 0);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    connection->filled += (size_t)count;
    return true;
}

static void serve_one(const struct answers *answers, const struct options *options, struct connection *connection,
                      uint32_t events) {
    bool on = !(events & EPOLLERR);
    if (on && events & EPOLLOUT) on = output_send(&connection->output, connection->socket, options->chunk_bytes);
    if (on && events & (EPOLLIN | EPOLLHUP)) on = receive(connection);
    if (on) on = converse(answers, connection, options);
    if (!on)
        hang_up(connection);
    else
        watch(connection, connection->output.waiting == 0 ? EPOLLIN : full(connection) ? EPOLLOUT : EPOLLIN | EPOLLOUT);
}

static void add_listener(int listener, int *known) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = known};
    *known = listener;
    if (listener < 0 || epoll_ctl(ready, EPOLL_CTL_ADD, listener, &event) != 0) die("epoll");
}

static void farewell(void) {
    printf("answered=%zu refused=%zu\n", answered, refusals);
    fflush(stdout);
    _exit(0);
}

void serve(const struct answers *answers, const struct options *options) {
    static int listeners[3]; /* TCP, unix, our stdin: its end is ours */
    struct epoll_event events[EVENTS];
    int port = options->port;
    ready = epoll_create1(EPOLL_CLOEXEC);
    if (ready < 0) die("epoll");
    add_listener(listen_on_loopback(&port), &listeners[0]);
    if (options->unix_path != NULL) add_listener(listen_on_unix(options->unix_path), &listeners[1]);
    add_listener(STDIN_FILENO, &listeners[2]);
    printf("ready tcp=%d requests=%zu ambiguous=%zu\n", port, answers->requests, answers->ambiguous);
    fflush(stdout);
    for (;;) {
        int count = epoll_wait(ready, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) die("epoll");
        for (int i = 0; i < count; i++) {
            char ignored[256];
            if (events[i].data.ptr == &listeners[2]) {
                if (read(STDIN_FILENO, ignored, sizeof ignored) <= 0) farewell();
            } else if (events[i].data.ptr == &listeners[0] || events[i].data.ptr == &listeners[1])
                accept_one(answers, *(int *)events[i].data.ptr);
            else
                serve_one(answers, options, events[i].data.ptr, events[i].events);
        }
    }
}
