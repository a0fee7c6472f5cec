/* The bulk ways: COPY … FROM STDIN, one INSERT with as many rows of placeholders as the protocol allows, or one INSERT
   from unnest() of an array a column. */
#include <stdio.h>
#include <stdlib.h>

#include "libpq.h"

static bool has_binary_form(const rp_column *column, const char *bulk) {
    return (column->type != RP_INTERVAL && column->type < RP_ARRAY) ||
           rp_fail(RP_UNSUPPORTED, "", "column %s: bulk=%s has no form of it here", column->name, bulk);
}

static void put_names(FILE *sql, const rp_phase *phase) {
    for (int i = 0; i < phase->parameter_column_count; i++)
        fprintf(sql, "%s%s", i > 0 ? ", " : "", phase->parameter_columns[i].name);
}

static pq_operation *copy_of(pq_connection *connection, const rp_phase *phase) {
    bool binary = strcmp(connection->bulk, "copy-binary") == 0;
    for (int i = 0; binary && i < phase->parameter_column_count; i++)
        if (!has_binary_form(&phase->parameter_columns[i], connection->bulk)) return NULL;
    pq_operation *operation = calloc(1, sizeof *operation);
    size_t size;
    FILE *sql = open_memstream(&operation->sql, &size);
    operation->connection = connection;
    operation->copies = true;
    operation->copies_binary = binary;
    operation->copy.pg = connection->pg;
    fprintf(sql, "COPY %s (", phase->table);
    put_names(sql, phase);
    fprintf(sql, ") FROM STDIN%s", binary ? " (FORMAT binary)" : "");
    fclose(sql);
    return operation;
}

/* The INSERT of as many of `all` rows as the protocol allows; those that remain are the `rest`. */
static pq_operation *multi_row_of(pq_connection *connection, const rp_phase *phase, uint64_t all) {
    uint64_t rows = rp_rows_at_once(phase, all, PQ_MOST_PARAMETERS);
    char *sql = rp_rows_of_values(phase->sql, rows);
    pq_operation *operation = sql != NULL ? pq_statement_of(connection, phase, sql, rows) : NULL;
    free(sql);
    if (operation == NULL || all % rows == 0) return operation;
    operation->rest = multi_row_of(connection, phase, all % rows);
    if (operation->rest != NULL) return operation;
    pq_release(operation);
    return NULL;
}

/* The types of the INSERT's parameters, as the server knows them; NULL after rp_fail. */
static Oid *element_types(PGconn *pg, const rp_phase *phase) {
    char *sql = rp_numbered_placeholders(phase->sql);
    PGresult *prepared = PQprepare(pg, "", sql, 0, NULL);
    PGresult *described = PQdescribePrepared(pg, "");
    bool good = PQresultStatus(prepared) == PGRES_COMMAND_OK || pq_fail(pg, prepared);
    good = good && (PQresultStatus(described) == PGRES_COMMAND_OK || pq_fail(pg, described));
    Oid *types = calloc((size_t)phase->parameter_column_count, sizeof *types);
    for (int i = 0; good && i < phase->parameter_column_count; i++) {
        types[i] = PQparamtype(described, i);
        const rp_column *column = &phase->parameter_columns[i];
        if (pg_type_name(types[i]) == NULL || column->type == RP_ARRAY) /* unnest takes arrays of arrays apart */
            good = rp_fail(RP_UNSUPPORTED, "", "column %s: bulk=unnest has no array of it", column->name);
    }
    PQclear(prepared);
    PQclear(described);
    free(sql);
    if (good) return types;
    free(types);
    return NULL;
}

