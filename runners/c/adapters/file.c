/* A delimited text file, read whole or a segment of it in each operation, or added up. */
#include "delimited_records.h"

typedef struct file_connection {
    char *directory;
    delimited_dialect dialect;
} file_connection;

typedef struct file_scan {
    delimited_lines lines;
    rp_column *columns;
    int column_count;
    delimited_aggregate *aggregate; /* NULL: the rows themselves */
} file_scan;

static void *file_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid;
    file_connection *connection = calloc(1, sizeof *connection);
    connection->directory = strdup(rp_option(options, "path", "."));
    connection->dialect = delimited_dialect_of(options);
    return connection;
}

static void file_close(void *opened) {
    file_connection *connection = opened;
    free(connection->directory);
    free(connection);
}

static void file_release(void *statement) {
    file_scan *scan = statement;
    delimited_release(&scan->lines);
    delimited_release_aggregate(scan->aggregate);
    free(scan);
}

static void *file_prepare(void *opened, rp_phase *phase) {
    file_connection *connection = opened;
    bool aggregate = phase->access == RP_AGGREGATE, segment = phase->access == RP_SEGMENT;
    if (phase->kind != RP_QUERY || !(phase->scan || aggregate || (segment && phase->parameter_column_count == 2))) {
        rp_fail(RP_UNSUPPORTED, "", "a file delivers whole tables, segments of them and their sums only");
        return NULL;
    }
    if (segment && connection->dialect.quote != '\0') {
        rp_fail(RP_UNSUPPORTED, "",
                "a quoted field may have line ends in it: no part of such a file is read by its bytes");
        return NULL;
    }
    file_scan *scan = calloc(1, sizeof *scan);
    int fields = phase->table_column_count > 0 ? phase->table_column_count : phase->column_count;
    delimited_make(&scan->lines, connection->directory, phase->table, &connection->dialect, fields);
    scan->columns = phase->columns;
    scan->column_count = phase->column_count;
    if (aggregate) scan->aggregate = delimited_aggregate_of(phase);
    if (!aggregate || scan->aggregate != NULL) return scan;
    file_release(scan);
    return NULL;
}

static __attribute__((noinline)) void take_escaped(file_scan *scan, rp_column *column, const char *at, const char *end,
                                                   rp_sink *sink) {
    if (delimited_is_null(at, end)) {
        rp_null(sink, column);
    } else {
        size_t length = delimited_without_escapes(&scan->lines, at, end);
        rp_text_as(sink, column, scan->lines.plain, length);
    }
}

/* `values`: where usual values go. */
static inline __attribute__((always_inline)) const char *
take_rows_to(rp_sink *values, file_scan *scan, const char *at, const char *limit, const char *end, rp_sink *sink) {
    char delimiter = scan->lines.dialect.delimiter;
    rp_column *const first = scan->columns, *const last = first + scan->column_count - 1;
    while (at < limit) {
        for (rp_column *column = first; column <= last; column++) {
            bool escaped = false;
            const char *taken = NULL, *stop;
            if (column->type == RP_INTEGER)
                taken = delimited_take_integer(values, column, at, delimiter);
            else if (column->type == RP_TIMESTAMP)
                taken = delimited_take_timestamp(values, column, at, end, delimiter);
            stop = taken != NULL ? taken : delimited_end(at, delimiter, &escaped);
            if (RP_UNLIKELY((*stop == '\n') != (column == last))) {
                rp_misfit(sink, column, "the line has another number of values");
                return end;
            }
            if (RP_UNLIKELY(escaped))
                take_escaped(scan, column, at, stop, sink);
            else if (taken == NULL && rp_is_text(column->type))
                rp_text(values, column, at, (size_t)(stop - at));
            else if (taken == NULL)
                rp_text_as(sink, column, at, (size_t)(stop - at));
            at = stop + 1;
        }
        rp_row(sink);
        if (RP_UNLIKELY(sink->broken)) return end;
    }
    return at;
}

static inline void take_value(delimited_lines *lines, rp_column *column, const delimited_field *field, rp_sink *sink) {
    if (RP_UNLIKELY(delimited_is_null_field(lines, field))) {
        rp_null(sink, column);
        return;
    }
    size_t length;
    const char *text = delimited_field_text(lines, field, &length);
    cursor in = {text, text + length};
    int64_t value;
    if (rp_is_text(column->type)) {
        rp_text(sink, column, text, length);
    } else if (column->type == RP_INTEGER && read_int64(&in, &value) && in.at == in.end) {
        rp_note_conversion(sink, column);
        rp_integer(sink, column, value);
    } else if (column->type == RP_BOOLEAN && length >= 4) { /* true, True, TRUE */
        rp_note_conversion(sink, column);
        rp_integer(sink, column, (text[0] | 0x20) == 't');
    } else {
        rp_text_as(sink, column, text, length);
    }
}

static const char *take_records(void *taker, const char *at, const char *limit, const char *end, rp_sink *sink) {
    file_scan *scan = taker;
    delimited_field *fields = scan->lines.fields;
    const int columns = scan->column_count;
    while (at < limit) {
        const char *next;
        int count = delimited_split(&scan->lines, at, end, fields, columns, &next);
        if (RP_UNLIKELY(count == 0)) return at;
        if (RP_UNLIKELY(count != columns)) {
            if (count != 1 || !delimited_is_blank(fields)) {
                rp_misfit(sink, &scan->columns[columns - 1],
                          count < 0 ? "text follows a closing quote" : "the record has another number of values");
                return end;
            }
        } else {
            for (int i = 0; i < columns; i++)
                take_value(&scan->lines, &scan->columns[i], &fields[i], sink);
            rp_row(sink);
            if (RP_UNLIKELY(sink->broken)) return end;
        }
        at = next;
    }
    return at;
}

static const char *take_rows(void *taker, const char *at, const char *limit, const char *end, rp_sink *sink) {
    if (sink->digest != NULL) return take_rows_to(sink, taker, at, limit, end, sink);
    rp_sink timed = {0}; /* its sum stays in a register, where a program by hand has it */
    at = take_rows_to(&timed, taker, at, limit, end, sink);
    sink->touch += timed.touch;
    return at;
}

static bool file_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    file_scan *scan = statement;
    delimited_taker *take = scan->lines.dialect.own ? take_rows : take_records;
    if (phase->access == RP_SEGMENT) {
        const rp_value *part = rp_parameters(phase, row);
        return delimited_take_lines(&scan->lines, part[0].integer, part[1].integer, take, scan, sink);
    }
    if (scan->aggregate == NULL) return delimited_take_lines(&scan->lines, 0, INT64_MAX, take, scan, sink);
    return delimited_add_up(scan->aggregate, &scan->lines, phase, sink);
}

static void file_facts(void *connection, rp_facts *facts) {
    (void)connection;
    rp_driver_version(facts, "read(2)");
    rp_setting(facts, "block_bytes", "262144");
    rp_setting(facts, "cache", "the kernel's page cache");
}

const rp_adapter rp_adapter_here = {
    .driver = "file",
    .open = file_open,
    .close = file_close,
    .prepare = file_prepare,
    .execute = file_execute,
    .release = file_release,
    .facts = file_facts,
};
