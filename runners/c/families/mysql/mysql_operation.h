/* Statements through the MySQL C API, prepared or as text; records by HANDLER; bulk ways. */
#ifndef RP_MYSQL_OPERATION_H
#define RP_MYSQL_OPERATION_H

#include "mysql_connection.h"

#define MY_MOST_PARAMETERS 65535 /* of one statement: the protocol counts them in 16 bits */

/* One parameter or one column of the result. */
typedef struct my_value {
    union {
        int64_t integer;
        int32_t number;
        int16_t small;
        int8_t tiny;
        double real;
        float single;
        MYSQL_TIME moment;
    };
    char *text;
    size_t room; /* of `text` */
    unsigned long length;
    my_bool is_null, error;
} my_value;

typedef struct my_operation {
    my_connection *connection;
    rp_statement_mode mode;
    char *sql, *handler; /* the statement; the name under which HANDLER has opened the table */
    bool takes_result, by_name;
    MYSQL_STMT *statement; /* NULL: prepared again in each operation, or text */
    uint64_t rows;         /* parameter rows of one execution */
    int parameter_count, result_count;
    my_value *parameters, *results;
    MYSQL_BIND *parameter_binds, *result_binds;
    int *positions;            /* of the phase's columns in the result; NULL: not described yet */
    struct my_operation *rest; /* a HANDLER's next records; of bulk, the rows that remain */
} my_operation;

/* Inline: asked of many a value inside the clock. */
static inline bool my_has_text(enum enum_field_types type) {
    return type == MYSQL_TYPE_STRING || type == MYSQL_TYPE_BLOB || type == MYSQL_TYPE_NEWDECIMAL;
}

static inline void my_bind_value(MYSQL_BIND *bind, my_value *value, enum enum_field_types type) {
    *bind = (MYSQL_BIND){.buffer_type = type,
                         .buffer = my_has_text(type) ? (void *)value->text : &value->integer,
                         .buffer_length = my_has_text(type) ? value->room : sizeof value->moment,
                         .length = &value->length,
                         .is_null = &value->is_null,
                         .error = &value->error};
}

/* The adapters' own functions. */
void *my_prepare(void *opened, rp_phase *phase);
bool my_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink);
void my_release(void *statement);
bool my_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count); /* in one transaction */

/* Ask the server which connection this is: the embedded library does not know. */
void *my_make_canceller(void *opened);
bool my_cancel(void *made); /* over a second connection */
bool my_set_timeout(void *opened, int64_t ms);
void my_facts(void *opened, rp_facts *facts);

/* An operation that executes `sql`, whose placeholders are those of `rows` parameter rows; owns `sql`. */
my_operation *my_operation_of(my_connection *connection, const rp_phase *phase, char *sql, uint64_t rows);

/* The table's opening, then (`rest`) the first records, then the next ones; by key there is only one statement. */
my_operation *my_handler_of(my_connection *connection, rp_phase *phase);
my_operation *my_bulk_of(my_connection *connection, const rp_phase *phase);

/* A statement on the server, its parameters bound; NULL after rp_fail. */
MYSQL_STMT *my_prepare_statement(my_operation *operation);

/* Buffers for the parameters, those of text as long as the longest text that will be put into them. */
void my_make_parameters(my_operation *operation, const rp_phase *phase);
void my_put_parameters(my_operation *operation, const rp_phase *phase, uint64_t row);

/* The result's columns, looked at once: where the phase's columns are and what they are delivered as. */
bool my_describe(my_operation *operation, const rp_phase *phase, MYSQL_RES *result);

/* The position of a phase's column among the result's: its own, or (HANDLER delivers whole records) by its name. */
int my_position_of(const rp_column *column, int position, const MYSQL_FIELD *fields, int count, bool by_name);

/* What the column is delivered as, once a result shows it: `column->code` has the type that its values are bound as in
   its lowest byte, how they are taken (an rp_type) in the next one, and MY_UNSIGNED. */
#define MY_UNSIGNED 0x10000
void my_describe_column(rp_column *column, const MYSQL_FIELD *field);

static inline enum enum_field_types my_buffer(const rp_column *column) {
    return (enum enum_field_types)(column->code & 0xff);
}

/* Prepared once, or prepared and closed again here. */
bool my_execute_bound(my_operation *operation, const rp_phase *phase, uint64_t row, rp_sink *sink);
bool my_execute_text(my_operation *operation, const rp_phase *phase, const char *sql, rp_sink *sink);

/* Blocks of records until one is not full. */
bool my_execute_handler(my_operation *table, const rp_phase *phase, uint64_t row, rp_sink *sink);

/* With LOCAL the server goes on after a row that it cannot store as it is: that is an error here. */
char *my_load_data_sql(const rp_phase *phase);
bool my_load_data(my_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count);

#define MY_ADAPTER(name, facts_of, end_of)                                                                             \
    {                                                                                                                  \
        .driver = name,                                                                                                \
        .binary_literal = {"X'", "'"},                                                                                 \
        .open = my_open,                                                                                               \
        .close = my_close,                                                                                             \
        .prepare = my_prepare,                                                                                         \
        .execute = my_execute,                                                                                         \
        .release = my_release,                                                                                         \
        .run = my_run,                                                                                                 \
        .facts = facts_of,                                                                                             \
        .bulk = my_bulk,                                                                                               \
        .canceller = my_make_canceller,                                                                                \
        .cancel = my_cancel,                                                                                           \
        .set_timeout = my_set_timeout,                                                                                 \
        .end = end_of,                                                                                                 \
    }

#endif
