/* Berkeley DB: records by key in a B-tree, tables without a key in a heap. With durability=full the files are in a
   transactional environment, every change synced as it commits; with none they are plain: no transactions, no log, and
   no sync. */
#include <stdio.h>
#include <stdlib.h>

#include <db.h>

#include "records.h"

#define CACHE_BYTES (64u << 20)
#define BLOCK_STEP_BYTES 1024 /* a bulk buffer is a multiple of it, and no smaller than a page */
#define LEAST_BLOCK_BYTES 16384
#define ENTRY_BYTES 16 /* of what a bulk buffer holds beside key and record */

typedef struct bdb_connection {
    record_connection record;
    DB_ENV *environment;
    DB_TXN *transaction; /* between BEGIN and COMMIT */
    bool transactional;
    uint32_t block_records; /* 0: record by record */
} bdb_connection;

static const char *file_of(const record_table *table, char file[RECORD_NAME_BYTES + 4]) {
    snprintf(file, RECORD_NAME_BYTES + 4, "%s.db", table->name);
    return file;
}

static void close_table(record_table *table) {
    DB *database = table->handle;
    if (table->open) database->close(database, 0);
    table->open = false;
}

/* `type` DB_UNKNOWN: as the file is. */
static bool open_as(bdb_connection *connection, record_table *table, DBTYPE type, uint32_t flags) {
    char file[RECORD_NAME_BYTES + 4];
    DB *database;
    if (connection->transactional) flags |= DB_AUTO_COMMIT;
    int result = db_create(&database, connection->environment, 0);
    if (result != 0) return record_fail(table->name, result);
    table->handle = database;
    table->open = true;
    result = database->open(database, NULL, file_of(table, file), NULL, type, flags, 0600);
    if (result == 0) return true;
    close_table(table);
    return record_fail(table->name, result);
}

static bool open_table(void *connection, record_table *table) {
    return open_as(connection, table, DB_UNKNOWN, 0);
}

static bool create_table(void *connection, record_table *table, bool keyed) {
    close_table(table);
    return open_as(connection, table, keyed ? DB_BTREE : DB_HEAP, DB_CREATE | DB_EXCL);
}

static bool drop_table(void *opened, record_table *table) {
    bdb_connection *connection = opened;
    char file[RECORD_NAME_BYTES + 4];
    DB_ENV *environment = connection->environment;
    close_table(table);
    uint32_t flags = connection->transactional ? DB_AUTO_COMMIT : 0;
    int result = environment->dbremove(environment, NULL, file_of(table, file), NULL, flags);
    return result == 0 || record_fail(table->name, result);
}

static bool end_transaction(bdb_connection *connection, bool commit) {
    DB_TXN *transaction = connection->transaction;
    if (transaction == NULL) return rp_fail(RP_SQL_ERROR, "none", "no transaction has begun");
    connection->transaction = NULL;
    int result = commit ? transaction->commit(transaction, 0) : transaction->abort(transaction);
    return result == 0 || record_fail(commit ? "COMMIT" : "ROLLBACK", result);
}

/* Everything reaches the disk; what the log had for a recovery is not needed any more. */
static bool settle(bdb_connection *connection) {
    DB_ENV *environment = connection->environment;
    int result = connection->transactional ? environment->txn_checkpoint(environment, 0, 0, DB_FORCE)
                                           : environment->memp_sync(environment, NULL);
    return result == 0 || record_fail("SYNC", result);
}

static bool run_word(void *opened, record_word word, const char *text) {
    bdb_connection *connection = opened;
    DB_ENV *environment = connection->environment;
    if (word == RECORD_SYNC) return settle(connection);
    if (!connection->transactional) return rp_fail(RP_UNSUPPORTED, "", "%s: there are no transactions", text);
    if (word != RECORD_BEGIN) return end_transaction(connection, word == RECORD_COMMIT);
    int result = environment->txn_begin(environment, NULL, &connection->transaction, 0);
    return result == 0 || record_fail(text, result);
}

