/* Where an operation's values go: the sink folds each into the touch sum and, outside the clock, encodes it for the
   digest.

   Everything here that a value or a row passes is inline: a call for each would stand inside the clock. */
#ifndef RP_TOUCH_H
#define RP_TOUCH_H

#include <math.h>
#include <time.h>

#include "calendar.h"
#include "values.h"

#define RP_UNLIKELY(condition) __builtin_expect((condition), 0)

/* A date, a time of it and its distance from UTC, each as written: 0000-00-00 and -838:59:59 too. */
typedef struct rp_moment {
    int64_t year; /* 0 is 1 BC */
    unsigned month, day;
    int64_t time_ns;
    int32_t offset_s;
} rp_moment;

typedef struct rp_digest rp_digest;
typedef struct rp_sink {
    uint64_t touch, rows;
    uint64_t bytes;    /* a floor's: taken, nothing of them parsed */
    rp_digest *digest; /* NULL inside the clock */
    bool broken;       /* a row is none: it has another number of values */
    bool watched;      /* the next row is awaited by a stamp or belongs to the digest */
    bool stamped;
    uint64_t executed_at_ns, first_row_at_ns;
} rp_sink;

/* Reads that the compiler may not leave out: a length needs no decoding. */
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
void rp_digest_unsigned(rp_sink *sink, rp_column *column, uint64_t value);
void rp_digest_date(rp_sink *sink, rp_column *column, int64_t days);
void rp_digest_time(rp_sink *sink, rp_column *column, int64_t ns);
void rp_digest_timestamp(rp_sink *sink, rp_column *column, int64_t seconds, uint32_t ns);
void rp_digest_moment(rp_sink *sink, rp_column *column, const rp_moment *moment);
void rp_digest_infinity(rp_sink *sink, rp_column *column, bool negative);
void rp_digest_interval(rp_sink *sink, rp_column *column, int32_t months, int32_t days, int64_t ns);
void rp_digest_bits(rp_sink *sink, rp_column *column, const void *bytes, size_t first, uint32_t count);
void rp_digest_opaque(rp_sink *sink, rp_column *column);
void rp_digest_foreign(rp_sink *sink, rp_column *column, const void *text, size_t length, const char *reason);
void rp_digest_undecoded(rp_sink *sink, rp_column *column, const char *text, size_t length);

/* Of a value whose parts were put into the digest one by one: it ends. */
void rp_digest_ends(rp_digest *digest, const rp_column *column);

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
    RP_DIGEST(rp_digest_date(sink, column, days));
}

/* Nanoseconds since midnight. */
static inline void rp_time(rp_sink *sink, rp_column *column, int64_t ns) {
    sink->touch += (uint64_t)(ns / RP_NS_PER_SECOND % 60);
    RP_DIGEST(rp_digest_time(sink, column, ns));
}

/* Microseconds since 1970-01-01: a wall clock read as if UTC, or (timestamptz) the instant. */
static inline void rp_timestamp(rp_sink *sink, rp_column *column, int64_t us) {
    sink->touch += rp_second_of_minute(us);
    RP_DIGEST(rp_digest_timestamp(sink, column, rp_floor_divide(us, RP_US_PER_SECOND),
                                  (uint32_t)(us - rp_floor_divide(us, RP_US_PER_SECOND) * RP_US_PER_SECOND) * 1000));
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

/* Bytes that stay as they are inside the clock, and are no text there; `length` in bytes. */
static inline void rp_take_bytes(rp_sink *sink, const void *bytes, size_t length) {
    sink->touch += 5;
    if (length > 0) rp_taken = ((const unsigned char *)bytes)[length - 1];
}

/* A value of a type that drivers deliver in different forms. */
static inline void rp_opaque(rp_sink *sink, rp_column *column, const void *bytes, size_t length) {
    rp_take_bytes(sink, bytes, length);
    RP_DIGEST(rp_digest_opaque(sink, column));
}

/* `count` bits from the bit `first` on, which is the highest of its byte when it is a multiple of 8. */
static inline void rp_bits(rp_sink *sink, rp_column *column, const void *bytes, size_t first, uint32_t count) {
    rp_take_bytes(sink, bytes, (first + count + 7) / 8);
    RP_DIGEST(rp_digest_bits(sink, column, bytes, first, count));
}

/* The text of an array, of bits, of a structure: only the digest reads it. */
static inline void rp_undecoded(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    rp_take_bytes(sink, text, length);
    RP_DIGEST(rp_digest_undecoded(sink, column, text, length));
}

/* A 64-bit integer without a sign. */
void rp_unsigned(rp_sink *sink, rp_column *column, uint64_t value);

/* A date or time that C's natural types have no room for, or that no calendar has. */
void rp_take_moment(rp_sink *sink, rp_column *column, const rp_moment *moment);

/* A value that has no bytes of its column's type: `text` is its own. */
void rp_foreign(rp_sink *sink, rp_column *column, const void *text, size_t length, const char *reason);

/* An exact decimal in plain notation: the natural type where 18 digits are not enough. */
void rp_decimal(rp_sink *sink, rp_column *column, const char *text, size_t length);

/* Outside the clock: the column's values were delivered as text, which is converted. */
static inline void rp_note_conversion(const rp_sink *sink, rp_column *column) {
    if (RP_UNLIKELY(sink->digest != NULL)) {
        column->converted = true;
        if (column->delivered == NULL) column->delivered = "text";
    }
}

/* Text that the column's declared type makes another type: converted here, inside the clock (the forms: text.c). */
void rp_convert(rp_sink *sink, rp_column *column, const char *text, size_t length);

static inline void rp_text_as(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    if (rp_is_text(column->type))
        rp_text(sink, column, text, length);
    else if (column->type == RP_OPAQUE)
        rp_opaque(sink, column, text, length);
    else
        rp_convert(sink, column, text, length);
}

/* The row is none of the result: it has another number of values than the result has columns. */
void rp_misfit(rp_sink *sink, const rp_column *column, const char *what);

/* Notes the type of a column that is delivered as one type in every row. */
static inline void rp_deliver(rp_column *column, const char *what) {
    column->delivered = what;
}

#endif
