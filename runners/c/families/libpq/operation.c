/* An operation: made and released, parameters bound, executed in one of the statement modes. */
#include <stdio.h>
#include <stdlib.h>

#include "libpq.h"

void pq_release(void *statement) {
    pq_operation *operation = statement;
    if (operation->rest != NULL) pq_release(operation->rest);
    free(operation->types);
    free(operation->elements);
    free(operation->values);
    free(operation->lengths);
    free(operation->formats);
    free(operation->scratch);
    free(operation->copy.data);
    free(operation->sql);
    free(operation);
}

static bool prepare_on_server(pq_operation *operation) {
    PGconn *pg = operation->connection->pg;
    snprintf(operation->name, sizeof operation->name, "rp%d", ++operation->connection->statements);
    PGresult *result = PQprepare(pg, operation->name, operation->sql, operation->parameter_count, operation->types);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK || pq_fail(pg, result);
    PQclear(result);
    return good;
}

pq_operation *pq_statement_of(pq_connection *connection, const rp_phase *phase, const char *sql, uint64_t rows) {
    size_t width = (size_t)phase->parameter_column_count, count = rows > 0 ? width * rows : width, room = count + 1;
    if (count > PQ_MOST_PARAMETERS) {
        rp_fail(RP_UNSUPPORTED, "", "%zu placeholders; the protocol allows %d", count, PQ_MOST_PARAMETERS);
        return NULL;
    }
    pq_operation *operation = calloc(1, sizeof *operation);
    operation->connection = connection;
    operation->mode = connection->mode == RP_PREPARED && phase->kind == RP_CONNECT ? RP_BOUND : connection->mode;
    operation->sql = count > 0 ? rp_numbered_placeholders(sql) : strdup(sql); /* ? is an operator, too */
    operation->rows = rows;
    operation->parameter_count = (int)count;
    operation->types = calloc(room, sizeof *operation->types);
    operation->values = calloc(room, sizeof *operation->values);
    operation->lengths = calloc(room, sizeof *operation->lengths);
    operation->formats = calloc(room, sizeof *operation->formats);
    operation->scratch = calloc(room, sizeof *operation->scratch);
    for (size_t i = 0; rows > 0 && i < count; i++)
        operation->types[i] = pg_parameter_type(&phase->parameter_columns[i % width]);
    if (operation->mode != RP_PREPARED || prepare_on_server(operation)) return operation;
    pq_release(operation);
    return NULL;
}

void pq_bind(pq_operation *operation, const rp_phase *phase, uint64_t row) {
    const rp_value *value = rp_parameters(phase, row);
    const rp_column *first = phase->parameter_columns, *end = first + phase->parameter_column_count, *column = first;
    for (int i = 0; i < operation->parameter_count; i++, value++) {
        char *scratch = operation->scratch[i];
        size_t length;
        bool raw = value->type == RP_BINARY || value->type == RP_UUID;
        int size = operation->connection->binary ? pg_put_binary(value, column, scratch) : -1;
        operation->formats[i] = raw || size >= 0;
        operation->lengths[i] = raw ? (int)value->length : size;
        if (value->type == RP_NULL)
            operation->values[i] = NULL;
        else
            operation->values[i] = raw ? value->text : size >= 0 ? scratch : rp_value_text(value, scratch, &length);
        if (++column == end) column = first;
    }
}

PGresult *pq_execute_whole(const pq_operation *operation, const char *text) {
    PGconn *pg = operation->connection->pg;
    int count = operation->parameter_count, binary = operation->connection->binary;
    if (operation->mode == RP_LITERAL) return PQexec(pg, text);
    if (operation->mode == RP_PREPARED)
        return PQexecPrepared(pg, operation->name, count, operation->values, operation->lengths, operation->formats,
                              binary);
    return PQexecParams(pg, operation->sql, count, operation->types, operation->values, operation->lengths,
                        operation->formats, binary);
}

bool pq_send_statement(const pq_operation *operation, const char *text) {
    PGconn *pg = operation->connection->pg;
    int count = operation->parameter_count, binary = operation->connection->binary, sent;
    if (operation->mode == RP_LITERAL)
        sent = PQsendQuery(pg, text);
    else if (operation->mode == RP_PREPARED)
        sent = PQsendQueryPrepared(pg, operation->name, count, operation->values, operation->lengths,
                                   operation->formats, binary);
    else
        sent = PQsendQueryParams(pg, operation->sql, count, operation->types, operation->values, operation->lengths,
                                 operation->formats, binary);
    return sent || pq_fail(pg, NULL);
}

bool pq_run(void *opened, const char *sql) {
    return pq_execute_text(((pq_connection *)opened)->pg, sql);
}

char *pq_wrapped(const char *before, const char *query, const char *after) {
    size_t length = strlen(query);
    char *sql;
    while (length > 0 && strchr("; \t\r\n", query[length - 1]) != NULL)
        length--;
    if (asprintf(&sql, "%s%.*s%s", before, (int)length, query, after) < 0) abort();
    return sql;
}
