/* What an adapter sees of the runner: the phase it serves, the sink that takes its values, and the functions it offers.

   An adapter hands every value of every row to the sink, in column order, and calls `rp_row` at the end of each row.
   The same code runs inside the clock (the sink folds values into the touch sum) and outside (it also encodes them for
   the digest). A value that does not fit its column breaks the sink; the core then counts the operation as failed. */
#ifndef ROWPATH_H
#define ROWPATH_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "calendar.h"

#define RP_UNLIKELY(condition) __builtin_expect((condition), 0)

typedef enum rp_type {
    RP_INTEGER,
    RP_DECIMAL,
    RP_FLOAT32,
    RP_FLOAT64,
    RP_BOOLEAN,
    RP_CHAR,
    RP_VARCHAR,
    RP_TEXT,
    RP_JSON,
    RP_BINARY,
    RP_DATE,
    RP_TIME,
    RP_TIMESTAMP,
    RP_TIMESTAMPTZ,
    RP_INTERVAL,
    RP_UUID,
    RP_ARRAY,
    RP_NULL, /* a value's type only, never a column's */
} rp_type;

const char *rp_type_name(rp_type type);

typedef struct rp_column {
    const char *name;
    rp_type type;
    int length, precision, scale, bits;
    bool nullable;
    bool wide;             /* a decimal that int64 × 10^-scale cannot hold, or nobody knows: exact text */
    int code;              /* the adapter's own, for instance how to decode what the driver delivers */
    rp_type element;       /* of an array: RP_INTEGER or RP_TEXT */
    const char *delivered; /* what the driver handed over, for people */
    bool converted;        /* text was converted to another type */
} rp_column;

/* One parameter value as C holds it naturally. */
typedef struct rp_value {
    rp_type type;
    uint32_t length; /* of `text`, in bytes */
    union {
        int64_t integer;  /* RP_INTEGER, RP_BOOLEAN; RP_DATE: days; RP_TIME: ns; RP_TIMESTAMP, RP_TIMESTAMPTZ: us */
        double real;      /* RP_FLOAT32, RP_FLOAT64 */
        const char *text; /* all others, closed by NUL; RP_BINARY and RP_UUID: their bytes */
    };
} rp_value;

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
    bool bulk; /* kind `load`: the driver's own bulk way */
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
    uint64_t counted;            /* several clients: where the next sample of so many operations begins */
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

/* Facts read from the live connection. */
typedef struct rp_facts rp_facts;
void rp_driver_version(rp_facts *facts, const char *version);
void rp_engine_version(rp_facts *facts, const char *version);
void rp_build(rp_facts *facts, const char *build);
void rp_library(rp_facts *facts, const char *name, const char *version);
void rp_setting(rp_facts *facts, const char *name, const char *value);

/* Where an operation's values go. */
typedef struct rp_digest rp_digest;
typedef struct rp_sink {
    uint64_t touch, rows;
    uint64_t bytes;    /* a floor's: taken, nothing of them parsed */
    rp_digest *digest; /* NULL inside the clock */
    bool broken;       /* a value did not fit its column */
    bool watched;      /* the next row is awaited by a stamp or belongs to the digest */
    bool stamped;
    uint64_t executed_at_ns, first_row_at_ns;
} rp_sink;

/* What a query delivers, column by column. */
typedef struct rp_description rp_description;
void rp_describe(rp_description *description, const rp_column *column, const char *engine_type,
                 const char *unsupported);

