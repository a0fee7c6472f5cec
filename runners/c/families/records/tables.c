/* The tables of a connection, the words that `run` takes, and the operation of a phase on one table. */
#include <stdio.h>
#include <stdlib.h>

#include "records.h"

/* The table of that name, not open when it was not known yet. */
static record_table *find_table(record_connection *connection, const char *name) {
    for (record_table *table = connection->tables; table != NULL; table = table->next)
        if (strcmp(table->name, name) == 0) return table;
    record_table *table = calloc(1, sizeof *table);
    snprintf(table->name, sizeof table->name, "%s", name);
    table->next = connection->tables;
    return connection->tables = table;
}

bool record_fail_as(rp_error_kind kind, const char *name, int result) {
    char code[16];
    snprintf(code, sizeof code, "%d", result);
    return rp_fail(kind, code, "%s: %s", name, record_engine_here.error_text(result));
}

bool record_fail(const char *name, int result) {
    return record_fail_as(RP_SQL_ERROR, name, result);
}

/* The word, and what stands behind it; false after rp_fail for any other text. */
static bool read_word(const char *text, record_word *word, char name[RECORD_NAME_BYTES], bool *keyed) {
    static const char *const alone[] = {
        [RECORD_BEGIN] = "BEGIN", [RECORD_COMMIT] = "COMMIT", [RECORD_ROLLBACK] = "ROLLBACK", [RECORD_SYNC] = "SYNC"};
    char kind[16];
    if (sscanf(text, "CREATE %255s %15s", name, kind) == 2) {
        *word = RECORD_CREATE;
        *keyed = strcmp(kind, "KEYED") == 0;
        return true;
    }
    *word = RECORD_DROP;
    if (sscanf(text, "DROP %255s", name) == 1) return true;
    for (*word = RECORD_BEGIN; *word <= RECORD_SYNC; ++*word)
        if (strcmp(text, alone[*word]) == 0) return true;
    return rp_fail(RP_UNSUPPORTED, "", "'%s' is no word of this adapter", text);
}

bool record_run(void *opened, const char *text) {
    record_connection *connection = opened;
    char name[RECORD_NAME_BYTES];
    record_word word;
    bool keyed;
    if (!read_word(text, &word, name, &keyed)) return false;
    if (word == RECORD_CREATE) return record_engine_here.create(connection, find_table(connection, name), keyed);
    if (word == RECORD_DROP) return record_engine_here.drop(connection, find_table(connection, name));
    return record_engine_here.run_word(connection, word, text);
}

void record_free_tables(record_connection *connection) {
    while (connection->tables != NULL) {
        record_table *table = connection->tables;
        connection->tables = table->next;
        free(table);
    }
}

void record_close_operation(void *statement) {
    record_operation *operation = statement;
    record_release(&operation->layout);
    free(operation->block);
    free(operation);
}

void *record_prepare(void *opened, rp_phase *phase) {
    record_connection *connection = opened;
    record_operation *operation = calloc(1, sizeof *operation);
    operation->connection = connection;
    operation->table = find_table(connection, phase->table);
    if (record_lay_out(&operation->layout, phase) &&
        (phase->access == RP_CREATE || operation->table->open || record_engine_here.open(connection, operation->table)))
        return operation;
    record_close_operation(operation);
    return NULL;
}

void record_version(rp_facts *facts, int major, int minor, int patch) {
    char text[48];
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    rp_driver_version(facts, text);
    rp_engine_version(facts, text);
}
