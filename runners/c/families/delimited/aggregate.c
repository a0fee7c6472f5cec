/* One row of sums over a delimited file's lines: `count`, `sum_X`, `min_X`, `max_X`. Of a line no more is looked at
   than the last column that is needed, and no value is converted but those. */
#include "delimited_records.h"

typedef enum aggregate_function { COUNT, SUM, MIN, MAX } aggregate_function;

/* One column of the result, and what it has come to. */
typedef struct aggregate_fold {
    aggregate_function function;
    int column; /* of the table */
    bool any;
    __int128 sum;
    int64_t whole; /* integers, scaled decimals, days, microseconds */
    double real;
    char *text;
    size_t length, room;
} aggregate_fold;

struct delimited_aggregate {
    const rp_column *table;
    int fold_count, columns; /* columns of a line that are looked at */
    aggregate_fold *folds;
    delimited_lines *lines;
    uint64_t rows;
};

void delimited_release_aggregate(delimited_aggregate *aggregate) {
    if (aggregate == NULL) return;
    for (int i = 0; i < aggregate->fold_count; i++)
        free(aggregate->folds[i].text);
    free(aggregate->folds);
    free(aggregate);
}

static bool is_real(rp_type type) {
    return type == RP_FLOAT32 || type == RP_FLOAT64;
}

static bool can_fold(aggregate_function function, const rp_column *column) {
    if (column->type == RP_INTEGER || is_real(column->type) || (column->type == RP_DECIMAL && !column->wide))
        return true;
    return function != SUM && (column->type == RP_DATE || column->type == RP_TIMESTAMP || rp_is_text(column->type));
}

static bool set_fold(delimited_aggregate *aggregate, aggregate_fold *fold, const rp_phase *phase, const char *name) {
    static const char *const names[] = {[COUNT] = "count", [SUM] = "sum_", [MIN] = "min_", [MAX] = "max_"};
    if (strcmp(name, names[COUNT]) == 0) return true;
    for (fold->function = SUM; fold->function < MAX && strncmp(name, names[fold->function], 4) != 0;)
        fold->function++;
    while (fold->column < phase->table_column_count && strcmp(phase->table_columns[fold->column].name, name + 4) != 0)
        fold->column++;
    if (strncmp(name, names[fold->function], 4) != 0 || fold->column == phase->table_column_count)
        return rp_fail(RP_UNSUPPORTED, "", "column %s: neither count nor sum_, min_ or max_ of a column", name);
    const rp_column *column = &phase->table_columns[fold->column];
    if (!can_fold(fold->function, column))
        return rp_fail(RP_UNSUPPORTED, "", "column %s: %s is not added up or compared here", name,
                       rp_type_name(column->type));
    if (aggregate->columns <= fold->column) aggregate->columns = fold->column + 1;
    return true;
}

delimited_aggregate *delimited_aggregate_of(const rp_phase *phase) {
    delimited_aggregate *aggregate = calloc(1, sizeof *aggregate);
    aggregate->table = phase->table_columns;
    aggregate->fold_count = phase->column_count;
    aggregate->folds = calloc((size_t)phase->column_count + 1, sizeof *aggregate->folds);
    for (int i = 0; i < phase->column_count; i++)
        if (!set_fold(aggregate, &aggregate->folds[i], phase, phase->columns[i].name)) {
            delimited_release_aggregate(aggregate);
            return NULL;
        }
    return aggregate;
}

static void begin(delimited_aggregate *aggregate, delimited_lines *lines) {
    aggregate->lines = lines;
    aggregate->rows = 0;
    for (int i = 0; i < aggregate->fold_count; i++) {
        aggregate->folds[i].any = false;
        aggregate->folds[i].sum = 0;
        aggregate->folds[i].real = 0;
    }
}

