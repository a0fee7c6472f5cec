/* What an adapter sees of the runner: the phase it serves, the sink that takes its values, and the functions it offers.

   An adapter hands every value of every row to the sink, in column order, and calls `rp_row` at the end of each row.
   The same code runs inside the clock (the sink folds values into the touch sum) and outside (it also encodes them for
   the digest). No value is refused: one of another kind than declared takes the nearest form, or is foreign. */
#ifndef RP_ADAPTER_H
#define RP_ADAPTER_H

#include "touch.h"

typedef enum rp_kind { RP_QUERY, RP_EXECUTE, RP_NOTHING, RP_CONNECT, RP_LOAD } rp_kind;
typedef enum rp_access { /* without SQL */
                         RP_NO_ACCESS,
                         RP_SCAN,
                         RP_READ,
                         RP_INSERT,
                         RP_CREATE,
                         RP_AGGREGATE,
                         RP_SEGMENT
} rp_access;
typedef enum rp_statement_mode { RP_PREPARED, RP_BOUND, RP_LITERAL, RP_NO_STATEMENT } rp_statement_mode;

typedef struct rp_phase {
    const char *name, *sql, *table;
    rp_kind kind;
    bool scan, transaction, stamps;
    bool bulk;         /* kind `load`: the driver's own bulk way */
    uint64_t pipeline; /* so many statements are sent before their answers are read; 0: one after the other */
    rp_access access;
    rp_column *columns, *parameter_columns, *table_columns;
    int column_count, parameter_column_count, table_column_count;
    int *key_columns; /* the primary key: positions in `table_columns` */
    int key_column_count;
    rp_value *parameters; /* row by row */
    const char **texts;   /* statement mode `text`: one SQL text per parameter row, or just one */
    uint64_t parameter_count;
    uint64_t rows_per_operation; /* kind `load` */
    uint64_t wrap, position;     /* operations before positions wrap; of the next operation */
    uint64_t counted;            /* several clients: where the next sample that has a number of operations begins */
    void *statement;             /* what the adapter's prepare returned */
    struct rp_phase *next;
    struct rp_phase **clients; /* the same phase with each client's own columns, position and statement; itself first */
    struct rp_arena *arena;    /* owns everything above */
} rp_phase;

static inline const rp_value *rp_parameters(const rp_phase *phase, uint64_t row) {
    return phase->parameters + row * (uint64_t)phase->parameter_column_count;
}

/* Errors. All functions below that can fail return false (or NULL) after calling `rp_fail`. */
typedef enum rp_error_kind { RP_SQL_ERROR, RP_CONNECT_ERROR, RP_UNSUPPORTED, RP_VERIFY, RP_INTERNAL } rp_error_kind;

bool rp_fail(rp_error_kind kind, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool rp_fail_errno(rp_error_kind kind, const char *what); /* code and text of errno */

/* Options of `open`, all as text; `fallback` when absent or null. */
typedef struct rp_options rp_options;
const char *rp_option(const rp_options *options, const char *name, const char *fallback);
int64_t rp_option_integer(const rp_options *options, const char *name, int64_t fallback);
bool rp_option_is(const rp_options *options, const char *name, const char *value);
rp_statement_mode rp_option_statement(const rp_options *options);

/* The driver's own settings that `open` names (option `driver_settings`); false where they are none. */
enum { RP_MOST_SETTINGS = 16 };
typedef struct rp_settings {
    char text[1024]; /* holds the names and values */
    const char *names[RP_MOST_SETTINGS], *values[RP_MOST_SETTINGS];
    int count;
} rp_settings;
bool rp_driver_settings(const rp_options *options, rp_settings *settings);
bool rp_unknown_setting(const char *name); /* always false */

/* Facts read from the live connection. */
typedef struct rp_facts rp_facts;
void rp_driver_version(rp_facts *facts, const char *version);
void rp_engine_version(rp_facts *facts, const char *version);
void rp_build(rp_facts *facts, const char *build);
void rp_library(rp_facts *facts, const char *name, const char *version);
void rp_setting(rp_facts *facts, const char *name, const char *value);
void rp_fact(rp_facts *facts, const char *name, const char *value); /* a setting; `version`, `build`: the engine's */

/* What a query delivers, column by column. */
typedef struct rp_description rp_description;
void rp_describe(rp_description *description, const rp_column *column, const char *engine_type);

/* What an adapter offers; functions marked (optional) may be NULL. */
typedef struct rp_adapter {
    const char *driver;
    const char *binary_literal[2]; /* what stands before and after the hexadecimal digits of a binary literal */
    bool decimals_are_texts;       /* a decimal parameter is text, so its literal is too */
    void *(*open)(const rp_options *options, int64_t *server_pid);
    void (*close)(void *connection);
    void *(*prepare)(void *connection, rp_phase *phase);
    bool (*execute)(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink);
    void (*release)(void *statement);
    bool (*run)(void *connection, const char *sql); /* (optional) also BEGIN and COMMIT of a transaction */
    void (*facts)(void *connection, rp_facts *facts);
    /* (optional) A pipeline: sends the statement for parameter row `row` without reading an answer; then takes the
       answers one by one, in that order. `last`: it is the pipeline's last. What fails to be sent ends the pipeline. */
    bool (*send)(void *statement, const rp_phase *phase, uint64_t row, bool last);
    bool (*receive)(void *statement, const rp_phase *phase, bool last, rp_sink *sink);
    /* (optional) Stores parameter rows [row, row + count) the driver's own bulk way, in one transaction, committed. */
    bool (*bulk)(void *statement, const rp_phase *phase, uint64_t row, uint64_t count);
    /* (optional) What another thread needs to stop the statement that will run on the connection; then stops it. */
    void *(*canceller)(void *connection);
    bool (*cancel)(void *canceller);
    bool (*set_timeout)(void *connection, int64_t ms); /* (optional) of every further statement; 0: none */
    const char *no_timeout;                            /* why there is no set_timeout */
    /* (optional) What the query delivers, without executing it: `rp_describe` for each column. */
    bool (*describe)(void *connection, const char *sql, rp_description *description);
    void (*end)(void); /* (optional) before the process ends in good order, every connection closed */
} rp_adapter;

extern const rp_adapter rp_adapter_here;

/* `sql` with its `?` placeholders numbered ($1, $2, …); to be freed by the caller. */
char *rp_numbered_placeholders(const char *sql);

/* The phase's SQL with its placeholders replaced by the literals of parameter row `row`; as old as the phase. */
const char *rp_literal_sql(const rp_phase *phase, uint64_t row, const rp_adapter *adapter);

/* The INSERT `sql` with its VALUES group `rows` times; to be freed by the caller. NULL after rp_fail: it has no such
   group. */
char *rp_rows_of_values(const char *sql, uint64_t rows);

/* How many of `rows` parameter rows one INSERT of at most `most_parameters` placeholders takes; at least one. */
uint64_t rp_rows_at_once(const rp_phase *phase, uint64_t rows, uint64_t most_parameters);

#endif
