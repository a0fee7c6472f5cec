/* Any engine through its ODBC driver, under unixODBC's driver manager. What differs between drivers stands in the
   adapter of each. Statement modes: SQLPrepare once, SQLExecDirect with bound parameters, or SQLExecDirect of literals.
   Rows come one by one or a block at a time into bound columns, or each value by SQLGetData. Bulk way: one execution
   for an array of parameter rows. */
#ifndef RP_ODBC_H
#define RP_ODBC_H

#include <stdio.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include "adapter.h"

#ifndef ODBC_LIBRARY /* the build names the driver's file, unless it comes with the connection */
#define ODBC_LIBRARY NULL
#endif

/* A driver, as its adapter describes it. */
typedef struct odbc_driver {
    const char *library;                                /* its file; NULL: named when a connection is opened */
    bool (*login)(FILE *to, const rp_options *options); /* writes the connection string behind the driver's name */
    bool wide;                    /* its SQL travels as UTF-16: given bytes, the manager takes them for Latin-1 */
    bool temporal_text;           /* its own times and timestamps lose digits: they go in and out as text */
    const char *no_binary_arrays; /* why bulk=array cannot hold binary values */
    const char *text_since;       /* its first version whose queries travel as text when they are given as text */
    const char *settings;         /* a query of (name, value); `version` is the engine's */
    const char *encryption;       /* a query of (name, TLS protocol), which is empty without TLS */
    const char *compression;      /* a query of (name, ON or OFF) */
    bool durations;               /* its engine's TIME goes beyond a day, C's does not: it is taken as text */
} odbc_driver;

extern odbc_driver odbc_driver_here;

typedef struct odbc_connection {
    SQLHDBC handle;
    SQLHSTMT run; /* for statements outside the clock, and BEGIN and COMMIT */
    rp_statement_mode mode;
    SQLULEN block_rows;
    bool gets_data;  /* each value by a call of its own */
    bool compressed; /* as it was requested */
} odbc_connection;

typedef struct odbc_parameter {
    SQLSMALLINT c_type, sql_type, digits;
    SQLULEN size;
    SQLLEN width; /* bytes of one value */
    char *data;   /* of each row, one behind the other */
    SQLLEN *lengths;
} odbc_parameter;

typedef struct odbc_parameters {
    int count;
    odbc_parameter *each;
} odbc_parameters;

typedef struct odbc_column {
    SQLSMALLINT c_type;
    SQLLEN width; /* bytes of one value */
    char *data;   /* of each row of a block, one behind the other */
    SQLLEN *lengths;
    char name[64]; /* the driver's, of the type */
} odbc_column;

typedef struct odbc_result {
    SQLHSTMT handle;
    SQLULEN block_rows, fetched;
    bool gets_data;
    odbc_column *columns;
    int column_count;
    SQLUSMALLINT *statuses; /* of a block's rows */
    char *long_value;
    SQLLEN long_capacity;
} odbc_result;

/* The first diagnostic record of a handle. A lost connection is an error of the connection, whoever notices. */
bool odbc_fail(SQLSMALLINT type, SQLHANDLE handle, rp_error_kind kind);
bool odbc_statement_failed(SQLHSTMT handle);

/* Whether a value could not be taken because C's type for it has no room (TIME of 100:00:00, the year 12000). */
bool odbc_has_no_room(SQLHSTMT handle);

/* `NAME=value;` of a connection string, in braces where the value could be taken for more than it is. */
void odbc_put_attribute(FILE *to, const char *name, const char *value);

/* The option `driver_settings` as attributes. `known`: those that the driver has, since it ignores others; NULL: any.
 */
bool odbc_put_settings(FILE *to, const rp_options *options, const char *known);

/* SQL as the driver takes it (`wide`: UTF-16); to be freed by the caller. */
void *odbc_sql(const char *sql);
SQLRETURN odbc_execute_direct(SQLHSTMT handle, void *sql);

SQLHENV odbc_environment(void);
bool odbc_connect(odbc_connection *connection, const rp_options *options);
bool odbc_set_autocommit(odbc_connection *connection, bool on);

bool odbc_bind_parameters(odbc_parameters *parameters, SQLHSTMT handle, const rp_phase *phase, SQLULEN rows);
void odbc_put_row(odbc_parameters *parameters, SQLULEN row, const rp_value *values);
void odbc_release_parameters(odbc_parameters *parameters);

/* A block of rows at a time; without a block the driver need not count. */
bool odbc_set_block(odbc_result *result);

/* Every row of the open cursor. */
bool odbc_take_rows(odbc_result *result, const rp_phase *phase, rp_sink *sink);
void odbc_release_result(odbc_result *result);

/* The adapters' functions. */
void *odbc_open(const rp_options *options, int64_t *server_pid);
void odbc_close(void *opened);
void *odbc_prepare(void *opened, rp_phase *phase);
bool odbc_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink);
void odbc_release(void *statement);
bool odbc_run(void *opened, const char *sql); /* ODBC has no statements for transactions: it has a mode and a call */
void odbc_facts(void *opened, rp_facts *facts);
bool odbc_bulk(void *statement, const rp_phase *phase, uint64_t row, uint64_t count);
void *odbc_canceller(void *opened);
bool odbc_cancel(void *canceller);

/* A driver that has no timeout may still take one: the attribute, read back, shows whether it kept it. */
bool odbc_set_timeout(void *opened, int64_t ms);
bool odbc_describe(void *opened, const char *sql, rp_description *description); /* prepared, never executed */

#define ODBC_ADAPTER(name, before_binary, after_binary, texts)                                                         \
    {                                                                                                                  \
        .driver = name,                                                                                                \
        .binary_literal = {before_binary, after_binary},                                                               \
        .decimals_are_texts = texts,                                                                                   \
        .open = odbc_open,                                                                                             \
        .close = odbc_close,                                                                                           \
        .prepare = odbc_prepare,                                                                                       \
        .execute = odbc_execute,                                                                                       \
        .release = odbc_release,                                                                                       \
        .run = odbc_run,                                                                                               \
        .facts = odbc_facts,                                                                                           \
        .bulk = odbc_bulk,                                                                                             \
        .canceller = odbc_canceller,                                                                                   \
        .cancel = odbc_cancel,                                                                                         \
        .set_timeout = odbc_set_timeout,                                                                               \
        .describe = odbc_describe,                                                                                     \
    }

#endif