static void bdb_close(void *opened) {
    bdb_connection *connection = opened;
    if (connection->transaction != NULL) end_transaction(connection, false);
    for (record_table *table = connection->record.tables; table != NULL; table = table->next)
        close_table(table);
    record_free_tables(&connection->record);
    connection->environment->close(connection->environment, 0);
    free(connection);
}

static int no_sync(int descriptor) {
    (void)descriptor;
    return 0;
}

static void *bdb_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    bdb_connection *connection = calloc(1, sizeof *connection);
    connection->transactional = !rp_option_is(options, "durability", "none");
    const char *path = rp_option(options, "path", ""), *fetch = rp_option(options, "fetch", "row");
    if (strncmp(fetch, "block:", 6) == 0) connection->block_records = (uint32_t)strtoul(fetch + 6, NULL, 10);
    db_env_set_func_fsync(connection->transactional ? NULL : no_sync); /* a file is synced as it is made, too */
    int result = db_env_create(&connection->environment, 0);
    if (result == 0) {
        DB_ENV *environment = connection->environment;
        uint32_t flags = DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL;
        if (connection->transactional) flags |= DB_INIT_TXN | DB_INIT_LOG | DB_INIT_LOCK | DB_RECOVER;
        result = environment->set_cachesize(environment, 0, CACHE_BYTES, 1);
        if (result == 0 && connection->transactional)
            result = environment->log_set_config(environment, DB_LOG_AUTO_REMOVE, 1);
        if (result == 0) result = environment->open(environment, path, flags, 0600);
        if (result == 0) return connection;
        environment->close(environment, 0);
    }
    free(connection);
    record_fail_as(RP_CONNECT_ERROR, path, result);
    return NULL;
}

static void size_block(record_operation *operation, size_t bytes) {
    if (bytes < LEAST_BLOCK_BYTES) bytes = LEAST_BLOCK_BYTES;
    operation->block_bytes = (uint32_t)(bytes + BLOCK_STEP_BYTES - 1) / BLOCK_STEP_BYTES * BLOCK_STEP_BYTES;
    operation->block = realloc(operation->block, operation->block_bytes);
    if (operation->block == NULL) abort();
}

static void *bdb_prepare(void *opened, rp_phase *phase) {
    bdb_connection *connection = opened;
    if (!connection->transactional && (phase->kind == RP_LOAD || phase->transaction)) {
        rp_fail(RP_UNSUPPORTED, "", "with durability=none the files are plain: there are no transactions");
        return NULL;
    }
    record_operation *operation = record_prepare(opened, phase);
    if (operation != NULL && phase->access == RP_SCAN && connection->block_records > 0) {
        size_t each = operation->layout.fixed_bytes + operation->layout.key_bytes + ENTRY_BYTES;
        size_block(operation, connection->block_records * each);
    }
    return operation;
}

static DB_TXN *transaction_of(const record_operation *operation) {
    return ((bdb_connection *)operation->connection)->transaction;
}

static void take_block(const record_operation *operation, const DBT *block, const rp_phase *phase, rp_sink *sink) {
    void *at, *key, *record;
    size_t key_length, length;
    DB_MULTIPLE_INIT(at, block);
    while (!sink->broken) {
        DB_MULTIPLE_KEY_NEXT(at, block, key, key_length, record, length);
        (void)key, (void)key_length; /* the record has it too */
        if (at == NULL) break;
        record_take(&operation->layout, phase, record, length, sink);
    }
}

static bool scan(record_operation *operation, const rp_phase *phase, rp_sink *sink) {
    DB *database = operation->table->handle;
    DBC *cursor;
    DBT key = {0}, record = {0};
    bool blocks = operation->block != NULL;
    uint32_t next = blocks ? DB_NEXT | DB_MULTIPLE_KEY : DB_NEXT;
    if (blocks) record = (DBT){.data = operation->block, .ulen = operation->block_bytes, .flags = DB_DBT_USERMEM};
    int result = database->cursor(database, transaction_of(operation), &cursor, 0);
    if (result != 0) return record_fail(phase->table, result);
    rp_executed(sink);
    while (!sink->broken) {
        result = cursor->get(cursor, &key, &record, next);
        if (result == DB_BUFFER_SMALL && blocks) {
            size_block(operation, 2 * (size_t)operation->block_bytes);
            record.data = operation->block;
            record.ulen = operation->block_bytes;
        } else if (result != 0) {
            break;
        } else if (blocks) {
            take_block(operation, &record, phase, sink);
        } else {
            record_take(&operation->layout, phase, record.data, record.size, sink);
        }
    }
    cursor->close(cursor);
    return result == 0 || result == DB_NOTFOUND || record_fail(phase->table, result);
}