/* What an adapter offers; functions marked (optional) may be NULL. */
typedef struct rp_adapter {
    const char *driver;
    const char *binary_literal[2]; /* what stands before and after the hexadecimal digits of a binary literal */
    void *(*open)(const rp_options *options, int64_t *server_pid);
    void (*close)(void *connection);
    void *(*prepare)(void *connection, rp_phase *phase);
    bool (*execute)(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink);
    void (*release)(void *statement);
    bool (*run)(void *connection, const char *sql); /* (optional) also BEGIN and COMMIT of a transaction */
    void (*facts)(void *connection, rp_facts *facts);
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

/* Reads that the compiler may not leave out: a length can be had without decoding. */
extern _Thread_local volatile uint64_t rp_taken __attribute__((tls_model("local-exec")));
extern const int64_t rp_power_of_ten[19];

void rp_watched_row(rp_sink *sink);
void rp_digest_null(rp_sink *sink, rp_column *column);
void rp_digest_integer(rp_sink *sink, rp_column *column, int64_t value);
void rp_digest_scaled(rp_sink *sink, rp_column *column, int64_t scaled);
void rp_digest_decimal(rp_sink *sink, rp_column *column, const char *text, size_t length);
void rp_digest_float(rp_sink *sink, rp_column *column, double value);
void rp_digest_text(rp_sink *sink, rp_column *column, const char *text, size_t length);
void rp_digest_binary(rp_sink *sink, rp_column *column, const void *bytes, size_t length);
void rp_digest_temporal(rp_sink *sink, rp_column *column, int64_t value);
void rp_digest_infinity(rp_sink *sink, rp_column *column, bool negative);
void rp_digest_interval(rp_sink *sink, rp_column *column, int32_t months, int32_t days, int64_t ns);
void rp_digest_array(rp_sink *sink, rp_column *column, uint32_t count);

static inline uint64_t rp_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Execute returned: stamped when the phase asks for it. */
static inline void rp_executed(rp_sink *sink) {
    if (RP_UNLIKELY(sink->stamped)) sink->executed_at_ns = rp_now_ns();
}

/* A row ends. */
static inline void rp_row(rp_sink *sink) {
    sink->rows++;
    if (RP_UNLIKELY(sink->watched)) rp_watched_row(sink);
}

#define RP_DIGEST(call)                                                                                                \
    if (RP_UNLIKELY(sink->digest != NULL)) call

static inline void rp_null(rp_sink *sink, rp_column *column) {
    sink->touch += 1;
    RP_DIGEST(rp_digest_null(sink, column));
}

static inline void rp_integer(rp_sink *sink, rp_column *column, int64_t value) {
    sink->touch += (uint64_t)value;
    RP_DIGEST(rp_digest_integer(sink, column, value));
}

/* A decimal of at most 18 digits as value × 10^column->scale. */
static inline void rp_scaled(rp_sink *sink, rp_column *column, int64_t scaled) {
    sink->touch += (uint64_t)(scaled / rp_power_of_ten[column->scale]);
    RP_DIGEST(rp_digest_scaled(sink, column, scaled));
}

static inline void rp_float(rp_sink *sink, rp_column *column, double value) {
    sink->touch += fabs(value) < 9007199254740992.0 ? (uint64_t)(int64_t)value : 3;
    RP_DIGEST(rp_digest_float(sink, column, value));
}

/* Text that stays text; `length` in bytes. */
static inline void rp_text(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    sink->touch += length;
    if (length > 0) rp_taken = (unsigned char)text[length - 1];
    RP_DIGEST(rp_digest_text(sink, column, text, length));
}

static inline void rp_binary(rp_sink *sink, rp_column *column, const void *bytes, size_t length) {
    sink->touch += length;
    if (length > 0) rp_taken = ((const unsigned char *)bytes)[length - 1];
    RP_DIGEST(rp_digest_binary(sink, column, bytes, length));
}

/* Days since 1970-01-01. */
static inline void rp_date(rp_sink *sink, rp_column *column, int32_t days) {
    sink->touch += rp_civil_of_days(days).day;
    RP_DIGEST(rp_digest_temporal(sink, column, days));
}

/* Nanoseconds since midnight. */
static inline void rp_time(rp_sink *sink, rp_column *column, int64_t ns) {
    sink->touch += (uint64_t)(ns / RP_NS_PER_SECOND % 60);
    RP_DIGEST(rp_digest_temporal(sink, column, ns));
}

/* Microseconds since 1970-01-01: a wall clock read as if UTC, or (timestamptz) the instant. */
static inline void rp_timestamp(rp_sink *sink, rp_column *column, int64_t us) {
    sink->touch += rp_second_of_minute(us);
    RP_DIGEST(rp_digest_temporal(sink, column, us));
}

static inline void rp_infinity(rp_sink *sink, rp_column *column, bool negative) {
    sink->touch += 5;
    RP_DIGEST(rp_digest_infinity(sink, column, negative));
}

static inline void rp_interval(rp_sink *sink, rp_column *column, int32_t months, int32_t days, int64_t ns) {
    sink->touch += 5;
    rp_taken = (uint64_t)ns + (uint64_t)days + (uint64_t)months;
    RP_DIGEST(rp_digest_interval(sink, column, months, days, ns));
}

static inline void rp_uuid(rp_sink *sink, rp_column *column, const void *bytes) {
    sink->touch += 5;
    rp_taken = ((const unsigned char *)bytes)[15];
    RP_DIGEST(rp_digest_binary(sink, column, bytes, 16));
}

/* An array begins; its `count` elements follow through rp_element_integer, rp_element_text and rp_element_null. */
static inline void rp_array(rp_sink *sink, rp_column *column, uint32_t count) {
    sink->touch += 5;
    RP_DIGEST(rp_digest_array(sink, column, count));
}

static inline void rp_element_null(rp_sink *sink) {
    RP_DIGEST(rp_digest_null(sink, NULL));
}

static inline void rp_element_integer(rp_sink *sink, int64_t value) {
    rp_taken = (uint64_t)value;
    RP_DIGEST(rp_digest_integer(sink, NULL, value));
}

static inline void rp_element_text(rp_sink *sink, const char *text, size_t length) {
    if (length > 0) rp_taken = (unsigned char)text[length - 1];
    RP_DIGEST(rp_digest_text(sink, NULL, text, length));
}

/* An exact decimal in plain notation: the natural type where 18 digits are not enough. */
void rp_decimal(rp_sink *sink, rp_column *column, const char *text, size_t length);

/* Text that the column's declared type makes another type: converted here, inside the clock (text.c says which forms).
 */
void rp_convert(rp_sink *sink, rp_column *column, const char *text, size_t length);

static inline bool rp_is_text(rp_type type) {
    return type >= RP_CHAR && type <= RP_JSON;
}

static inline void rp_text_as(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    if (rp_is_text(column->type))
        rp_text(sink, column, text, length);
    else
        rp_convert(sink, column, text, length);
}

/* The value does not fit its column's declared type. */
void rp_misfit(rp_sink *sink, const rp_column *column, const char *what);

/* A legal value of the engine that C's natural type of the column, or the codec, has no room for. */
void rp_beyond(rp_sink *sink, const rp_column *column, const char *what);

/* What a driver says when a column is delivered as one type in every row. */
static inline void rp_deliver(rp_column *column, const char *what) {
    column->delivered = what;
}

/* A parameter value as text: its own bytes, or written into `scratch`. Sets `length` (without the closing NUL). */
#define RP_SCRATCH_BYTES 64
const char *rp_value_text(const rp_value *value, char scratch[RP_SCRATCH_BYTES], size_t *length);

/* `sql` with its `?` placeholders numbered ($1, $2, …); to be freed by the caller. */
char *rp_numbered_placeholders(const char *sql);

/* The phase's SQL with its placeholders replaced by the literals of parameter row `row`; as old as the phase. */
const char *rp_literal_sql(const rp_phase *phase, uint64_t row, const char *const binary_literal[2]);

/* The INSERT `sql` with its VALUES group `rows` times; to be freed by the caller. NULL after rp_fail: it has no such
   group. */
char *rp_rows_of_values(const char *sql, uint64_t rows);

#endif
