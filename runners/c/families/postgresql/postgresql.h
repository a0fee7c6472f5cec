/* PostgreSQL's formats: types by their numbers, binary values to C's natural types, parameters the
   other way, and rows of them as a COPY's. Sources: PostgreSQL's manual, "Frontend/Backend Protocol";
   src/include/catalog/pg_type.dat. */
#ifndef RP_POSTGRESQL_H
#define RP_POSTGRESQL_H

#include <endian.h>

#include <libpq-fe.h>

#include "adapter.h"

enum {
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_INT8 = 20,
    PG_INT2 = 21,
    PG_INT4 = 23,
    PG_OID = 26,
    PG_XID = 28,
    PG_CID = 29,
    PG_FLOAT4 = 700,
    PG_FLOAT8 = 701,
    PG_DATE = 1082,
    PG_TIME = 1083,
    PG_TIMESTAMP = 1114,
    PG_TIMESTAMPTZ = 1184,
    PG_INTERVAL = 1186,
    PG_TIMETZ = 1266,
    PG_BIT = 1560,
    PG_VARBIT = 1562,
    PG_NUMERIC = 1700,
    PG_UUID = 2950,
    PG_JSONB = 3802,
    PG_XID8 = 5069
};

/* The name of the type of that number; NULL when it is none that is known here. */
const char *pg_type_name(unsigned number);

/* The type of a placeholder for parameters declared so; 0 leaves it to the server. */
unsigned pg_parameter_type(const rp_column *column);

/* Inline: called for every value inside the clock. */
static inline int16_t pg_int2(const char *data) {
    uint16_t bits;
    memcpy(&bits, data, sizeof bits);
    return (int16_t)be16toh(bits);
}

static inline int32_t pg_int4(const char *data) {
    uint32_t bits;
    memcpy(&bits, data, sizeof bits);
    return (int32_t)be32toh(bits);
}

static inline int64_t pg_int8(const char *data) {
    uint64_t bits;
    memcpy(&bits, data, sizeof bits);
    return (int64_t)be64toh(bits);
}

/* A value in binary format; `column->code` is its type's number. One of a type without a number here is text, an array
   or opaque, as its column is declared. */
void pg_take_binary(rp_sink *sink, rp_column *column, const char *data, size_t length);

/* A parameter in binary format into `scratch`; its length, or -1 where text serves (and for types without one here). */
int pg_put_binary(const rp_value *value, const rp_column *column, char *scratch);

typedef struct pg_copy_buffer {
    PGconn *pg;
    char *data;
    size_t length, capacity;
} pg_copy_buffer;

/* Sends parameter rows [row, row + count) on a connection that is in COPY … FROM STDIN. */
bool pg_copy_rows(pg_copy_buffer *copy, const rp_phase *phase, uint64_t row, uint64_t count, bool binary);

/* Appends one column of those rows as an array of the type `element`: as text, closed by NUL, or binary. */
bool pg_put_array(pg_copy_buffer *copy, const rp_phase *phase, int column, uint64_t row, uint64_t count,
                  unsigned element, bool binary);

#endif
