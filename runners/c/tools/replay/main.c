/* The replay server: answers the requests of a tape (docs/tape.md) with what was recorded, on loopback.

   replay [--unix PATH] [--tcp PORT] [--chunk-bytes N] [--late-ns N] [--check yes]

   PORT 0 is any free one. Chunk-bytes is the most that one system call sends, 0 any number. Before it answers what a
   client waits for it sleeps for late-ns (known-answer tests). It reads the tape's content
   from stdin: eight bytes of length, then the content. It prints `ready tcp=PORT requests=N ambiguous=N`, serves, and
   ends with its parent or its stdin, when it prints `answered=N refused=N`. A tape that is invalid is refused with one
   line on stderr and exit code 2. --check yes: it reads the tape, prints the same with port 0, and ends. */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../tool.h"
#include "replay.h"

static void read_exactly(uint8_t *to, size_t length) {
    while (length > 0) {
        ssize_t count = read(STDIN_FILENO, to, length);
        if (count <= 0) {
            if (count < 0 && errno == EINTR) continue;
            fprintf(stderr, "the tape ends early\n");
            exit(2);
        }
        to += count;
        length -= (size_t)count;
    }
}

static uint8_t *read_content(size_t *length) {
    uint8_t head[8], *content;
    *length = 0;
    read_exactly(head, sizeof head);
    for (int i = 7; i >= 0; i--)
        *length = *length << 8 | head[i];
    content = malloc(*length + 1);
    if (content == NULL) {
        fprintf(stderr, "the tape does not fit into memory: %zu bytes\n", *length);
        exit(2);
    }
    read_exactly(content, *length);
    return content;
}

static _Noreturn void usage(void) {
    fprintf(stderr, "usage: replay [--unix PATH] [--tcp PORT] [--chunk-bytes N] [--late-ns N] [--check yes]\n");
    exit(2);
}

int main(int count, char **arguments) {
    struct options options = {0};
    struct tape tape = {0};
    struct answers answers;
    bool check = false;
    const char *why;
    size_t length;
    uint8_t *content;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count % 2 == 0) usage();
    for (int i = 1; i + 1 < count; i += 2) {
        const char *name = arguments[i], *value = arguments[i + 1];
        if (strcmp(name, "--unix") == 0)
            options.unix_path = value;
        else if (strcmp(name, "--tcp") == 0)
            options.port = atoi(value);
        else if (strcmp(name, "--chunk-bytes") == 0)
            options.chunk_bytes = strtoull(value, NULL, 10);
        else if (strcmp(name, "--late-ns") == 0)
            options.late_ns = strtoull(value, NULL, 10);
        else if (strcmp(name, "--check") == 0)
            check = true;
        else
            usage();
    }
    content = read_content(&length);
    why = tape_read(&tape, content, length);
    if (why == NULL) why = answers_make(&answers, &tape);
    if (why != NULL) {
        fprintf(stderr, "%s\n", why);
        return 2;
    }
    if (!check) serve(&answers, &options);
    printf("ready tcp=0 requests=%zu ambiguous=%zu\n", answers.requests, answers.ambiguous);
    return 0;
}
