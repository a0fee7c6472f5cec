/* Start, requests and the end.

   With `--thread main`, the default, the process has one thread, as most programs have: with a second one every lock of
   the C library would cost more. A signal then says that stdin has ended in the middle of a sample. With `--thread
   worker` the main thread watches stdin and another one, the loop thread, answers requests, for embedded engines that
   pay extra on the main thread. Adapters run in the thread that answers only. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "session.h"

#define RP_LINE_BYTES (16 << 20)
#define RP_MOST_WAITING 64

typedef struct waiting_line {
    struct waiting_line *next;
    size_t length;
    char text[];
} waiting_line;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static waiting_line *first_waiting, **last_waiting = &first_waiting;
static int waiting, replies;

static _Noreturn void die(const char *why) {
    fprintf(stderr, "rowpath runner: %s\n", why);
    _exit(1);
}

static void write_all(const char *data, size_t length) {
    while (length > 0) {
        ssize_t written = write(replies, data, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) die("the controller reads no more");
        data += written;
        length -= (size_t)written;
    }
}

static void answer(const char *text, size_t length) {
    static rp_session session = {.adapter = &rp_adapter_here};
    static rp_writer reply;
    bool goodbye = false;
    rp_answer(&session, text, length, &reply, &goodbye);
    write_all(reply.data, reply.length);
    if (goodbye) _exit(0);
}

static void *answer_what_waits(void *nothing) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (first_waiting == NULL)
            pthread_cond_wait(&arrived, &lock);
        waiting_line *line = first_waiting;
        first_waiting = line->next;
        if (first_waiting == NULL) last_waiting = &first_waiting;
        waiting--;
        pthread_mutex_unlock(&lock);
        answer(line->text, line->length);
        free(line);
    }
    return nothing;
}

static void hand_over(const char *text, size_t length) {
    waiting_line *line = malloc(sizeof *line + length);
    if (line == NULL) die("out of memory");
    *line = (waiting_line){.length = length};
    memcpy(line->text, text, length);
    pthread_mutex_lock(&lock);
    if (++waiting > RP_MOST_WAITING) die("too many requests at once");
    *last_waiting = line;
    last_waiting = &line->next;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
}

/* Ends the process with stdin. */
static _Noreturn void read_requests(void (*take)(const char *text, size_t length)) {
    static char lines[RP_LINE_BYTES];
    size_t filled = 0;
    bool too_long = false; /* what is read belongs to a request over the limit, which is not kept */
    for (;;) {
        ssize_t count = read(STDIN_FILENO, lines + filled, sizeof lines - filled);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) _exit(0);
        filled += (size_t)count;
        char *start = lines, *newline;
        while ((newline = memchr(start, '\n', filled - (size_t)(start - lines))) != NULL) {
            if (newline > start && !too_long) take(start, (size_t)(newline - start));
            if (too_long) take("", 0); /* answered as no JSON */
            too_long = false;
            start = newline + 1;
        }
        filled -= (size_t)(start - lines);
        memmove(lines, start, filled);
        if (filled < sizeof lines) continue;
        too_long = true;
        filled = 0;
    }
}

static void end_with_stdin(int number) {
    (void)number;
    int kept = errno;
    struct pollfd input = {.fd = STDIN_FILENO};
    if (poll(&input, 1, 0) > 0 && (input.revents & POLLHUP)) _exit(0);
    errno = kept;
}

/* Only the main thread gets the signal: clients' and drivers' own threads are not interrupted. */
static void watch_stdin(void) {
    struct sigaction action = {.sa_handler = end_with_stdin, .sa_flags = SA_RESTART};
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};
    sigaction(SIGIO, &action, NULL);
    if (fcntl(STDIN_FILENO, F_SETOWN_EX, &owner) < 0 ||
        fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_ASYNC) < 0)
        die("stdin cannot be watched");
}

static _Noreturn void usage(void) {
    fprintf(stderr, "usage: runner --adapter %s [--thread main|worker]\n", rp_adapter_here.driver);
    exit(2);
}

/* Whether the main thread answers the requests. */
static bool read_arguments(int count, char **arguments) {
    bool on_main = true;
    for (int i = 1; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        bool thread = strcmp(arguments[i], "--thread") == 0;
        on_main = thread ? strcmp(value, "worker") != 0 : on_main;
        if (thread ? on_main && strcmp(value, "main") != 0
                   : strcmp(arguments[i], "--adapter") != 0 || strcmp(value, rp_adapter_here.driver) != 0)
            usage();
    }
    return on_main;
}

int main(int count, char **arguments) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    replies = dup(STDOUT_FILENO);
    if (replies < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) die("stdout and stderr must be open");
    if (read_arguments(count, arguments)) {
        watch_stdin();
        read_requests(answer);
    }
    pthread_t loop;
    if (pthread_create(&loop, NULL, answer_what_waits, NULL) != 0) die("no thread can be started");
    read_requests(hand_over);
}
