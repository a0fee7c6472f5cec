#include "mysql_embedded.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mariadb/server/mysql.h>

#define MOST_ARGUMENTS 64
#define LOG_BYTES 65536

static struct {
    bool tried, started;
    char *arguments, *lines; /* as `open` gave them; those that the library keeps pointers into */
    char *each[MOST_ARGUMENTS + 1];
    pthread_key_t attended;
} embedded_server;

static void leave_thread(void *attended) {
    (void)attended;
    mysql_thread_end();
}

_Thread_local bool my_attended;

void my_attend_new_thread(void) {
    my_attended = true;
    mysql_thread_init();
    pthread_setspecific(embedded_server.attended, &embedded_server);
}

/* The process that holds a lock on a file of the data directory; 0: none. The library itself would wait 30 s for it. */
static pid_t locked_by(const char *folder, const char *name) {
    char file[4096];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(file, sizeof file, "%s/%s", folder, name);
    int descriptor = open(file, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return 0;
    bool held = fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(descriptor);
    return held ? lock.l_pid : 0;
}

static bool is_free(int count) {
    static const char option[] = "--datadir=";
    for (int i = 1; i < count; i++) {
        const char *folder = embedded_server.each[i] + sizeof option - 1;
        if (strncmp(embedded_server.each[i], option, sizeof option - 1) != 0) continue;
        pid_t holder = locked_by(folder, "aria_log_control");
        if (holder == 0) holder = locked_by(folder, "ibdata1");
        if (holder != 0)
            return rp_fail(RP_CONNECT_ERROR, "locked",
                           "process %d has the data directory %s open; an embedded server must be its only user",
                           (int)holder, folder);
    }
    return true;
}

/* One argument a line, behind a program's name. */
static int split_arguments(const char *lines) {
    int count = 0;
    embedded_server.arguments = strdup(lines);
    embedded_server.lines = strdup(lines);
    embedded_server.each[count++] = "rowpath";
    for (char *rest = embedded_server.lines, *line; (line = strsep(&rest, "\n")) != NULL;)
        if (*line != '\0' && count < MOST_ARGUMENTS) embedded_server.each[count++] = line;
    return count;
}

/* The log's last error; what was logged goes on to stderr. */
static void pass_on(int log, char *last_error, size_t room) {
    static char text[LOG_BYTES];
    ssize_t length = pread(log, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    fputs(text, stderr);
    last_error[0] = '\0';
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *error = strstr(line, "[ERROR] ");
        if (error != NULL) snprintf(last_error, room, "%s", error + strlen("[ERROR] "));
    }
}

static bool start_library(int count) {
    static char *groups[] = {"embedded", NULL};
    char error[1024];
    int log = memfd_create("log", MFD_CLOEXEC), real = dup(STDERR_FILENO);
    dup2(log, STDERR_FILENO);
    int failed = mysql_server_init(count, embedded_server.each, groups);
    dup2(real, STDERR_FILENO);
    close(real);
    pass_on(log, error, sizeof error);
    close(log);
    return !failed || rp_fail(RP_CONNECT_ERROR, "start", "the embedded server does not start: %s",
                              error[0] != '\0' ? error : "it does not say why");
}

static void forget_arguments(void) {
    free(embedded_server.arguments);
    free(embedded_server.lines);
    embedded_server.arguments = NULL;
}

bool my_start_embedded(const rp_options *options) {
    const char *arguments = rp_option(options, "server_arguments", "");
    if (rp_option_integer(options, "clients", 1) > 1 && syscall(SYS_gettid) == getpid())
        return rp_fail(RP_UNSUPPORTED, "", "several clients have threads of their own, not the main thread");
    if (embedded_server.tried)
        return (embedded_server.started && strcmp(arguments, embedded_server.arguments) == 0) ||
               rp_fail(RP_UNSUPPORTED, "",
                       "a process starts one embedded server, once: this one was asked for another");
    int count = split_arguments(arguments);
    if (!is_free(count)) {
        forget_arguments();
        return false;
    }
    embedded_server.tried = true;
    pthread_key_create(&embedded_server.attended, leave_thread);
    return embedded_server.started = start_library(count);
}

void my_end_embedded(void) {
    if (embedded_server.started) mysql_server_end();
}