/* A value as an integer in which values compare as they do themselves. */
static bool read_whole(cursor *in, const rp_column *column, int64_t *value) {
    rp_civil civil;
    int64_t seconds = 0;
    uint32_t ns = 0;
    switch (column->type) {
    case RP_INTEGER: return read_int64(in, value);
    case RP_DECIMAL: return read_scaled(in, column->scale, value);
    case RP_DATE:
        if (!read_date(in, &civil)) return false;
        *value = rp_days_of_civil(civil.year, civil.month, civil.day);
        return true;
    default:
        if (!read_usual(in, &civil, &seconds) || !read_fraction(in, &ns)) return false;
        seconds += rp_days_of_civil(civil.year, civil.month, civil.day) * RP_SECONDS_PER_DAY;
        *value = seconds * RP_US_PER_SECOND + ns / 1000;
        return true;
    }
}

static bool read_real(cursor *in, double *value) {
    char copy[64], *stopped;
    size_t length = (size_t)(in->end - in->at);
    if (length == 0 || length >= sizeof copy) return false;
    memcpy(copy, in->at, length);
    copy[length] = '\0';
    *value = strtod(copy, &stopped);
    in->at += stopped - copy;
    return true;
}

static void keep_text(aggregate_fold *fold, const char *text, size_t length) {
    if (fold->room < length) {
        fold->text = realloc(fold->text, fold->room = 2 * length);
        if (fold->text == NULL) abort();
    }
    memcpy(fold->text, text, length);
    fold->length = length;
    fold->any = true;
}

static void fold_text(aggregate_fold *fold, const char *text, size_t length) {
    size_t common = length < fold->length ? length : fold->length;
    int order = fold->any ? memcmp(text, fold->text, common) : 0;
    if (order == 0) order = length < fold->length ? -1 : length > fold->length;
    if (!fold->any || (fold->function == MIN ? order < 0 : order > 0)) keep_text(fold, text, length);
}

static bool fold_value(aggregate_fold *fold, const rp_column *column, const char *at, const char *end) {
    cursor in = {at, end};
    if (rp_is_text(column->type)) {
        fold_text(fold, at, (size_t)(end - at));
        return true;
    }
    if (is_real(column->type)) {
        double value;
        if (!read_real(&in, &value) || in.at != end) return false;
        bool better = !fold->any || (fold->function == MIN ? value < fold->real : value > fold->real);
        fold->real = fold->function == SUM ? fold->real + value : better ? value : fold->real;
    } else {
        int64_t value;
        if (!read_whole(&in, column, &value) || in.at != end) return false;
        bool better = !fold->any || (fold->function == MIN ? value < fold->whole : value > fold->whole);
        fold->sum += value;
        fold->whole = better ? value : fold->whole;
    }
    fold->any = true;
    return true;
}

static bool add_line(delimited_aggregate *aggregate, const char *at, const char *end, rp_sink *sink) {
    bool escapes = delimited_has_escapes(at, end);
    aggregate->rows++;
    for (int i = 0; i < aggregate->columns; i++) {
        const rp_column *column = &aggregate->table[i];
        const char *stop = delimited_value_end(aggregate->lines, at, end, escapes);
        for (aggregate_fold *fold = aggregate->folds; fold < aggregate->folds + aggregate->fold_count; fold++) {
            if (fold->function == COUNT || fold->column != i || (escapes && delimited_is_null(at, stop))) continue;
            size_t length = escapes ? delimited_without_escapes(aggregate->lines, at, stop) : (size_t)(stop - at);
            const char *value = escapes ? aggregate->lines->plain : at;
            if (!fold_value(fold, column, value, value + length))
                rp_misfit(sink, column, "the text does not fit the declared type");
        }
        if (stop == end && i + 1 < aggregate->columns) rp_misfit(sink, column, "the line has another number of values");
        if (RP_UNLIKELY(sink->broken)) return false;
        at = stop + 1;
    }
    return true;
}

