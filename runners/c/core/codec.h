/* The codec's bytes (docs/codec.md): values and rows to bytes, their hashes, and the digest of a result. */
#ifndef RP_CODEC_H
#define RP_CODEC_H

#include <stdio.h>

#include "adapter.h"

typedef struct rp_bytes {
    uint8_t *data;
    size_t length, capacity;
} rp_bytes;

/* Of one column's values, each hashed by itself. */
typedef struct rp_column_digest {
    uint64_t sum, order, foreign;
    int64_t finest_ns; /* 0: it has no times */
    bool bounds;       /* a lower bound other than 1 was met */
    const char *reason;
} rp_column_digest;

struct rp_digest {
    rp_bytes row; /* of the row that is being taken */
    size_t ended; /* where its last whole value ends */
    uint64_t sum, order, rows, most_rows;
    rp_column_digest *columns;
    FILE *kept; /* NULL: the rows' bytes go nowhere */
};

rp_digest rp_digest_of(int columns, uint64_t most_rows);
void rp_digest_free(rp_digest *digest);

/* XXH64 with seed 0. Source: xxHash specification, "XXH64 algorithm description". */
uint64_t rp_xxh64(const void *data, size_t length);

void rp_put_null(rp_bytes *bytes);
void rp_put_integer(rp_bytes *bytes, int64_t value);
void rp_put_scaled(rp_bytes *bytes, int64_t scaled, int scale);
bool rp_put_decimal(rp_bytes *bytes, const char *text, size_t length); /* exponents allowed; false: not a number */
void rp_put_float(rp_bytes *bytes, double value);
void rp_put_boolean(rp_bytes *bytes, bool value);
void rp_put_text(rp_bytes *bytes, char tag, const char *text, size_t length);
void rp_put_date(rp_bytes *bytes, int32_t days);
void rp_put_time(rp_bytes *bytes, int64_t ns);
void rp_put_timetz(rp_bytes *bytes, int64_t ns, int32_t offset_s);
void rp_put_no_day(rp_bytes *bytes, const rp_moment *moment, int64_t ns); /* of a day that no calendar has */
void rp_put_timestamp(rp_bytes *bytes, char tag, int64_t seconds, uint32_t ns);
void rp_put_interval(rp_bytes *bytes, int32_t months, int32_t days, int64_t ns);
void rp_put_uuid(rp_bytes *bytes, const uint8_t uuid[16]);
void rp_put_bits(rp_bytes *bytes, const uint8_t *data, size_t first, uint32_t count); /* `first`: of its bits */
void rp_put_bound(rp_bytes *bytes, int32_t lower);
void rp_put_opaque(rp_bytes *bytes);

/* What consists of `count` values (tags A, K, M, R): they follow. The count may also be set when they are known. */
void rp_put_nested(rp_bytes *bytes, char tag, uint32_t count);
void rp_set_count(rp_bytes *bytes, size_t tag_at, uint32_t count);

/* Brings the `count` entries of a map, each of which begins where `begins` says, into the order of their bytes. */
void rp_sort_entries(rp_bytes *bytes, const size_t *begins, uint32_t count);

/* The lower bound of a dimension that begins. */
void rp_digest_bound(rp_digest *digest, const rp_column *column, int32_t lower);

size_t rp_without_trailing_blanks(const char *text, size_t length);

#endif
