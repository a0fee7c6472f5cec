/* A floor: an engine's file read whole, nothing of it parsed. Of engines that keep a file for each table, the table's;
   of the others the database file, whatever else it holds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "adapter.h"

#define READ_BYTES (1024 * 1024)

typedef struct raw_connection {
    char *path;
    const char *suffix; /* NULL: `path` is the file */
    char *buffer;
} raw_connection;

typedef struct raw_file {
    raw_connection *connection;
    char *name;
} raw_file;

static const char *suffix_of(const char *engine) {
    static const char *const suffixes[][2] = {
        {"file", "tbl"}, {"csv", "tbl"}, {"parquet", "parquet"}, {"arrow", "arrow"}};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(engine, suffixes[i][0]) == 0) return suffixes[i][1];
    return NULL;
}

static void *raw_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    raw_connection *connection = calloc(1, sizeof *connection);
    connection->path = strdup(rp_option(options, "path", "."));
    connection->suffix = suffix_of(rp_option(options, "engine", ""));
    connection->buffer = malloc(READ_BYTES);
    if (connection->buffer == NULL) abort();
    memset(connection->buffer, 0, READ_BYTES); /* no page is new when it is measured */
    return connection;
}

static void raw_close(void *opened) {
    raw_connection *connection = opened;
    free(connection->path);
    free(connection->buffer);
    free(connection);
}

static void *raw_prepare(void *opened, rp_phase *phase) {
    raw_connection *connection = opened;
    if (phase->kind != RP_QUERY || !phase->scan) {
        rp_fail(RP_UNSUPPORTED, "", "a floor takes the bytes of whole tables only");
        return NULL;
    }
    raw_file *file = calloc(1, sizeof *file);
    file->connection = connection;
    if (connection->suffix == NULL)
        file->name = strdup(connection->path);
    else if (asprintf(&file->name, "%s/%s.%s", connection->path, phase->table, connection->suffix) < 0)
        abort();
    return file;
}

static void raw_release(void *statement) {
    raw_file *file = statement;
    free(file->name);
    free(file);
}

static bool raw_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    const raw_file *file = statement;
    (void)phase, (void)row;
    int opened = open(file->name, O_RDONLY | O_CLOEXEC);
    if (opened < 0) return rp_fail_errno(RP_CONNECT_ERROR, file->name);
    rp_executed(sink);
    ssize_t count;
    while ((count = read(opened, file->connection->buffer, READ_BYTES)) > 0)
        sink->bytes += (uint64_t)count;
    if (count < 0) rp_fail_errno(RP_SQL_ERROR, file->name);
    close(opened);
    return count == 0;
}

static void raw_facts(void *connection, rp_facts *facts) {
    (void)connection;
    rp_driver_version(facts, "read(2)");
    rp_setting(facts, "block_bytes", "1048576");
    rp_setting(facts, "cache", "the kernel's page cache");
}

const rp_adapter rp_adapter_here = {
    .driver = "raw",
    .open = raw_open,
    .close = raw_close,
    .prepare = raw_prepare,
    .execute = raw_execute,
    .release = raw_release,
    .facts = raw_facts,
};
