/* libpq's ways to execute a statement and to take its rows. */
#ifndef RP_LIBPQ_H
#define RP_LIBPQ_H

#include "libpq_connection.h"
#include "postgresql.h"

#define PQ_CURSOR "rowpath_cursor"

#define PQ_MOST_PARAMETERS 65535 /* of one statement: the protocol counts them in 16 bits */

typedef struct pq_connection {
    PGconn *pg;
    rp_statement_mode mode;
    bool binary, copies_out; /* fetch=copy */
    int chunk_rows;          /* 0: the result whole */
    int cursor_rows;         /* 0: no cursor */
    char fetch[64];          /* the cursor's next rows */
    int statements;
    char bulk[16];
} pq_connection;

typedef struct pq_operation {
    pq_connection *connection;
    rp_statement_mode mode;
    char name[16], *sql; /* of the prepared statement; with $1, $2, … */
    bool described, has_cursor, copies_out;
    int parameter_count; /* of one execution: those of one row, or of many */
    Oid *types;
    const char **values;
    int *lengths, *formats;
    char (*scratch)[RP_SCRATCH_BYTES];
    bool copies, copies_binary;
    pg_copy_buffer copy;
    uint64_t rows;             /* bulk: of one execution */
    struct pq_operation *rest; /* bulk: for the rows that remain when `rows` do not divide an operation's */
    Oid *elements;             /* bulk=unnest: the types in the arrays that are the parameters */
} pq_operation;

/* An operation that executes `sql`, whose placeholders are those of `rows` parameter rows; NULL after rp_fail.
   0 rows: a placeholder a column, of the type that `sql` casts it to. */
pq_operation *pq_statement_of(pq_connection *connection, const rp_phase *phase, const char *sql, uint64_t rows);

/* The same through a server's cursor, as a COPY to the client, and for the bulk ways. */
pq_operation *pq_cursor_of(pq_connection *connection, const rp_phase *phase);
pq_operation *pq_copy_out_of(pq_connection *connection, const rp_phase *phase);
pq_operation *pq_bulk_of(pq_connection *connection, const rp_phase *phase);
void pq_release(void *statement);

/* Puts the values of parameter row `row`, or of the rows from it on, into the operation. */
void pq_bind(pq_operation *operation, const rp_phase *phase, uint64_t row);
PGresult *pq_execute_whole(const pq_operation *operation, const char *text);

/* A cursor lives in a transaction, whose end closes it: that of the phase, or one of the operation's own. */
bool pq_execute_cursor(pq_operation *operation, const rp_phase *phase, const char *text, rp_sink *sink);

/* COPY (query) TO STDOUT. */
bool pq_execute_copy(pq_operation *operation, const rp_phase *phase, const char *text, rp_sink *sink);

/* Hands a statement to libpq without waiting for its answer. */
bool pq_send_statement(const pq_operation *operation, const char *text);

/* A pipeline. Each write is a transaction of its own; of reads all statements of one pipeline are. */
bool pq_pipelines(const pq_connection *connection);
bool pq_send(void *statement, const rp_phase *phase, uint64_t row, bool last);
bool pq_receive(void *statement, const rp_phase *phase, bool last, rp_sink *sink);

/* One statement is its own transaction. */
bool pq_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count);
bool pq_run(void *opened, const char *sql);

/* The rows of one result. */
bool pq_take(pq_operation *operation, const rp_phase *phase, const PGresult *result, rp_sink *sink);

/* A simple query (the first of a fresh connection, with fetch=copy) delivers text whatever was asked for. */
bool pq_is_binary(const pq_operation *operation);

/* The result's types, looked at once. A value of any type can be taken. */
bool pq_describe(pq_operation *operation, const rp_phase *phase, const PGresult *result);

/* A query between two texts; to be freed by the caller. A semicolon at its end would end the whole. */
char *pq_wrapped(const char *before, const char *query, const char *after);

#endif