static bool read_key(record_operation *operation, const rp_phase *phase, const rp_value *values, rp_sink *sink) {
    DB *database = operation->table->handle;
    record_layout *layout = &operation->layout;
    if (!record_put_key(layout, values, false)) return false;
    DBT key = {.data = layout->key, .size = (uint32_t)layout->key_bytes}, record = {0};
    int result = database->get(database, transaction_of(operation), &key, &record, 0);
    rp_executed(sink);
    if (result == 0) record_take(layout, phase, record.data, record.size, sink);
    return result == 0 || result == DB_NOTFOUND || record_fail(phase->table, result);
}

static bool insert(record_operation *operation, const rp_phase *phase, const rp_value *values) {
    DB *database = operation->table->handle;
    record_layout *layout = &operation->layout;
    size_t length;
    bool keyed = phase->key_column_count > 0;
    if (!record_put(layout, values, &length) || !record_put_key(layout, values, true)) return false;
    DB_HEAP_RID place; /* where a heap has put the record */
    DBT key = {.data = layout->key, .size = (uint32_t)layout->key_bytes};
    if (!keyed) key = (DBT){.data = &place, .ulen = sizeof place, .flags = DB_DBT_USERMEM};
    DBT record = {.data = layout->record, .size = (uint32_t)length};
    int result = database->put(database, transaction_of(operation), &key, &record, keyed ? DB_NOOVERWRITE : DB_APPEND);
    return result == 0 || record_fail(phase->table, result);
}

static bool serve(record_operation *operation, const rp_phase *phase, const rp_value *values, rp_sink *sink) {
    if (phase->access == RP_SCAN) return scan(operation, phase, sink);
    return phase->access == RP_READ ? read_key(operation, phase, values, sink) : insert(operation, phase, values);
}

static bool bdb_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    return record_execute(statement, phase, row, sink, serve);
}

static void bdb_facts(void *opened, rp_facts *facts) {
    bdb_connection *connection = opened;
    DB_ENV *environment = connection->environment;
    uint32_t flags = 0, gigabytes, bytes;
    int caches, major, minor, patch;
    char text[32];
    rp_build(facts, db_version(&major, &minor, &patch));
    record_version(facts, major, minor, patch);
    environment->get_open_flags(environment, &flags);
    environment->get_cachesize(environment, &gigabytes, &bytes, &caches);
    rp_setting(facts, "autocommit", "on");
    rp_setting(facts, "transactions", flags & DB_INIT_TXN ? "on" : "none");
    rp_setting(facts, "sync", connection->transactional ? "each commit" : "none (db_env_set_func_fsync)");
    rp_setting(facts, "log", flags & DB_INIT_LOG ? "on" : "none");
    rp_setting(facts, "locking", flags & DB_INIT_LOCK ? "on" : "none");
    rp_setting(facts, "regions", flags & DB_PRIVATE ? "the process's own memory" : "shared");
    snprintf(text, sizeof text, "%llu", ((unsigned long long)gigabytes << 30) + bytes);
    rp_setting(facts, "cache_bytes", text);
}

static const char *error_text(int result) {
    return db_strerror(result);
}

const record_engine record_engine_here = {error_text, open_table, create_table, drop_table, run_word};

const rp_adapter rp_adapter_here = {
    .driver = "berkeleydb",
    .open = bdb_open,
    .close = bdb_close,
    .prepare = bdb_prepare,
    .execute = bdb_execute,
    .release = record_close_operation,
    .run = record_run,
    .facts = bdb_facts,
    .no_timeout = "Berkeley DB runs no statements: each call is over when it returns",
};
