/* The rows of results; and those of a server's cursor, some of them in each result. */
#include <stdlib.h>

#include "libpq.h"

bool pq_is_binary(const pq_operation *operation) {
    return operation->connection->binary && (operation->mode != RP_LITERAL || operation->copies_out);
}

bool pq_describe(pq_operation *operation, const rp_phase *phase, const PGresult *result) {
    if (PQnfields(result) != phase->column_count)
        return rp_fail(RP_VERIFY, "", "the result has %d columns, not %d", PQnfields(result), phase->column_count);
    for (int i = 0; i < phase->column_count; i++) {
        rp_column *column = &phase->columns[i];
        const char *name = pg_type_name(PQftype(result, i));
        column->code = name != NULL && column->type != RP_OPAQUE ? (int)PQftype(result, i) : 0;
        rp_deliver(column, name != NULL ? name : "another type");
    }
    operation->described = true;
    return true;
}

bool pq_take(pq_operation *operation, const rp_phase *phase, const PGresult *result, rp_sink *sink) {
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) return true;
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE || result == NULL)
        return pq_fail(operation->connection->pg, result);
    if (!operation->described && !pq_describe(operation, phase, result)) return false;
    int rows = PQntuples(result), columns = phase->column_count;
    bool binary = pq_is_binary(operation);
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < columns; i++) {
            rp_column *column = &phase->columns[i];
            const char *value = PQgetvalue(result, row, i);
            size_t length = (size_t)PQgetlength(result, row, i);
            /* A column may hold NULL all the same; asked only of what has no bytes. */
            if ((column->nullable || RP_UNLIKELY(length == 0)) && PQgetisnull(result, row, i))
                rp_null(sink, column);
            else if (binary)
                pg_take_binary(sink, column, value, length);
            else
                rp_text_as(sink, column, value, length);
        }
        rp_row(sink);
    }
    return true;
}

pq_operation *pq_cursor_of(pq_connection *connection, const rp_phase *phase) {
    char *sql = pq_wrapped("DECLARE " PQ_CURSOR " NO SCROLL CURSOR FOR ", phase->sql, "");
    pq_operation *operation = pq_statement_of(connection, phase, sql, 1);
    free(sql);
    if (operation != NULL) operation->has_cursor = true;
    return operation;
}

static bool declare(pq_operation *operation, const char *text) {
    char *sql = text != NULL ? pq_wrapped("DECLARE " PQ_CURSOR " NO SCROLL CURSOR FOR ", text, "") : NULL;
    PGresult *result = pq_execute_whole(operation, sql);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK || pq_fail(operation->connection->pg, result);
    PQclear(result);
    free(sql);
    return good;
}

static bool fetch_all(pq_operation *operation, const rp_phase *phase, rp_sink *sink) {
    pq_connection *connection = operation->connection;
    int asked = connection->cursor_rows, rows = asked;
    bool good = true;
    while (good && rows == asked) {
        PGresult *result = operation->mode == RP_LITERAL ? PQexec(connection->pg, connection->fetch)
                                                         : PQexecParams(connection->pg, connection->fetch, 0, NULL,
                                                                        NULL, NULL, NULL, connection->binary);
        rows = PQntuples(result);
        good = pq_take(operation, phase, result, sink);
        PQclear(result);
    }
    return good;
}

bool pq_execute_cursor(pq_operation *operation, const rp_phase *phase, const char *text, rp_sink *sink) {
    PGconn *pg = operation->connection->pg;
    bool own = PQtransactionStatus(pg) == PQTRANS_IDLE;
    if (own && !pq_execute_text(pg, "BEGIN")) return false;
    bool good = declare(operation, text);
    rp_executed(sink);
    good = good && fetch_all(operation, phase, sink);
    if (!own) return good && pq_execute_text(pg, "CLOSE " PQ_CURSOR);
    if (good) return pq_execute_text(pg, "COMMIT");
    PQclear(PQexec(pg, "ROLLBACK"));
    return false;
}
