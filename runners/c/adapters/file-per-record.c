/* A file for each record in a directory for each table, no library between: open, fstat, read, close. A file's name is
   its record's key in hexadecimal, or a number where the table has no key. There are no transactions, and nothing waits
   for the disk. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "records.h"

typedef struct files_connection {
    record_connection record;
    int root;
    char *content; /* of the file that was read last */
    size_t capacity;
} files_connection;

typedef struct files_table {
    int directory;
    unsigned long next; /* number of the next record, where there is no key */
} files_table;

static bool fail(const char *name) {
    return record_fail(name, errno);
}

/* The directory from its first file on; NULL with errno set. */
static DIR *list(int directory) {
    int descriptor = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listed = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (listed == NULL && descriptor >= 0) close(descriptor);
    return listed;
}

/* The next file's name; NULL behind the last one. */
static const char *next_name(DIR *listed) {
    struct dirent *entry;
    do {
        entry = readdir(listed);
    } while (entry != NULL && entry->d_name[0] == '.');
    return entry != NULL ? entry->d_name : NULL;
}

static bool open_table(void *opened, record_table *table) {
    files_connection *connection = opened;
    int directory = openat(connection->root, table->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listed = directory < 0 ? NULL : list(directory);
    if (listed == NULL) return fail(table->name);
    files_table *files = calloc(1, sizeof *files);
    files->directory = directory;
    while (next_name(listed) != NULL)
        files->next++;
    closedir(listed);
    table->handle = files;
    table->open = true;
    return true;
}

static bool create_table(void *opened, record_table *table, bool keyed) {
    files_connection *connection = opened;
    (void)keyed;
    if (mkdirat(connection->root, table->name, 0700) != 0) return fail(table->name);
    return open_table(connection, table);
}

static void close_table(record_table *table) {
    files_table *files = table->handle;
    close(files->directory);
    free(files);
    table->open = false;
}

static bool drop_table(void *opened, record_table *table) {
    files_connection *connection = opened;
    if (!table->open && !open_table(connection, table)) return false;
    int directory = ((files_table *)table->handle)->directory;
    DIR *listed = list(directory);
    if (listed == NULL) return fail(table->name);
    for (const char *name = next_name(listed); name != NULL; name = next_name(listed))
        unlinkat(directory, name, 0);
    closedir(listed);
    close_table(table);
    return unlinkat(connection->root, table->name, AT_REMOVEDIR) == 0 || fail(table->name);
}

static bool run_word(void *opened, record_word word, const char *text) {
    files_connection *connection = opened;
    if (word != RECORD_SYNC) return rp_fail(RP_UNSUPPORTED, "", "%s: files have no transactions", text);
    return syncfs(connection->root) == 0 || fail(text);
}

static void files_close(void *opened) {
    files_connection *connection = opened;
    for (record_table *table = connection->record.tables; table != NULL; table = table->next)
        if (table->open) close_table(table);
    record_free_tables(&connection->record);
    close(connection->root);
    free(connection->content);
    free(connection);
}

static void *files_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    const char *path = rp_option(options, "path", "");
    int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) {
        record_fail_as(RP_CONNECT_ERROR, path, errno);
        return NULL;
    }
    files_connection *connection = calloc(1, sizeof *connection);
    connection->root = root;
    return connection;
}

static void *files_prepare(void *opened, rp_phase *phase) {
    if (phase->kind == RP_LOAD || phase->transaction) {
        rp_fail(RP_UNSUPPORTED, "", "files have no transactions");
        return NULL;
    }
    record_operation *operation = record_prepare(opened, phase);
    if (operation == NULL || 2 * operation->layout.key_bytes <= NAME_MAX) return operation;
    rp_fail(RP_UNSUPPORTED, "", "a key of %zu bytes is too long for a file's name", operation->layout.key_bytes);
    record_close_operation(operation);
    return NULL;
}

