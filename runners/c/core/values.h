/* Column types, columns and parameter values. */
#ifndef RP_VALUES_H
#define RP_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    RP_BITS,
    RP_DATE,
    RP_TIME,
    RP_TIMETZ,
    RP_TIMESTAMP,
    RP_TIMESTAMPTZ,
    RP_INTERVAL,
    RP_UUID,
    RP_ARRAY,
    RP_STRUCT,
    RP_MAP,
    RP_ROWS,
    RP_ANY,
    RP_OPAQUE, /* delivered as the driver pleases: NULL or not is all that is compared */
    RP_NULL,   /* a value's type only, never a column's */
} rp_type;

const char *rp_type_name(rp_type type);

typedef struct rp_column {
    const char *name;
    rp_type type;
    int length, precision, scale, bits;
    bool nullable;
    bool wide;                /* a decimal that int64 × 10^-scale cannot hold, or of unknown size: exact text */
    int code;                 /* the adapter's own, for instance how to decode what the driver delivers */
    const char *delivered;    /* what the driver handed over, for people */
    bool converted;           /* text was converted to another type */
    bool inner;               /* one of the fields below, or of theirs */
    int position;             /* among the result's columns; an inner one's is that of the column around it */
    int64_t unit_ns;          /* nanoseconds are cut to multiples of it, */
    bool rounded;             /* half of it added before */
    bool bounds;              /* an array's lower bounds belong to its value */
    struct rp_column *fields; /* an array's element, the members of a structure, key and value, columns of rows */
    int field_count;
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

static inline bool rp_is_text(rp_type type) {
    return type >= RP_CHAR && type <= RP_JSON;
}

/* A parameter value as text: its own bytes, or written into `scratch`. Sets `length` (without the closing NUL). */
#define RP_SCRATCH_BYTES 64
const char *rp_value_text(const rp_value *value, char scratch[RP_SCRATCH_BYTES], size_t *length);

#endif
