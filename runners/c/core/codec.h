/* The codec's bytes (docs/codec.md): values and rows to bytes, their hashes, and the digest of a result. */
#ifndef RP_CODEC_H
#define RP_CODEC_H

#include <stdio.h>

#include "adapter.h"

typedef struct rp_bytes {
    uint8_t *data;
    size_t length, capacity;
} rp_bytes;

struct rp_digest {
    rp_bytes row; /* of the row that is being taken */
    uint64_t sum, rows, most_rows;
    FILE *kept; /* NULL: the rows' bytes go nowhere */
};

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
void rp_put_time(rp_bytes *bytes, uint64_t ns);
void rp_put_timestamp(rp_bytes *bytes, char tag, int64_t seconds, uint32_t ns);
void rp_put_interval(rp_bytes *bytes, int32_t months, int32_t days, int64_t ns);
void rp_put_uuid(rp_bytes *bytes, const uint8_t uuid[16]);
void rp_put_array(rp_bytes *bytes, uint32_t count);
void rp_put_opaque(rp_bytes *bytes);

size_t rp_without_trailing_blanks(const char *text, size_t length);
bool rp_is_utf8(const char *text, size_t length);

#endif