static void write_name(const record_layout *layout, char *name) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < layout->key_bytes; i++) {
        unsigned char byte = (unsigned char)layout->key[i];
        *name++ = digits[byte >> 4];
        *name++ = digits[byte & 15];
    }
    *name = '\0';
}

/* The file's bytes, into `content`; false with errno set. */
static bool read_file(files_connection *connection, int directory, const char *name, size_t *length) {
    struct stat status;
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool good = fstat(file, &status) == 0;
    *length = good ? (size_t)status.st_size : 0;
    if (*length > connection->capacity) {
        connection->content = realloc(connection->content, connection->capacity = 2 * *length);
        if (connection->content == NULL) abort();
    }
    good = good && read(file, connection->content, *length) == (ssize_t)*length;
    close(file);
    return good;
}

static bool scan(const record_operation *operation, const rp_phase *phase, rp_sink *sink) {
    files_connection *connection = operation->connection;
    int directory = ((files_table *)operation->table->handle)->directory;
    DIR *listed = list(directory);
    size_t length;
    bool good = listed != NULL;
    rp_executed(sink);
    for (const char *name; good && !sink->broken && (name = next_name(listed)) != NULL;) {
        good = read_file(connection, directory, name, &length);
        if (good) record_take(&operation->layout, phase, connection->content, length, sink);
    }
    int result = errno;
    if (listed != NULL) closedir(listed);
    return good || record_fail(phase->table, result);
}

static bool insert(record_operation *operation, const rp_phase *phase, const rp_value *values) {
    files_table *files = operation->table->handle;
    record_layout *layout = &operation->layout;
    char name[NAME_MAX + 1];
    size_t length;
    if (!record_put(layout, values, &length) || !record_put_key(layout, values, true)) return false;
    if (phase->key_column_count > 0)
        write_name(layout, name);
    else
        snprintf(name, sizeof name, "%lu", files->next++);
    int file = openat(files->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return fail(phase->table);
    bool good = write(file, layout->record, length) == (ssize_t)length;
    int result = errno;
    close(file);
    if (good) return true;
    unlinkat(files->directory, name, 0);
    return record_fail(phase->table, result);
}

static bool read_key(record_operation *operation, const rp_phase *phase, const rp_value *values, rp_sink *sink) {
    files_connection *connection = operation->connection;
    char name[NAME_MAX + 1];
    size_t length;
    if (!record_put_key(&operation->layout, values, false)) return false;
    write_name(&operation->layout, name);
    if (!read_file(connection, ((files_table *)operation->table->handle)->directory, name, &length))
        return errno == ENOENT || fail(phase->table);
    rp_executed(sink);
    record_take(&operation->layout, phase, connection->content, length, sink);
    return true;
}

static bool serve(record_operation *operation, const rp_phase *phase, const rp_value *values, rp_sink *sink) {
    if (phase->access == RP_INSERT) return insert(operation, phase, values);
    return phase->access == RP_READ ? read_key(operation, phase, values, sink) : scan(operation, phase, sink);
}

static bool files_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    return record_execute(statement, phase, row, sink, serve);
}

static void files_facts(void *connection, rp_facts *facts) {
    (void)connection;
    struct utsname kernel;
    rp_driver_version(facts, "open(2)");
    if (uname(&kernel) == 0) rp_engine_version(facts, kernel.release);
    rp_setting(facts, "autocommit", "on");
    rp_setting(facts, "sync", "none");
    rp_setting(facts, "cache", "the kernel's page cache");
}

static const char *error_text(int result) {
    return strerror(result);
}

const record_engine record_engine_here = {error_text, open_table, create_table, drop_table, run_word};

const rp_adapter rp_adapter_here = {
    .driver = "file-per-record",
    .open = files_open,
    .close = files_close,
    .prepare = files_prepare,
    .execute = files_execute,
    .release = record_close_operation,
    .run = record_run,
    .facts = files_facts,
    .no_timeout = "files run no statements: each call is over when it returns",
};
