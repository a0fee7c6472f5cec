/* The ping server: sends back what it receives, on a unix socket and on a port of 127.0.0.1. A `+` means that more of
   the request follows, and is not answered.

   echo [--unix PATH] [--tcp PORT] [--listen ADDRESS] [--cpu N] [--burn-ns N] [--stall-ns N] [--stall-every N]

   PORT 0 is any free one, of 127.0.0.1 or ADDRESS. It prints one line, `ready tcp=PORT` (0 without TCP), and ends with
   its parent or its stdin. Each answer burns burn-ns of CPU; each stall-every-th is preceded by a sleep of stall-ns
   (known-answer tests). */
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tool.h"

static uint64_t burn_ns, stall_ns, stall_every;
static atomic_uint_fast64_t answers;

static void cost(void) {
    if (stall_every > 0 && (atomic_fetch_add(&answers, 1) + 1) % stall_every == 0)
        nanosleep(&(struct timespec){(time_t)(stall_ns / 1000000000u), (long)(stall_ns % 1000000000u)}, NULL);
    if (burn_ns > 0)
        for (uint64_t start = now_ns(); now_ns() - start < burn_ns;)
            continue;
}

static void *serve(void *passed) {
    int connection = (int)(intptr_t)passed;
    char bytes[4096];
    ssize_t count;
    while ((count = recv(connection, bytes, sizeof bytes, 0)) > 0) {
        char *answer = memrchr(bytes, '+', (size_t)count);
        answer = answer == NULL ? bytes : answer + 1;
        count -= answer - bytes;
        if (count == 0) continue;
        cost();
        if (send(connection, answer, (size_t)count, MSG_NOSIGNAL) != count) break;
    }
    close(connection);
    return NULL;
}

static void *accept_all(void *passed) {
    int listener = (int)(intptr_t)passed, one = 1;
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        pthread_t thread;
        if (connection < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            die("accept");
        }
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); /* a unix socket refuses it: no matter */
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) != 0) die("thread");
        pthread_detach(thread);
    }
}

static void serve_on(int listener) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener) != 0) die("thread");
}

static void pin(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)cpu, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) die("pinning");
}

int main(int count, char **arguments) {
    const char *path = NULL, *where = "127.0.0.1";
    int port = -1;
    char ignored[256];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 1; i + 1 < count; i += 2) {
        const char *name = arguments[i], *value = arguments[i + 1];
        if (strcmp(name, "--unix") == 0)
            path = value;
        else if (strcmp(name, "--tcp") == 0)
            port = atoi(value);
        else if (strcmp(name, "--listen") == 0)
            where = value;
        else if (strcmp(name, "--cpu") == 0)
            pin(atoi(value));
        else if (strcmp(name, "--burn-ns") == 0)
            burn_ns = strtoull(value, NULL, 10);
        else if (strcmp(name, "--stall-ns") == 0)
            stall_ns = strtoull(value, NULL, 10);
        else if (strcmp(name, "--stall-every") == 0)
            stall_every = strtoull(value, NULL, 10);
        else
            count = 0;
    }
    if (count % 2 == 0) {
        fprintf(stderr, "usage: echo [--unix PATH] [--tcp PORT] [--listen ADDRESS] [--cpu N] [--burn-ns N] "
                        "[--stall-ns N] [--stall-every N]\n");
        return 2;
    }
    if (path != NULL) serve_on(listen_on_unix(path));
    if (port >= 0) serve_on(listen_on(where, &port));
    printf("ready tcp=%d\n", port >= 0 ? port : 0);
    fflush(stdout);
    while (read(STDIN_FILENO, ignored, sizeof ignored) > 0)
        continue;
    _exit(0);
}
