/* A file through a socket, as netcat sends it: read into a buffer, sent from it, and nothing else.

   netcat_server --folder DIR [--tcp PORT] [--listen ADDRESS]

   The first line of its stdin is the secret that a client sends first, as a line, and is answered by an empty line; who
   sends another is cut off. Each line after it is the name of a table: the answer is the size of DIR/TABLE.tbl (8
   bytes, little endian; all ones: it cannot be read) and its bytes. PORT 0 is any free one. It prints
   one line, `ready tcp=PORT`, and ends with its parent or its stdin. */
#include <endian.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

enum { MOST_LINE = 256, BUFFER_BYTES = 64 << 10 };

static const char *folder;
static char secret[MOST_LINE];

static bool send_all(int to, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(to, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* A line without its end, byte by byte: what follows it is another line. */
static bool take_line(int from, char *line) {
    for (size_t length = 0; length < MOST_LINE; length++) {
        if (recv(from, line + length, 1, 0) != 1) return false;
        if (line[length] == '\n') {
            line[length] = '\0';
            return true;
        }
    }
    return false;
}

static bool send_file(int to, const char *table) {
    char name[4096], buffer[BUFFER_BYTES];
    struct stat about;
    if (strchr(table, '/') != NULL || snprintf(name, sizeof name, "%s/%s.tbl", folder, table) >= (int)sizeof name)
        return false;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && fstat(file, &about) == 0;
    uint64_t size = good ? htole64((uint64_t)about.st_size) : UINT64_MAX;
    good = send_all(to, (const char *)&size, sizeof size) && good;
    ssize_t count = 0;
    while (good && (count = read(file, buffer, sizeof buffer)) > 0)
        good = send_all(to, buffer, (size_t)count);
    if (file >= 0) close(file);
    return good && count == 0;
}

static void *serve(void *passed) {
    int connection = (int)(intptr_t)passed;
    char line[MOST_LINE];
    if (take_line(connection, line) && strcmp(line, secret) == 0 && send_all(connection, "\n", 1))
        while (take_line(connection, line) && send_file(connection, line))
            continue;
    close(connection);
    return NULL;
}

static void *accept_all(void *passed) {
    int listener = (int)(intptr_t)passed, one = 1;
    for (;;) {
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_t thread;
        if (connection < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            die("accept");
        }
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) != 0) die("thread");
        pthread_detach(thread);
    }
}

int main(int count, char **arguments) {
    const char *where = "127.0.0.1";
    int port = 0;
    char ignored[256];
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 1; i + 1 < count; i += 2) {
        const char *name = arguments[i], *value = arguments[i + 1];
        if (strcmp(name, "--folder") == 0)
            folder = value;
        else if (strcmp(name, "--tcp") == 0)
            port = atoi(value);
        else if (strcmp(name, "--listen") == 0)
            where = value;
        else
            count = 0;
    }
    if (count % 2 == 0 || folder == NULL || fgets(secret, sizeof secret, stdin) == NULL) {
        fprintf(stderr, "usage: netcat_server --folder DIR [--tcp PORT] [--listen ADDRESS], the secret on its stdin\n");
        return 2;
    }
    secret[strcspn(secret, "\n")] = '\0';
    int listener = listen_on(where, &port);
    if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener) != 0) die("thread");
    printf("ready tcp=%d\n", port);
    fflush(stdout);
    while (read(STDIN_FILENO, ignored, sizeof ignored) > 0)
        continue;
    _exit(0);
}