static bool add_record(delimited_aggregate *aggregate, rp_sink *sink) {
    aggregate->rows++;
    for (int i = 0; i < aggregate->columns; i++) {
        const delimited_field *field = &aggregate->lines->fields[i];
        if (delimited_is_null_field(aggregate->lines, field)) continue;
        for (aggregate_fold *fold = aggregate->folds; fold < aggregate->folds + aggregate->fold_count; fold++) {
            if (fold->function == COUNT || fold->column != i) continue;
            size_t length;
            const char *value = delimited_field_text(aggregate->lines, field, &length);
            if (!fold_value(fold, &aggregate->table[i], value, value + length))
                rp_misfit(sink, &aggregate->table[i], "the text does not fit the declared type");
        }
    }
    return !sink->broken;
}

static const char *add_records(void *taker, const char *at, const char *limit, const char *end, rp_sink *sink) {
    delimited_aggregate *aggregate = taker;
    delimited_lines *lines = aggregate->lines;
    while (at < limit) {
        const char *next;
        int count = delimited_split(lines, at, end, lines->fields, lines->field_count, &next);
        if (count == 0) return at;
        if (count == lines->field_count) {
            if (!add_record(aggregate, sink)) return end;
        } else if (count != 1 || !delimited_is_blank(lines->fields)) {
            rp_misfit(sink, &aggregate->table[lines->field_count - 1], "the record has another number of values");
            return end;
        }
        at = next;
    }
    return at;
}

static const char *add_lines(void *taker, const char *at, const char *limit, const char *end, rp_sink *sink) {
    while (at < limit) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!add_line(taker, at, newline, sink)) return end;
        at = newline + 1;
    }
    return at;
}

/* A sum of scaled values in plain notation, written from the end of `text`; its first character. */
static char *sum_text(__int128 sum, int scale, char *text, size_t size) {
    bool negative = sum < 0;
    char *to = text + size;
    for (int digits = 0; sum != 0 || digits <= scale; digits++) {
        if (digits == scale && scale > 0) *--to = '.';
        *--to = (char)('0' + (int)(negative ? -(sum % 10) : sum % 10));
        sum /= 10;
    }
    if (negative) *--to = '-';
    return to;
}

static void deliver_fold(const delimited_aggregate *aggregate, const aggregate_fold *fold, rp_column *to,
                         rp_sink *sink) {
    const rp_column *column = &aggregate->table[fold->column];
    char text[64], *first;
    if (fold->function == COUNT) {
        rp_integer(sink, to, (int64_t)aggregate->rows);
    } else if (!fold->any) {
        rp_null(sink, to);
    } else if (is_real(column->type)) {
        rp_float(sink, to, fold->real);
    } else if (rp_is_text(column->type)) {
        rp_text(sink, to, fold->text, fold->length);
    } else if (column->type == RP_DATE) {
        rp_date(sink, to, (int32_t)fold->whole);
    } else if (column->type == RP_TIMESTAMP) {
        rp_timestamp(sink, to, fold->whole);
    } else {
        __int128 value = fold->function == SUM ? fold->sum : fold->whole;
        first = sum_text(value, column->type == RP_DECIMAL ? column->scale : 0, text, sizeof text);
        rp_convert(sink, to, first, (size_t)(text + sizeof text - first));
    }
}

static void deliver(const delimited_aggregate *aggregate, const rp_phase *phase, rp_sink *sink) {
    for (int i = 0; i < aggregate->fold_count; i++)
        deliver_fold(aggregate, &aggregate->folds[i], &phase->columns[i], sink);
    rp_row(sink);
}

bool delimited_add_up(delimited_aggregate *aggregate, delimited_lines *lines, const rp_phase *phase, rp_sink *sink) {
    begin(aggregate, lines);
    delimited_taker *take = lines->dialect.own ? add_lines : add_records;
    if (!delimited_take_lines(lines, 0, INT64_MAX, take, aggregate, sink)) return false;
    deliver(aggregate, phase, sink);
    return true;
}
