/* The codec, driven by a test: one JSON object a line on stdin, one answer a line on stdout.
   {"hash": HEXADECIMAL}                         → the XXH64 of these bytes
   {"columns": […], "rows": [[VALUE, …]]}        → digest and touch of the rows, and the bytes of the last one; with
                                                   "digests" also what `verify` replies beside the digest
   {"parameter_columns": […], "parameters": {…}} → digest of a parameter file's rows after going through text
   A VALUE is null, {"text": HEXADECIMAL}, {"bytes": HEXADECIMAL}, {"integer": TEXT}, {"float": TEXT}, or {"nested":
   [VALUE, …]} of a column's fields: of a map keys and values in turn, of rows value by value. */
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

const rp_adapter rp_adapter_here = {.binary_literal = {"X'", "'"}};

static char *bytes_of(const char *hexadecimal, size_t *length) {
    *length = strlen(hexadecimal) / 2;
    char *bytes = calloc(*length + 1, 1);
    for (size_t i = 0; i < *length; i++)
        sscanf(hexadecimal + 2 * i, "%2hhx", (unsigned char *)&bytes[i]);
    return bytes;
}

static void take_value(rp_column *column, const rp_json *value, rp_sink *sink);

/* Structures are delivered by no driver of C: what is inside is put into the digest one by one. */
static void take_nested(rp_column *column, const rp_json *values, rp_sink *sink) {
    static const char tags[] = {[RP_ARRAY] = 'A', [RP_STRUCT] = 'K', [RP_MAP] = 'M', [RP_ROWS] = 'R'};
    uint32_t width = column->type == RP_MAP || column->type == RP_ROWS ? (uint32_t)column->field_count : 1, count = 0;
    size_t begins[64];
    rp_take_bytes(sink, "", 0);
    if (sink->digest == NULL) return;
    rp_sink inner = {.digest = sink->digest};
    size_t tag_at = sink->digest->row.length;
    rp_put_nested(&sink->digest->row, tags[column->type], 0);
    for (const rp_json *value = values->first; value != NULL; value = value->next, count++) {
        if (count % width == 0) begins[count / width] = sink->digest->row.length;
        take_value(&column->fields[count % (uint32_t)column->field_count], value, &inner);
    }
    rp_set_count(&sink->digest->row, tag_at, count / width);
    if (column->type == RP_MAP) rp_sort_entries(&sink->digest->row, begins, count / width);
    rp_digest_ends(sink->digest, column);
}

static void take_value(rp_column *column, const rp_json *value, rp_sink *sink) {
    const char *text = rp_json_text(value, "text", NULL), *integer = rp_json_text(value, "integer", NULL);
    const char *hexadecimal = text != NULL ? text : rp_json_text(value, "bytes", NULL);
    const rp_json *nested = rp_json_member(value, "nested");
    size_t length = 0;
    char *bytes = hexadecimal != NULL ? bytes_of(hexadecimal, &length) : NULL;
    if (value->type == RP_JSON_NULL)
        rp_null(sink, column);
    else if (text != NULL)
        rp_text_as(sink, column, bytes, length);
    else if (bytes != NULL)
        rp_binary(sink, column, bytes, length);
    else if (integer != NULL)
        rp_integer(sink, column, strtoll(integer, NULL, 10));
    else if (nested != NULL)
        take_nested(column, nested, sink);
    else
        rp_float(sink, column, strtod(rp_json_text(value, "float", ""), NULL));
    free(bytes);
}

static void take_row(rp_phase *phase, const rp_json *row, rp_sink *sink) {
    const rp_json *value = row->first;
    for (int i = 0; i < phase->column_count; i++, value = value->next)
        take_value(&phase->columns[i], value, sink);
}

static void take_parameters(rp_phase *phase, uint64_t row, rp_sink *sink) {
    const rp_value *value = rp_parameters(phase, row);
    for (int i = 0; i < phase->parameter_column_count; i++, value++) {
        char scratch[RP_SCRATCH_BYTES];
        size_t length;
        rp_column *column = &phase->parameter_columns[i];
        if (value->type == RP_NULL) {
            rp_null(sink, column);
        } else if (value->type == RP_BINARY) {
            rp_binary(sink, column, value->text, value->length);
        } else {
            const char *text = rp_value_text(value, scratch, &length);
            rp_text_as(sink, column, text, length);
        }
    }
}

static void print_row(rp_sink *sink) {
    rp_digest *digest = sink->digest;
    for (size_t i = 0; i < digest->row.length; i++)
        printf("%02x", digest->row.data[i]);
    printf(" ");
    rp_row(sink);
}

static void print_columns(const rp_digest *digest, int count) {
    printf("%016llx", (unsigned long long)digest->order);
    for (int i = 0; i < count; i++) {
        const rp_column_digest *of = &digest->columns[i];
        printf(" %016llx,%016llx,%lld,%d,%llu", (unsigned long long)of->sum, (unsigned long long)of->order,
               (long long)of->finest_ns, of->bounds, (unsigned long long)of->foreign);
    }
    printf("\n");
}

static void answer(rp_phase *phase, const rp_json *rows, bool digests) {
    rp_digest digest = rp_digest_of(phase->column_count + phase->parameter_column_count, UINT64_MAX);
    rp_sink sink = {.digest = &digest, .watched = true};
    uint64_t touch = 0;
    for (const rp_json *row = rows != NULL ? rows->first : NULL; row != NULL; row = row->next) {
        rp_sink timed = {0}; /* the same values inside the clock */
        take_row(phase, row, &timed);
        touch += timed.touch;
        take_row(phase, row, &sink);
        print_row(&sink);
    }
    for (uint64_t row = 0; row < phase->parameter_count; row++) {
        take_parameters(phase, row, &sink);
        print_row(&sink);
    }
    if (phase->parameter_count == 0 && touch != sink.touch) printf("two touch sums ");
    if (digests)
        print_columns(&digest, phase->column_count);
    else
        printf("%llu:%016llx %016llx\n", (unsigned long long)digest.rows, (unsigned long long)digest.sum,
               (unsigned long long)sink.touch);
    rp_digest_free(&digest);
}

static void print_hash(const char *hexadecimal) {
    size_t length;
    char *bytes = bytes_of(hexadecimal, &length);
    printf("%016llx\n", (unsigned long long)rp_xxh64(bytes, length));
    free(bytes);
}

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        rp_arena *arena = rp_arena_new();
        const rp_json *request = rp_json_read(arena, line, (size_t)length);
        const char *hashed = rp_json_text(request, "hash", NULL);
        rp_phase *phase = hashed == NULL
                              ? rp_phase_new(request, rp_json_member(request, "parameters"), &rp_adapter_here, true)
                              : NULL;
        if (hashed != NULL)
            print_hash(hashed);
        else if (phase == NULL)
            printf("error %s\n", rp_last_error.text);
        else
            answer(phase, rp_json_member(request, "rows"), rp_json_true(request, "digests"));
        if (phase != NULL) rp_arena_free(phase->arena);
        rp_arena_free(arena);
        fflush(stdout);
    }
    free(line);
    return 0;
}
