/* LMDB: one memory map, a named database in it per table; records by key, tables without a key by a number that is
   appended. Reading goes through a read transaction: one that is kept and renewed for each operation, or a new one. */
#include <stdio.h>
#include <stdlib.h>

#include <lmdb.h>

#include "records.h"

#define MAP_BYTES ((size_t)4 << 30) /* of address space: the file is as large as its pages in use */
#define MOST_TABLES 64

typedef struct lmdb_connection {
    record_connection record;
    MDB_env *environment;
    MDB_txn *transaction; /* between BEGIN and COMMIT */
    MDB_txn *kept;        /* for reading, at rest between operations; NULL: each operation begins its own */
    bool renews;
} lmdb_connection;

/* Opens the named database in a transaction of its own: a handle is good once that has committed. */
static int open_as(lmdb_connection *connection, record_table *table, unsigned flags) {
    MDB_txn *transaction;
    int result = mdb_txn_begin(connection->environment, NULL, flags & MDB_CREATE ? 0 : MDB_RDONLY, &transaction);
    if (result != 0) return result;
    result = mdb_dbi_open(transaction, table->name, flags, &table->number);
    if (result == 0) {
        result = mdb_txn_commit(transaction);
        table->open = result == 0;
        return result;
    }
    mdb_txn_abort(transaction);
    return result;
}

static bool open_table(void *connection, record_table *table) {
    int result = open_as(connection, table, 0);
    return result == 0 || record_fail(table->name, result);
}

static bool create_table(void *connection, record_table *table, bool keyed) {
    if (table->open || open_as(connection, table, 0) == 0)
        return rp_fail(RP_SQL_ERROR, "exists", "%s: the table is there already", table->name);
    int result = open_as(connection, table, MDB_CREATE | (keyed ? 0 : MDB_INTEGERKEY));
    return result == 0 || record_fail(table->name, result);
}

static bool drop_table(void *opened, record_table *table) {
    lmdb_connection *connection = opened;
    MDB_txn *transaction;
    if (!table->open && !open_table(connection, table)) return false;
    int result = mdb_txn_begin(connection->environment, NULL, 0, &transaction);
    if (result != 0) return record_fail(table->name, result);
    result = mdb_drop(transaction, table->number, 1);
    table->open = false;
    if (result == 0)
        result = mdb_txn_commit(transaction);
    else
        mdb_txn_abort(transaction);
    return result == 0 || record_fail(table->name, result);
}

static bool end_transaction(lmdb_connection *connection, bool commit) {
    MDB_txn *transaction = connection->transaction;
    if (transaction == NULL) return rp_fail(RP_SQL_ERROR, "none", "no transaction has begun");
    connection->transaction = NULL;
    int result = 0;
    if (commit)
        result = mdb_txn_commit(transaction);
    else
        mdb_txn_abort(transaction);
    return result == 0 || record_fail("COMMIT", result);
}

static bool run_word(void *opened, record_word word, const char *text) {
    lmdb_connection *connection = opened;
    if (word == RECORD_COMMIT || word == RECORD_ROLLBACK) return end_transaction(connection, word == RECORD_COMMIT);
    int result = word == RECORD_SYNC ? mdb_env_sync(connection->environment, 1)
                                     : mdb_txn_begin(connection->environment, NULL, 0, &connection->transaction);
    return result == 0 || record_fail(text, result);
}

static void lmdb_close(void *opened) {
    lmdb_connection *connection = opened;
    if (connection->transaction != NULL) mdb_txn_abort(connection->transaction);
    if (connection->kept != NULL) mdb_txn_abort(connection->kept);
    record_free_tables(&connection->record);
    mdb_env_close(connection->environment);
    free(connection);
}

static void *lmdb_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    lmdb_connection *connection = calloc(1, sizeof *connection);
    const char *path = rp_option(options, "path", "");
    connection->renews = !rp_option_is(options, "read_transaction", "new");
    unsigned flags = rp_option_is(options, "durability", "none") ? MDB_NOSYNC : 0;
    int result = mdb_env_create(&connection->environment);
    if (result == 0) {
        mdb_env_set_maxdbs(connection->environment, MOST_TABLES);
        result = mdb_env_set_mapsize(connection->environment, MAP_BYTES);
        if (result == 0) result = mdb_env_open(connection->environment, path, flags, 0600);
        if (result == 0 && connection->renews) {
            result = mdb_txn_begin(connection->environment, NULL, MDB_RDONLY, &connection->kept);
            if (result == 0) mdb_txn_reset(connection->kept);
        }
        if (result == 0) return connection;
        mdb_env_close(connection->environment);
    }
    free(connection);
    record_fail_as(RP_CONNECT_ERROR, path, result);
    return NULL;
}

static int scan(const record_operation *operation, MDB_txn *transaction, const rp_phase *phase, rp_sink *sink) {
    MDB_cursor *cursor;
    MDB_val key, record;
    int result = mdb_cursor_open(transaction, operation->table->number, &cursor);
    if (result != 0) return result;
    rp_executed(sink);
    while (!sink->broken && (result = mdb_cursor_get(cursor, &key, &record, MDB_NEXT)) == 0)
        record_take(&operation->layout, phase, record.mv_data, record.mv_size, sink);
    mdb_cursor_close(cursor);
    return result;
}

