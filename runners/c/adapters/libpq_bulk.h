/* libpq's bulk ways: COPY … FROM STDIN, or one INSERT with as many rows of placeholders as the protocol allows. */
#ifndef RP_LIBPQ_BULK_H
#define RP_LIBPQ_BULK_H

#include "libpq_operation.h"

static inline bool has_binary_form(const rp_column *column) {
    return (column->type != RP_INTERVAL && column->type != RP_ARRAY) ||
           rp_fail(RP_UNSUPPORTED, "", "column %s: bulk=copy-binary has no form of it here", column->name);
}

static inline pq_operation *copy_of(pq_connection *connection, const rp_phase *phase) {
    bool binary = strcmp(connection->bulk, "copy-binary") == 0;
    for (int i = 0; binary && i < phase->parameter_column_count; i++)
        if (!has_binary_form(&phase->parameter_columns[i])) return NULL;
    pq_operation *operation = calloc(1, sizeof *operation);
    size_t size;
    FILE *sql = open_memstream(&operation->sql, &size);
    operation->connection = connection;
    operation->copies = true;
    operation->copies_binary = binary;
    operation->copy.pg = connection->pg;
    fprintf(sql, "COPY %s (", phase->table);
    for (int i = 0; i < phase->parameter_column_count; i++)
        fprintf(sql, "%s%s", i > 0 ? ", " : "", phase->parameter_columns[i].name);
    fprintf(sql, ") FROM STDIN%s", binary ? " (FORMAT binary)" : "");
    fclose(sql);
    return operation;
}

static inline pq_operation *rows_of(pq_connection *connection, const rp_phase *phase, uint64_t rows) {
    char *sql = rp_rows_of_values(phase->sql, rows);
    pq_operation *operation = sql != NULL ? statement_of(connection, phase, sql, rows) : NULL;
    free(sql);
    return operation;
}

static inline pq_operation *multi_row_of(pq_connection *connection, const rp_phase *phase) {
    if (connection->mode == RP_LITERAL) {
        rp_fail(RP_UNSUPPORTED, "", "bulk=multi-row binds its values");
        return NULL;
    }
    uint64_t all = phase->rows_per_operation;
    uint64_t most = MOST_PARAMETERS / (uint64_t)phase->parameter_column_count, rows = all < most ? all : most;
    pq_operation *operation = rows_of(connection, phase, rows);
    if (operation == NULL || all % rows == 0) return operation;
    operation->rest = rows_of(connection, phase, all % rows);
    if (operation->rest != NULL) return operation;
    pq_release(operation);
    return NULL;
}

/* Everything that is left of a COPY; what failed before it stays the error. */
static inline bool end_copy(PGconn *pg, bool good, uint64_t count) {
    bool sent = PQputCopyEnd(pg, good ? NULL : "the rows could not be sent") == 1;
    if (good && !sent) good = fail(pg, NULL);
    for (PGresult *result; (result = PQgetResult(pg)) != NULL; PQclear(result)) {
        if (!good) continue;
        good = PQresultStatus(result) == PGRES_COMMAND_OK || fail(pg, result);
        if (good && strtoull(PQcmdTuples(result), NULL, 10) != count)
            good = rp_fail(RP_SQL_ERROR, "", "COPY stored %s rows", PQcmdTuples(result));
    }
    return good;
}

static inline bool copy_in(pq_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count) {
    PGconn *pg = operation->connection->pg;
    PGresult *result = PQexec(pg, operation->sql);
    bool began = PQresultStatus(result) == PGRES_COPY_IN || fail(pg, result);
    PQclear(result);
    return began && end_copy(pg, copy_rows(&operation->copy, phase, row, count, operation->copies_binary), count);
}

static inline bool insert_rows(pq_operation *operation, const rp_phase *phase, uint64_t row) {
    bind(operation, phase, row);
    PGresult *result = execute_whole(operation, NULL);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK || fail(operation->connection->pg, result);
    PQclear(result);
    return good;
}

/* One statement is its own transaction. */
static inline bool pq_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count) {
    pq_operation *operation = statement;
    PGconn *pg = operation->connection->pg;
    if (operation->copies) return copy_in(operation, phase, row, count);
    if (operation->rows == count) return insert_rows(operation, phase, row);
    bool good = pq_run(operation->connection, "BEGIN");
    for (uint64_t last = row + count; good && row < last; row += operation->rows) {
        if (last - row < operation->rows) operation = operation->rest;
        good = insert_rows(operation, phase, row);
    }
    if (good) return pq_run(operation->connection, "COMMIT");
    PQclear(PQexec(pg, "ROLLBACK"));
    return false;
}

#endif
