/* Texts that only the digest reads: an array in braces ({1,NULL,"a,b"}, {{1},{2}}, [2:4]={1,2,3}), bits. */
#include <stdlib.h>

#include "codec.h"
#include "text_reader.h"

#define MOST_DIMENSIONS 64 /* of a text that could be anything; no engine has as many */

typedef struct array_text {
    cursor in;
    rp_sink *values;
    char *plain; /* an element without its quotes and backslashes */
    int32_t lowers[MOST_DIMENSIONS];
    int bounded; /* so many dimensions have a lower bound in the text */
} array_text;

/* [2:4][-1:0]= */
static bool read_bounds(array_text *text) {
    cursor *in = &text->in;
    for (; skip(in, '['); text->bounded++) {
        int64_t lower, upper;
        if (text->bounded == MOST_DIMENSIONS || !read_int64(in, &lower) || !skip(in, ':') || !read_int64(in, &upper))
            return false;
        if (!skip(in, ']') || lower != (int32_t)lower) return false;
        text->lowers[text->bounded] = (int32_t)lower;
    }
    return text->bounded == 0 || skip(in, '=');
}

static bool put_element(array_text *text, rp_column *element) {
    cursor *in = &text->in;
    char *to = text->plain;
    bool quoted = skip(in, '"'), escaped = false;
    while (in->at < in->end && (quoted ? *in->at != '"' : *in->at != ',' && *in->at != '}')) {
        escaped |= *in->at == '\\';
        if (*in->at == '\\' && ++in->at == in->end) return false;
        *to++ = *in->at++;
    }
    size_t length = (size_t)(to - text->plain);
    if (quoted ? !skip(in, '"') : length == 0) return false;
    if (!quoted && !escaped && length == 4 && memcmp(text->plain, "NULL", 4) == 0)
        rp_null(text->values, element);
    else
        rp_text_as(text->values, element, text->plain, length);
    return true;
}

static bool put_dimension(array_text *text, rp_column *column, int depth) {
    rp_bytes *row = &text->values->digest->row;
    if (depth == MOST_DIMENSIONS || !skip(&text->in, '{')) return false;
    if (depth < text->bounded) rp_digest_bound(text->values->digest, column, text->lowers[depth]);
    rp_column *element = column->fields, *inner = element->type == RP_ARRAY ? element : column;
    size_t tag_at = row->length;
    uint32_t count = 0;
    rp_put_nested(row, 'A', 0);
    if (skip(&text->in, '}')) return true;
    do {
        bool nested = text->in.at < text->in.end && *text->in.at == '{';
        if (!(nested ? put_dimension(text, inner, depth + 1) : put_element(text, element))) return false;
        count++;
    } while (skip(&text->in, ','));
    rp_set_count(row, tag_at, count);
    return skip(&text->in, '}');
}

static bool put_array(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    rp_sink values = {.digest = sink->digest}; /* no touch sum is made of what is inside */
    array_text array = {.in = {text, text + length}, .values = &values, .plain = malloc(length + 1)};
    if (array.plain == NULL) abort();
    bool good = read_bounds(&array) && put_dimension(&array, column, 0) && array.in.at == array.in.end;
    free(array.plain);
    return good;
}

static bool put_bits(rp_bytes *row, const char *text, size_t length) {
    uint8_t *packed = calloc(length / 8 + 1, 1);
    bool good = length <= UINT32_MAX;
    if (packed == NULL) abort();
    for (size_t i = 0; good && i < length; i++) {
        good = text[i] == '0' || text[i] == '1';
        packed[i / 8] |= (uint8_t)((text[i] & 1) << (7 - i % 8));
    }
    if (good) rp_put_bits(row, packed, 0, (uint32_t)length);
    free(packed);
    return good;
}

void rp_digest_bound(rp_digest *digest, const rp_column *column, int32_t lower) {
    if (lower == 1) return;
    if (digest->rows < digest->most_rows) digest->columns[column->position].bounds = true;
    if (column->bounds) rp_put_bound(&digest->row, lower);
}

void rp_digest_undecoded(rp_sink *sink, rp_column *column, const char *text, size_t length) {
    rp_bytes *row = &sink->digest->row;
    size_t from = row->length;
    if (column->delivered == NULL) column->delivered = "text";
    if (column->type == RP_ANY) {
        rp_digest_text(sink, column, text, length);
        return;
    }
    if ((column->type == RP_ARRAY && put_array(sink, column, text, length)) ||
        (column->type == RP_BITS && put_bits(row, text, length))) {
        rp_digest_ends(sink->digest, column);
        return;
    }
    row->length = from;
    rp_digest_foreign(sink, column, text, length, "text that is not of the type's form");
}
