/* Start, the two threads, and the end: the main thread watches stdin, the loop thread answers requests.

   Adapters run in the loop thread only: some embedded engines pay extra on a process's main thread. */
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
static _Noreturn void watch_stdin(void) {
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
}

int main(int count, char **arguments) {
    pthread_t loop;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    replies = dup(STDOUT_FILENO);
    if (replies < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) die("stdout and stderr must be open");
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "--adapter") != 0 || ++i == count ||
            strcmp(arguments[i], rp_adapter_here.driver) != 0) {
            fprintf(stderr, "usage: runner --adapter %s\n", rp_adapter_here.driver);
            return 2;
        }
    if (pthread_create(&loop, NULL, answer_requests, NULL) != 0) die("no thread can be started");
    watch_stdin();
}
