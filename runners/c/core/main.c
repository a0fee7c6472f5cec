/* Start, the two threads, and the end: one thread watches stdin, the other, the loop thread, answers requests.

   Adapters run in the loop thread only. With `--thread main` that is the process's main thread, on which some embedded
   engines pay extra; otherwise the main thread watches. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "session.h"

#define RP_LINE_BYTES (1 << 20)
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

static void *answer_requests(void *nothing) {
    static rp_session session;
    rp_writer reply = {0};
    bool goodbye = false;
    session.adapter = &rp_adapter_here;
    while (!goodbye) {
        pthread_mutex_lock(&lock);
        while (first_waiting == NULL)
            pthread_cond_wait(&arrived, &lock);
        waiting_line *line = first_waiting;
        first_waiting = line->next;
        if (first_waiting == NULL) last_waiting = &first_waiting;
        waiting--;
        pthread_mutex_unlock(&lock);
        rp_answer(&session, line->text, line->length, &reply, &goodbye);
        free(line);
        write_all(reply.data, reply.length);
    }
    _exit(0);
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

/* End of stdin means stop at once, also in the middle of a sample. */
static void *watch_stdin(void *nothing) {
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
            if (newline > start && !too_long) hand_over(start, (size_t)(newline - start));
            if (too_long) hand_over("", 0); /* answered as no JSON */
            too_long = false;
            start = newline + 1;
        }
        filled -= (size_t)(start - lines);
        memmove(lines, start, filled);
        if (filled < sizeof lines) continue;
        too_long = true;
        filled = 0;
    }
    return nothing;
}

static _Noreturn void usage(void) {
    fprintf(stderr, "usage: runner --adapter %s [--thread worker|main]\n", rp_adapter_here.driver);
    exit(2);
}

/* Whether the main thread answers the requests. */
static bool read_arguments(int count, char **arguments) {
    bool on_main = false;
    for (int i = 1; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        bool thread = strcmp(arguments[i], "--thread") == 0;
        on_main = thread ? strcmp(value, "main") == 0 : on_main;
        if (thread ? !on_main && strcmp(value, "worker") != 0
                   : strcmp(arguments[i], "--adapter") != 0 || strcmp(value, rp_adapter_here.driver) != 0)
            usage();
    }
    return on_main;
}

int main(int count, char **arguments) {
    pthread_t other;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    replies = dup(STDOUT_FILENO);
    if (replies < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) die("stdout and stderr must be open");
    bool on_main = read_arguments(count, arguments);
    if (pthread_create(&other, NULL, on_main ? watch_stdin : answer_requests, NULL) != 0)
        die("no thread can be started");
    if (on_main)
        answer_requests(NULL);
    else
        watch_stdin(NULL);
}
