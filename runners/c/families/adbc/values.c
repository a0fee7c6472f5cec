/* A column's values, by its format in the C data interface. */
#include "adbc.h"

static inline bool is_there(const uint8_t *valid, int64_t at) {
    return valid == NULL || (valid[at / 8] >> (at % 8) & 1);
}

static inline void take_integer(rp_sink *sink, rp_column *column, int64_t value) {
    if (column->type == RP_FLOAT32 || column->type == RP_FLOAT64)
        rp_float(sink, column, (double)value);
    else if (column->type == RP_OPAQUE)
        rp_opaque(sink, column, &value, sizeof value);
    else
        rp_integer(sink, column, value);
}

static inline void take_float(rp_sink *sink, rp_column *column, double value) {
    if (column->type == RP_OPAQUE)
        rp_opaque(sink, column, &value, sizeof value);
    else
        rp_float(sink, column, value);
}

static inline void take_binary(rp_sink *sink, rp_column *column, const char *bytes, size_t length) {
    if (column->type == RP_OPAQUE)
        rp_opaque(sink, column, bytes, length);
    else
        rp_binary(sink, column, bytes, length);
}

/* The loop over the values of one format: each NULL, or `take` of the value at `at`. */
#define EACH(take)                                                                                                     \
    for (int64_t at = begin; at < end; at++)                                                                           \
        if (is_there(valid, at))                                                                                       \
            take;                                                                                                      \
        else                                                                                                           \
            rp_null(sink, column);                                                                                     \
    return true

bool adbc_take(const struct ArrowArray *values, const char *format, int64_t first, int64_t count, rp_column *column,
               rp_sink *sink) {
    const int64_t begin = values->offset + first, end = begin + count;
    const uint8_t *valid = values->n_buffers == 0 || values->null_count == 0 ? NULL : values->buffers[0];
    switch (format[1] == '\0' ? format[0] : '\0') {
    case 'n':
        for (int64_t at = begin; at < end; at++)
            rp_null(sink, column);
        return true;
    case 'l': {
        const int64_t *of = values->buffers[1];
        EACH(take_integer(sink, column, of[at]));
    }
    case 'g': {
        const double *of = values->buffers[1];
        EACH(take_float(sink, column, of[at]));
    }
    case 'u': {
        const int32_t *ends = values->buffers[1];
        const char *of = values->buffers[2];
        EACH(rp_text_as(sink, column, of + ends[at], (size_t)(ends[at + 1] - ends[at])));
    }
    case 'z': {
        const int32_t *ends = values->buffers[1];
        const char *of = values->buffers[2];
        EACH(take_binary(sink, column, of + ends[at], (size_t)(ends[at + 1] - ends[at])));
    }
    default: return rp_fail(RP_UNSUPPORTED, "", "column %s: no values of Arrow's format %s", column->name, format);
    }
}
