/* Records without SQL's optimizer: HANDLER opens a table once, then reads by its primary key or one after the other. */
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "mysql_operation.h"

static char *key_sql(const char *name, const rp_phase *phase) {
    char *sql;
    size_t size;
    FILE *to = open_memstream(&sql, &size);
    fprintf(to, "HANDLER %s READ `PRIMARY` = (", name);
    for (int i = 0; i < phase->key_column_count; i++)
        fprintf(to, "%s?", i > 0 ? ", " : "");
    fprintf(to, ")");
    fclose(to);
    return sql;
}

static char *scan_sql(const char *name, const char *where, uint64_t records) {
    char *sql;
    if (asprintf(&sql, "HANDLER %s READ %s LIMIT %llu", name, where, (unsigned long long)records) < 0) abort();
    return sql;
}

/* The core made texts of the phase's SQL; here another statement is executed. */
static void make_texts(rp_phase *phase, const char *sql) {
    phase->sql = rp_arena_copy(phase->arena, sql, strlen(sql));
    for (uint64_t row = 0; phase->texts != NULL && row < phase->parameter_count; row++)
        phase->texts[row] = rp_literal_sql(phase, row, &rp_adapter_here);
}

static my_operation *open_table(my_connection *connection, const rp_phase *phase) {
    my_operation *operation = calloc(1, sizeof *operation);
    char *sql;
    operation->connection = connection;
    /* A name that no other phase has, and that is the same on every client's connection: they share their texts. */
    if (asprintf(&operation->handler, "rp%llx", (unsigned long long)(uintptr_t)phase->arena) < 0 ||
        asprintf(&sql, "HANDLER `%s` OPEN AS %s", phase->table, operation->handler) < 0)
        abort();
    bool good = my_run(connection, sql);
    free(sql);
    if (good) return operation;
    free(operation->handler);
    operation->handler = NULL;
    my_release(operation);
    return NULL;
}

my_operation *my_handler_of(my_connection *connection, rp_phase *phase) {
    if (phase->access != RP_READ && phase->access != RP_SCAN) {
        rp_fail(RP_UNSUPPORTED, "", "HANDLER reads records by their key or one after the other");
        return NULL;
    }
    my_operation *table = open_table(connection, phase), *first = NULL, *next = NULL;
    if (table == NULL) return NULL;
    bool scans = phase->access == RP_SCAN;
    char *sql = scans ? scan_sql(table->handler, "FIRST", connection->block) : key_sql(table->handler, phase);
    if (!scans) make_texts(phase, sql);
    first = table->rest = my_operation_of(connection, phase, sql, 1);
    if (first != NULL && scans)
        next = first->rest = my_operation_of(connection, phase, scan_sql(table->handler, "NEXT", connection->block), 1);
    if (first == NULL || (scans && next == NULL)) {
        my_release(table);
        return NULL;
    }
    first->by_name = true;
    if (next != NULL) next->by_name = true;
    return table;
}

static bool read_records(my_operation *operation, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    if (operation->mode != RP_LITERAL) return my_execute_bound(operation, phase, row, sink);
    return my_execute_text(operation, phase, phase->access == RP_SCAN ? operation->sql : phase->texts[row], sink);
}

bool my_execute_handler(my_operation *table, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    my_operation *first = table->rest, *operation = first;
    uint64_t most = table->connection->block, before, executed_at_ns = 0;
    do {
        before = sink->rows;
        if (!read_records(operation, phase, row, sink)) return false;
        if (executed_at_ns == 0) executed_at_ns = sink->executed_at_ns;
        sink->executed_at_ns = executed_at_ns; /* the first execution's */
        operation = first->rest;
    } while (operation != NULL && sink->rows - before == most);
    return true;
}
