/* What the adapters of engines that keep records do alike: the words of `run`, and the operation of a phase on one
   table. Who includes this has defined `record_connection`, with its `tables`, and the functions declared here. */
#ifndef ROWPATH_RECORD_ADAPTER_H
#define ROWPATH_RECORD_ADAPTER_H

#include "record.h"
#include "record_tables.h"

typedef struct record_operation {
    record_connection *connection;
    record_table *table;
    record_layout layout;
    void *block; /* what several records are read into at once; NULL: record by record */
    uint32_t block_bytes;
} record_operation;

static bool ready(record_connection *connection, record_table *table); /* opens the table when it is not */
static bool create_table(record_connection *connection, record_table *table, bool keyed);
static bool drop_table(record_connection *connection, record_table *table);
static bool run_word(record_connection *connection, record_word word, const char *text); /* neither CREATE nor DROP */
/* A read, a scan or an insert; `values` are NULL where the phase has no parameters. */
static bool serve(record_operation *operation, const rp_phase *phase, const rp_value *values, rp_sink *sink);

static bool record_run(void *opened, const char *text) {
    record_connection *connection = opened;
    char name[RECORD_NAME_BYTES];
    record_word word;
    bool keyed;
    if (!record_read_word(text, &word, name, &keyed)) return false;
    if (word == RECORD_CREATE) return create_table(connection, record_find_table(&connection->tables, name), keyed);
    if (word == RECORD_DROP) return drop_table(connection, record_find_table(&connection->tables, name));
    return run_word(connection, word, text);
}

static void record_close_operation(void *statement) {
    record_operation *operation = statement;
    record_release(&operation->layout);
    free(operation->block);
    free(operation);
}

static void *record_prepare(void *opened, rp_phase *phase) {
    record_connection *connection = opened;
    record_operation *operation = calloc(1, sizeof *operation);
    operation->connection = connection;
    operation->table = record_find_table(&connection->tables, phase->table);
    if (record_lay_out(&operation->layout, phase) &&
        (phase->access == RP_CREATE || ready(connection, operation->table)))
        return operation;
    record_close_operation(operation);
    return NULL;
}

static bool record_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    record_operation *operation = statement;
    if (phase->access == RP_CREATE)
        return create_table(operation->connection, operation->table, phase->key_column_count > 0);
    if (!ready(operation->connection, operation->table)) return false;
    return serve(operation, phase, phase->parameters != NULL ? rp_parameters(phase, row) : NULL, sink);
}

#define RECORD_ADAPTER(name, title, opens, closes, prepares, tells_facts)                                              \
    {                                                                                                                  \
        .driver = name,                                                                                                \
        .open = opens,                                                                                                 \
        .close = closes,                                                                                               \
        .prepare = prepares,                                                                                           \
        .execute = record_execute,                                                                                     \
        .release = record_close_operation,                                                                             \
        .run = record_run,                                                                                             \
        .facts = tells_facts,                                                                                          \
        .no_timeout = title " runs no statements: each call is over when it returns",                                  \
    }

#endif