static pq_operation *unnest_of(pq_connection *connection, const rp_phase *phase) {
    for (int i = 0; connection->binary && i < phase->parameter_column_count; i++)
        if (!has_binary_form(&phase->parameter_columns[i], connection->bulk)) return NULL;
    Oid *types = element_types(connection->pg, phase);
    if (types == NULL) return NULL;
    char *text;
    size_t size;
    FILE *sql = open_memstream(&text, &size);
    fprintf(sql, "INSERT INTO %s (", phase->table);
    put_names(sql, phase);
    for (int i = 0; i < phase->parameter_column_count; i++)
        fprintf(sql, "%s?::%s[]", i > 0 ? ", " : ") SELECT * FROM unnest(", pg_type_name(types[i]));
    fprintf(sql, ")");
    fclose(sql);
    pq_operation *operation = pq_statement_of(connection, phase, text, 0);
    free(text);
    if (operation != NULL)
        operation->elements = types;
    else
        free(types);
    return operation;
}

pq_operation *pq_bulk_of(pq_connection *connection, const rp_phase *phase) {
    bool multi_row = strcmp(connection->bulk, "multi-row") == 0, unnest = strcmp(connection->bulk, "unnest") == 0;
    if (strncmp(connection->bulk, "copy", 4) == 0) return copy_of(connection, phase);
    if (multi_row && connection->mode != RP_LITERAL) return multi_row_of(connection, phase, phase->rows_per_operation);
    if (unnest && connection->mode != RP_LITERAL) return unnest_of(connection, phase);
    if (multi_row || unnest)
        rp_fail(RP_UNSUPPORTED, "", "bulk=%s binds its values", connection->bulk);
    else
        rp_fail(RP_UNSUPPORTED, "", "libpq has no bulk way '%s'", connection->bulk);
    return NULL;
}

/* Everything that is left of a COPY; what failed before it stays the error. */
static bool end_copy(PGconn *pg, bool good, uint64_t count) {
    bool sent = PQputCopyEnd(pg, good ? NULL : "the rows could not be sent") == 1;
    if (good && !sent) good = pq_fail(pg, NULL);
    for (PGresult *result; (result = PQgetResult(pg)) != NULL; PQclear(result)) {
        if (!good) continue;
        good = PQresultStatus(result) == PGRES_COMMAND_OK || pq_fail(pg, result);
        if (good && strtoull(PQcmdTuples(result), NULL, 10) != count)
            good = rp_fail(RP_SQL_ERROR, "", "COPY stored %s rows", PQcmdTuples(result));
    }
    return good;
}

static bool copy_in(pq_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count) {
    PGconn *pg = operation->connection->pg;
    PGresult *result = PQexec(pg, operation->sql);
    bool began = PQresultStatus(result) == PGRES_COPY_IN || pq_fail(pg, result);
    PQclear(result);
    return began && end_copy(pg, pg_copy_rows(&operation->copy, phase, row, count, operation->copies_binary), count);
}

static bool insert(pq_operation *operation) {
    PGresult *result = pq_execute_whole(operation, NULL);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK || pq_fail(operation->connection->pg, result);
    PQclear(result);
    return good;
}

static bool insert_rows(pq_operation *operation, const rp_phase *phase, uint64_t row) {
    pq_bind(operation, phase, row);
    return insert(operation);
}

static bool insert_arrays(pq_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count) {
    pg_copy_buffer *arrays = &operation->copy;
    bool binary = operation->connection->binary;
    arrays->length = 0;
    for (int i = 0; i < operation->parameter_count; i++) {
        size_t start = arrays->length;
        if (!pg_put_array(arrays, phase, i, row, count, operation->elements[i], binary)) return false;
        operation->lengths[i] = (int)(arrays->length - start);
        operation->formats[i] = binary;
    }
    const char *array = arrays->data; /* growing moves it */
    for (int i = 0; i < operation->parameter_count; array += operation->lengths[i++])
        operation->values[i] = array;
    return insert(operation);
}

bool pq_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count) {
    pq_operation *operation = statement;
    PGconn *pg = operation->connection->pg;
    if (operation->copies) return copy_in(operation, phase, row, count);
    if (operation->elements != NULL) return insert_arrays(operation, phase, row, count);
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
