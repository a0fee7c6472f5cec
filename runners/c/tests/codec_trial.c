/* The codec, driven by a test: one JSON object a line on stdin, one answer a line on stdout.
   {"hash": HEXADECIMAL}                         → the XXH64 of these bytes
   {"columns": […], "rows": [[TEXT or null, …]]} → digest and touch of the rows, and the bytes of the last one
   {"parameter_columns": […], "parameters": {…}} → digest of a parameter file's rows after going through text */
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

const rp_adapter rp_adapter_here = {.binary_literal = {"X'", "'"}};

static void take_row(rp_phase *phase, const rp_json *row, rp_sink *sink) {
    const rp_json *value = row->first;
    for (int i = 0; i < phase->column_count; i++, value = value->next) {
        if (value->type == RP_JSON_NULL)
            rp_null(sink, &phase->columns[i]);
        else
            rp_text_as(sink, &phase->columns[i], value->text, strlen(value->text));
    }
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

static void answer(rp_phase *phase, const rp_json *rows) {
    rp_digest digest = {.most_rows = UINT64_MAX};
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
    if (sink.broken)
        printf("error %s\n", rp_last_error.text);
    else
        printf("%llu:%016llx %016llx\n", (unsigned long long)digest.rows, (unsigned long long)digest.sum,
               (unsigned long long)sink.touch);
    free(digest.row.data);
}

static void print_hash(const char *hexadecimal) {
    size_t length = strlen(hexadecimal) / 2;
    uint8_t *bytes = calloc(length + 1, 1);
    for (size_t i = 0; i < length; i++)
        sscanf(hexadecimal + 2 * i, "%2hhx", &bytes[i]);
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
            answer(phase, rp_json_member(request, "rows"));
        if (phase != NULL) rp_arena_free(phase->arena);
        rp_arena_free(arena);
        fflush(stdout);
    }
    free(line);
    return 0;
}
