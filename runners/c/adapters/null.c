/* The null adapter: an operation with nothing in it, or (known-answer tests) with a known cost.
   Options: burn_ns of busy CPU in each operation, stall_ns of sleep in each stall_every-th, pause_ns of busy CPU in
   each pause_every-th (a collector's pause); in each operation system_calls calls of the kernel, memory_bytes taken,
   touched and given back, disk_bytes written to the file `path` (removed at once, kept open), then syncs of it: the
   same bytes again where each operation syncs, so that the file system has nothing to allocate, else appended. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "adapter.h"

typedef struct null_connection {
    uint64_t burn_ns, stall_ns, stall_every, pause_ns, pause_every, system_calls, memory_bytes, disk_bytes, syncs;
    uint64_t count;
    char *written; /* disk_bytes of it */
    int file;
    bool idle;
} null_connection;

static uint64_t number(const rp_options *options, const char *name) {
    return (uint64_t)rp_option_integer(options, name, 0);
}

static void null_close(void *opened) {
    null_connection *connection = opened;
    if (connection->file >= 0) close(connection->file);
    free(connection->written);
    free(connection);
}

static bool open_file(null_connection *connection, const char *path) {
    connection->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (connection->file < 0) return rp_fail_errno(RP_CONNECT_ERROR, "the file to write to");
    unlink(path);
    connection->written = malloc(connection->disk_bytes + 1);
    memset(connection->written, 'x', connection->disk_bytes);
    return true;
}

static void *null_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    null_connection *connection = calloc(1, sizeof *connection);
    *connection = (null_connection){
        .burn_ns = number(options, "burn_ns"),
        .stall_ns = number(options, "stall_ns"),
        .stall_every = number(options, "stall_every"),
        .pause_ns = number(options, "pause_ns"),
        .pause_every = number(options, "pause_every"),
        .system_calls = number(options, "system_calls"),
        .memory_bytes = number(options, "memory_bytes"),
        .disk_bytes = number(options, "disk_bytes"),
        .syncs = number(options, "syncs"),
        .file = -1,
    };
    bool writes = connection->disk_bytes > 0 || connection->syncs > 0;
    connection->idle = !writes && connection->burn_ns == 0 && connection->stall_every == 0 &&
                       connection->pause_every == 0 && connection->system_calls == 0 && connection->memory_bytes == 0;
    if (!writes || open_file(connection, rp_option(options, "path", ""))) return connection;
    null_close(connection);
    return NULL;
}

static void *null_prepare(void *connection, rp_phase *phase) {
    if (phase->kind == RP_NOTHING) return connection;
    rp_fail(RP_UNSUPPORTED, "", "the null adapter serves phases of kind null only");
    return NULL;
}

static void burn(uint64_t ns) {
    for (uint64_t start = rp_now_ns(); rp_now_ns() - start < ns;)
        continue;
}

static bool take_memory(uint64_t bytes) {
    char *taken = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (taken == MAP_FAILED) return rp_fail_errno(RP_INTERNAL, "memory");
    memset(taken, 1, bytes);
    munmap(taken, bytes);
    return true;
}

static bool write_file(const null_connection *connection) {
    uint64_t left = connection->disk_bytes;
    if (connection->syncs > 0) lseek(connection->file, 0, SEEK_SET);
    while (left > 0) {
        ssize_t count = write(connection->file, connection->written, left);
        if (count < 0) return rp_fail_errno(RP_SQL_ERROR, "write");
        left -= (uint64_t)count;
    }
    for (uint64_t i = 0; i < connection->syncs; i++)
        if (fsync(connection->file) != 0) return rp_fail_errno(RP_SQL_ERROR, "fsync");
    return true;
}

static bool null_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    null_connection *connection = statement;
    (void)phase, (void)row, (void)sink;
    if (connection->idle) return true;
    connection->count++;
    if (connection->burn_ns > 0) burn(connection->burn_ns);
    if (connection->pause_every > 0 && connection->count % connection->pause_every == 0) burn(connection->pause_ns);
    if (connection->stall_every > 0 && connection->count % connection->stall_every == 0)
        nanosleep(&(struct timespec){(time_t)(connection->stall_ns / 1000000000u),
                                     (long)(connection->stall_ns % 1000000000u)},
                  NULL);
    for (uint64_t i = 0; i < connection->system_calls; i++)
        syscall(SYS_getppid);
    if (connection->memory_bytes > 0 && !take_memory(connection->memory_bytes)) return false;
    return connection->file < 0 || write_file(connection);
}

static void null_release(void *statement) {
    (void)statement;
}

static void null_facts(void *connection, rp_facts *facts) {
    (void)connection;
    rp_driver_version(facts, "none");
}

const rp_adapter rp_adapter_here = {
    .driver = "null",
    .open = null_open,
    .close = null_close,
    .prepare = null_prepare,
    .execute = null_execute,
    .release = null_release,
    .facts = null_facts,
};