static int read_key(const record_operation *operation, MDB_txn *transaction, const rp_phase *phase, rp_sink *sink) {
    const record_layout *layout = &operation->layout;
    MDB_val key = {layout->key_bytes, layout->key}, record;
    int result = mdb_get(transaction, operation->table->number, &key, &record);
    rp_executed(sink);
    if (result == 0) record_take(layout, phase, record.mv_data, record.mv_size, sink);
    return result;
}

/* What is read lies in the map and is good until the read transaction ends. */
static bool read_records(record_operation *operation, const rp_phase *phase, const rp_value *values, rp_sink *sink) {
    lmdb_connection *connection = operation->connection;
    MDB_txn *transaction = connection->transaction != NULL ? connection->transaction : connection->kept;
    if (phase->access == RP_READ && !record_put_key(&operation->layout, values, false)) return false;
    int result = 0;
    if (transaction == NULL)
        result = mdb_txn_begin(connection->environment, NULL, MDB_RDONLY, &transaction);
    else if (transaction == connection->kept)
        result = mdb_txn_renew(transaction);
    if (result != 0) return record_fail(phase->table, result);
    result = phase->access == RP_READ ? read_key(operation, transaction, phase, sink)
                                      : scan(operation, transaction, phase, sink);
    if (transaction == connection->kept)
        mdb_txn_reset(transaction);
    else if (transaction != connection->transaction)
        mdb_txn_abort(transaction);
    return result == 0 || result == MDB_NOTFOUND || record_fail(phase->table, result);
}

/* Behind the last record of a table without a key. */
static int append(MDB_txn *transaction, MDB_dbi database, MDB_val *record) {
    MDB_cursor *cursor;
    MDB_val key, last;
    size_t number = 0;
    int result = mdb_cursor_open(transaction, database, &cursor);
    if (result != 0) return result;
    result = mdb_cursor_get(cursor, &key, &last, MDB_LAST);
    if (result == 0) {
        memcpy(&number, key.mv_data, sizeof number);
        number++;
    }
    key = (MDB_val){sizeof number, &number};
    if (result == 0 || result == MDB_NOTFOUND) result = mdb_cursor_put(cursor, &key, record, MDB_APPEND);
    mdb_cursor_close(cursor);
    return result;
}

static bool insert(record_operation *operation, const rp_phase *phase, const rp_value *values) {
    lmdb_connection *connection = operation->connection;
    record_layout *layout = &operation->layout;
    MDB_txn *transaction = connection->transaction;
    size_t length;
    if (!record_put(layout, values, &length) || !record_put_key(layout, values, true)) return false;
    int result = transaction == NULL ? mdb_txn_begin(connection->environment, NULL, 0, &transaction) : 0;
    if (result != 0) return record_fail(phase->table, result);
    MDB_val key = {layout->key_bytes, layout->key}, record = {length, layout->record};
    if (phase->key_column_count > 0)
        result = mdb_put(transaction, operation->table->number, &key, &record, MDB_NOOVERWRITE);
    else
        result = append(transaction, operation->table->number, &record);
    if (transaction != connection->transaction) {
        if (result == 0)
            result = mdb_txn_commit(transaction);
        else
            mdb_txn_abort(transaction);
    }
    return result == 0 || record_fail(phase->table, result);
}

static bool serve(record_operation *operation, const rp_phase *phase, const rp_value *values, rp_sink *sink) {
    return phase->access == RP_INSERT ? insert(operation, phase, values) : read_records(operation, phase, values, sink);
}

static bool lmdb_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    return record_execute(statement, phase, row, sink, serve);
}

static void lmdb_facts(void *opened, rp_facts *facts) {
    lmdb_connection *connection = opened;
    MDB_envinfo info;
    MDB_stat pages;
    unsigned flags = 0;
    int major, minor, patch;
    char text[32];
    rp_build(facts, mdb_version(&major, &minor, &patch));
    record_version(facts, major, minor, patch);
    mdb_env_get_flags(connection->environment, &flags);
    mdb_env_info(connection->environment, &info);
    mdb_env_stat(connection->environment, &pages);
    rp_setting(facts, "autocommit", "on");
    rp_setting(facts, "sync", flags & MDB_NOSYNC ? "none (MDB_NOSYNC)" : "each commit");
    rp_setting(facts, "read_transaction", connection->renews ? "kept and renewed" : "new for each operation");
    snprintf(text, sizeof text, "%zu", info.me_mapsize);
    rp_setting(facts, "map_bytes", text);
    snprintf(text, sizeof text, "%u", pages.ms_psize);
    rp_setting(facts, "page_bytes", text);
}

static const char *error_text(int result) {
    return mdb_strerror(result);
}

const record_engine record_engine_here = {error_text, open_table, create_table, drop_table, run_word};

const rp_adapter rp_adapter_here = {
    .driver = "lmdb",
    .open = lmdb_open,
    .close = lmdb_close,
    .prepare = record_prepare,
    .execute = lmdb_execute,
    .release = record_close_operation,
    .run = record_run,
    .facts = lmdb_facts,
    .no_timeout = "LMDB runs no statements: each call is over when it returns",
};
