/* A delimited text file (runners/PROTOCOL.md, "Delimited text files"), read whole in each operation. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rowpath.h"

#define BLOCK_BYTES (256 * 1024)

typedef struct file_connection {
    char *directory;
    char delimiter;
} file_connection;

typedef struct file_scan {
    char *name, *buffer, *plain; /* `plain`: a value without its escapes, as large as the buffer */
    size_t capacity;
    char delimiter;
    rp_column *columns;
    int column_count;
} file_scan;

static void *file_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    file_connection *connection = calloc(1, sizeof *connection);
    connection->directory = strdup(rp_option(options, "path", "."));
    connection->delimiter = rp_option(options, "delimiter", "|")[0];
    return connection;
}

static void file_close(void *opened) {
    file_connection *connection = opened;
    free(connection->directory);
    free(connection);
}

static void *file_prepare(void *opened, rp_phase *phase) {
    file_connection *connection = opened;
    if (phase->kind != RP_QUERY || !phase->scan) {
        rp_fail(RP_UNSUPPORTED, "", "a file delivers whole tables only");
        return NULL;
    }
    file_scan *scan = calloc(1, sizeof *scan);
    if (asprintf(&scan->name, "%s/%s.tbl", connection->directory, phase->table) < 0) abort();
    scan->capacity = BLOCK_BYTES;
    scan->buffer = malloc(scan->capacity);
    scan->plain = malloc(scan->capacity);
    scan->delimiter = connection->delimiter;
    scan->columns = phase->columns;
    scan->column_count = phase->column_count;
    return scan;
}

static void file_release(void *statement) {
    file_scan *scan = statement;
    free(scan->name);
    free(scan->buffer);
    free(scan->plain);
    free(scan);
}

static size_t without_escapes(const char *value, size_t length, char *plain) {
    char *to = plain;
    for (const char *end = value + length; value < end; value++) {
        if (*value == '\\' && value + 1 < end) {
            value++;
            *to++ = *value == 'n' ? '\n' : *value == 'r' ? '\r' : *value;
        } else {
            *to++ = *value;
        }
    }
    return (size_t)(to - plain);
}

/* Where the value that begins at `at` ends: at a delimiter that is not escaped, or at the line's end. */
static const char *value_end(const char *at, const char *end, char delimiter) {
    while (at < end && *at != delimiter)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at;
}

static void take_line(file_scan *scan, const char *at, const char *end, rp_sink *sink) {
    bool escapes = memchr(at, '\\', (size_t)(end - at)) != NULL;
    int last = scan->column_count - 1;
    for (int i = 0; i <= last; i++) {
        rp_column *column = &scan->columns[i];
        const char *stop =
            escapes ? value_end(at, end, scan->delimiter) : memchr(at, scan->delimiter, (size_t)(end - at));
        if (stop == NULL) stop = end;
        if ((stop == end) != (i == last)) {
            rp_misfit(sink, column, "the line has another number of values");
            return;
        }
        if (!escapes)
            rp_text_as(sink, column, at, (size_t)(stop - at));
        else if (stop - at == 2 && at[0] == '\\' && at[1] == 'N')
            rp_null(sink, column);
        else
            rp_text_as(sink, column, scan->plain, without_escapes(at, (size_t)(stop - at), scan->plain));
        at = stop + 1;
    }
    rp_row(sink);
}

static void grow(file_scan *scan) {
    scan->capacity *= 2;
    scan->buffer = realloc(scan->buffer, scan->capacity);
    scan->plain = realloc(scan->plain, scan->capacity);
    if (scan->buffer == NULL || scan->plain == NULL) abort();
}

static bool file_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    file_scan *scan = statement;
    (void)phase, (void)row;
    int file = open(scan->name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return rp_fail_errno(RP_CONNECT_ERROR, scan->name);
    rp_executed(sink);
    size_t kept = 0; /* bytes of a line whose end was not read yet */
    ssize_t count;
    while ((count = read(file, scan->buffer + kept, scan->capacity - kept)) > 0 && !sink->broken) {
        const char *line = scan->buffer, *end = scan->buffer + kept + count, *newline;
        const char *from = scan->buffer + kept;
        for (; (newline = memchr(from, '\n', (size_t)(end - from))) != NULL; line = from = newline + 1)
            take_line(scan, line, newline, sink);
        kept = (size_t)(end - line);
        memmove(scan->buffer, line, kept);
        if (kept == scan->capacity) grow(scan);
    }
    if (count < 0) rp_fail_errno(RP_SQL_ERROR, scan->name);
    close(file);
    if (count < 0) return false;
    if (kept > 0 && !sink->broken) return rp_fail(RP_VERIFY, "", "%s: the last line does not end", scan->name);
    return true;
}

static void file_facts(void *connection, rp_facts *facts) {
    (void)connection;
    rp_driver_version(facts, "read(2)");
    rp_setting(facts, "block_bytes", "262144");
    rp_setting(facts, "cache", "the kernel's page cache");
}

const rp_adapter rp_adapter_here = {
    .driver = "file",
    .open = file_open,
    .close = file_close,
    .prepare = file_prepare,
    .execute = file_execute,
    .release = file_release,
    .facts = file_facts,
};
