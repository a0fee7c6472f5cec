/* fetch=copy: COPY (query) TO STDOUT, its text or its binary format taken apart here.
   Source: PostgreSQL's manual, "COPY", File Formats. */
#include <stdlib.h>

#include "libpq.h"

/* COPY does not send the types of its columns: the query is described. */
static bool describe_query(pq_operation *operation, const rp_phase *phase) {
    PGconn *pg = operation->connection->pg;
    PGresult *prepared = PQprepare(pg, "", phase->texts[0], 0, NULL), *described = NULL;
    bool good = PQresultStatus(prepared) == PGRES_COMMAND_OK || pq_fail(pg, prepared);
    if (good) {
        described = PQdescribePrepared(pg, "");
        good = PQresultStatus(described) == PGRES_COMMAND_OK ? pq_describe(operation, phase, described)
                                                             : pq_fail(pg, described);
    }
    PQclear(prepared);
    PQclear(described);
    return good;
}

pq_operation *pq_copy_out_of(pq_connection *connection, const rp_phase *phase) {
    pq_operation *operation = pq_statement_of(connection, phase, phase->sql, 1);
    if (operation == NULL) return NULL;
    operation->copies_out = true;
    if (describe_query(operation, phase)) return operation;
    pq_release(operation);
    return NULL;
}

static size_t without_backslashes(char *value, size_t length) {
    static const char letters[] = "bfnrtv", meant[] = "\b\f\n\r\t\v";
    char *to = value;
    for (const char *at = value, *end = value + length; at < end; at++) {
        const char *letter = NULL;
        if (*at == '\\' && at + 1 < end && *++at != '\0') letter = strchr(letters, *at);
        *to++ = letter != NULL ? meant[letter - letters] : *at;
    }
    return (size_t)(to - value);
}

static bool cut_short(void) {
    return rp_fail(RP_SQL_ERROR, "", "COPY's data are not what its format says");
}

/* One line; what is escaped in it is written over itself. */
static bool take_copied_line(const rp_phase *phase, char *at, const char *end, rp_sink *sink) {
    bool escapes = memchr(at, '\\', (size_t)(end - at)) != NULL;
    int last = phase->column_count - 1;
    for (int i = 0; i <= last; i++) {
        rp_column *column = &phase->columns[i];
        char *tab = memchr(at, '\t', (size_t)(end - at));
        if ((tab == NULL) != (i == last)) return cut_short();
        size_t length = (size_t)((tab != NULL ? tab : end) - at);
        if (escapes && length == 2 && at[0] == '\\' && at[1] == 'N')
            rp_null(sink, column);
        else
            rp_text_as(sink, column, at, escapes ? without_backslashes(at, length) : length);
        at = tab + 1;
    }
    rp_row(sink);
    return true;
}

/* The header stands before the first row. */
static const char *behind_header(const char *at, const char *end) {
    static const char signature[] = "PGCOPY\n\377\r\n";
    if (end - at < 19 || memcmp(at, signature, sizeof signature) != 0) return at;
    return at + 19 + pg_int4(at + 15);
}

static bool take_copied_rows(const rp_phase *phase, const char *at, const char *end, rp_sink *sink) {
    at = behind_header(at, end);
    while (end - at >= 2) {
        int count = pg_int2(at);
        at += 2;
        if (count == -1) return true; /* the trailer */
        if (count != phase->column_count) return cut_short();
        for (int i = 0; i < count; i++) {
            if (end - at < 4) return cut_short();
            int length = pg_int4(at);
            at += 4;
            if (length > end - at) return cut_short();
            if (length < 0)
                rp_null(sink, &phase->columns[i]);
            else
                pg_take_binary(sink, &phase->columns[i], at, (size_t)length);
            at += length > 0 ? length : 0;
        }
        rp_row(sink);
    }
    return at == end || cut_short();
}

static bool take_copied(pq_operation *operation, const rp_phase *phase, rp_sink *sink) {
    PGconn *pg = operation->connection->pg;
    bool good = true;
    int length;
    for (char *data; (length = PQgetCopyData(pg, &data, 0)) > 0; PQfreemem(data)) {
        if (!good) continue; /* the rest has to be read all the same */
        if (operation->connection->binary)
            good = take_copied_rows(phase, data, data + length, sink);
        else
            good = take_copied_line(phase, data, data + length - 1, sink);
    }
    if (length == -2 && good) good = pq_fail(pg, NULL);
    for (PGresult *result; (result = PQgetResult(pg)) != NULL; PQclear(result))
        if (good) good = PQresultStatus(result) == PGRES_COMMAND_OK || pq_fail(pg, result);
    return good;
}

bool pq_execute_copy(pq_operation *operation, const rp_phase *phase, const char *text, rp_sink *sink) {
    PGconn *pg = operation->connection->pg;
    bool binary = operation->connection->binary;
    /* On a line of its own: the query may end in a comment. */
    char *sql = pq_wrapped("COPY (", text, binary ? "\n) TO STDOUT (FORMAT binary)" : "\n) TO STDOUT");
    PGresult *result = PQexec(pg, sql);
    bool began = PQresultStatus(result) == PGRES_COPY_OUT || pq_fail(pg, result);
    PQclear(result);
    free(sql);
    rp_executed(sink);
    return began && take_copied(operation, phase, sink);
}
