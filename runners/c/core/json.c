#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    rp_arena *arena;
    const char *at, *end;
} reader;

static bool read_value(reader *in, rp_json *value, int depth);

static void skip_blanks(reader *in) {
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r'))
        in->at++;
}

static bool skip(reader *in, char byte) {
    skip_blanks(in);
    if (in->at == in->end || *in->at != byte) return false;
    in->at++;
    return true;
}

static bool read_unit(reader *in, uint32_t *unit) {
    if (in->end - in->at < 4) return false;
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        char byte = *in->at++;
        int digit = byte >= '0' && byte <= '9'                 ? byte - '0'
                    : (byte | 32) >= 'a' && (byte | 32) <= 'f' ? (byte | 32) - 87
                                                               : -1;
        if (digit < 0) return false;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

static char *put_utf8(char *to, uint32_t point) {
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xc0 | point >> 6);
        *to++ = (char)(0x80 | (point & 63));
    } else if (point < 0x10000) {
        *to++ = (char)(0xe0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 63));
        *to++ = (char)(0x80 | (point & 63));
    } else {
        *to++ = (char)(0xf0 | point >> 18);
        *to++ = (char)(0x80 | (point >> 12 & 63));
        *to++ = (char)(0x80 | (point >> 6 & 63));
        *to++ = (char)(0x80 | (point & 63));
    }
    return to;
}

static bool read_escape(reader *in, char **to) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (in->at == in->end) return false;
    char byte = *in->at++;
    if (byte != 'u') {
        const char *found = memchr(names, byte, sizeof names - 1);
        if (found != NULL) *(*to)++ = meanings[found - names];
        return found != NULL;
    }
    uint32_t point, low;
    if (!read_unit(in, &point) || point == 0 || (point >= 0xdc00 && point <= 0xdfff)) return false;
    if (point >= 0xd800 && point <= 0xdbff) {
        if (in->end - in->at < 2 || *in->at++ != '\\' || *in->at++ != 'u' || !read_unit(in, &low)) return false;
        if (low < 0xdc00 || low > 0xdfff) return false;
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    *to = put_utf8(*to, point);
    return true;
}

static const char *read_string(reader *in) {
    if (!skip(in, '"')) return NULL;
    const char *close = in->at;
    while (close < in->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close >= in->end) return NULL;
    char *text = rp_arena_take(in->arena, (size_t)(close - in->at) + 1), *to = text;
    while (in->at < close) {
        char byte = *in->at++;
        if ((unsigned char)byte < 0x20) return NULL;
        if (byte != '\\')
            *to++ = byte;
        else if (!read_escape(in, &to))
            return NULL;
    }
    in->at = close + 1;
    return text;
}

static bool skip_digits(reader *in) {
    const char *first = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9')
        in->at++;
    return in->at > first;
}

static bool read_number(reader *in, rp_json *value) {
    const char *first = in->at;
    if (in->at < in->end && *in->at == '-') in->at++;
    const char *whole = in->at;
    if (!skip_digits(in) || (*whole == '0' && in->at - whole > 1)) return false;
    if (in->at < in->end && *in->at == '.') {
        in->at++;
        if (!skip_digits(in)) return false;
    }
    if (in->at < in->end && (*in->at | 32) == 'e') {
        in->at++;
        if (in->at < in->end && (*in->at == '+' || *in->at == '-')) in->at++;
        if (!skip_digits(in)) return false;
    }
    value->type = RP_JSON_NUMBER;
    value->text = rp_arena_copy(in->arena, first, (size_t)(in->at - first));
    return true;
}

static bool read_members(reader *in, rp_json *parent, char close, int depth) {
    rp_json **last = &parent->first;
    if (skip(in, close)) return true;
    do {
        rp_json *member = rp_arena_take(in->arena, sizeof *member);
        if (close == '}' && ((member->key = read_string(in)) == NULL || !skip(in, ':'))) return false;
        if (!read_value(in, member, depth)) return false;
        *last = member;
        last = &member->next;
    } while (skip(in, ','));
    return skip(in, close);
}

static bool read_word(reader *in, rp_json *value, const char *word, rp_json_type type) {
    size_t length = strlen(word);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0) return false;
    in->at += length;
    value->type = type;
    return true;
}

static bool read_value(reader *in, rp_json *value, int depth) {
    skip_blanks(in);
    if (in->at == in->end || depth == 0) return false;
    switch (*in->at) {
    case '{':
        in->at++;
        value->type = RP_JSON_OBJECT;
        return read_members(in, value, '}', depth - 1);
    case '[':
        in->at++;
        value->type = RP_JSON_LIST;
        return read_members(in, value, ']', depth - 1);
    case '"': value->type = RP_JSON_STRING; return (value->text = read_string(in)) != NULL;
    case 'n': return read_word(in, value, "null", RP_JSON_NULL);
    case 't': return read_word(in, value, "true", RP_JSON_TRUE);
    case 'f': return read_word(in, value, "false", RP_JSON_FALSE);
    default: return read_number(in, value);
    }
}

const rp_json *rp_json_read(rp_arena *arena, const char *text, size_t length) {
    reader in = {arena, text, text + length};
    rp_json *value = rp_arena_take(arena, sizeof *value);
    if (!read_value(&in, value, 32)) return NULL;
    skip_blanks(&in);
    return in.at == in.end ? value : NULL;
}

const rp_json *rp_json_member(const rp_json *object, const char *key) {
    if (object == NULL || object->type != RP_JSON_OBJECT) return NULL;
    for (const rp_json *member = object->first; member != NULL; member = member->next)
        if (strcmp(member->key, key) == 0) return member;
    return NULL;
}

const char *rp_json_text(const rp_json *object, const char *key, const char *fallback) {
    const rp_json *member = rp_json_member(object, key);
    return member != NULL && member->type == RP_JSON_STRING ? member->text : fallback;
}

int64_t rp_json_integer(const rp_json *object, const char *key, int64_t fallback) {
    const rp_json *member = rp_json_member(object, key);
    return member != NULL && member->type == RP_JSON_NUMBER ? strtoll(member->text, NULL, 10) : fallback;
}

double rp_json_number(const rp_json *object, const char *key, double fallback) {
    const rp_json *member = rp_json_member(object, key);
    return member != NULL && member->type == RP_JSON_NUMBER ? strtod(member->text, NULL) : fallback;
}

bool rp_json_true(const rp_json *object, const char *key) {
    const rp_json *member = rp_json_member(object, key);
    return member != NULL && member->type == RP_JSON_TRUE;
}

bool rp_json_true_unless(const rp_json *object, const char *key) {
    const rp_json *member = rp_json_member(object, key);
    return member == NULL || member->type != RP_JSON_FALSE;
}

static void append(rp_writer *writer, const char *text, size_t length) {
    if (writer->capacity - writer->length < length + 1) {
        writer->capacity = 2 * (writer->length + length) + 256;
        writer->data = realloc(writer->data, writer->capacity);
        if (writer->data == NULL) abort();
    }
    memcpy(writer->data + writer->length, text, length);
    writer->length += length;
    writer->data[writer->length] = '\0';
}

void rp_write_raw(rp_writer *writer, const char *text) {
    append(writer, text, strlen(text));
}

/* Control characters are left out, and what is not UTF-8 becomes a question mark: drivers report anything. */
static void append_quoted(rp_writer *writer, const char *text) {
    append(writer, "\"", 1);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc2 ? 2 : 0;
        for (size_t i = 1; i < length; i++)
            if ((at[i] & 0xc0) != 0x80) length = 0;
        bool overlong = length > 2 && ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90));
        bool beyond =
            length > 2 && ((at[0] == 0xed && at[1] > 0x9f) || at[0] > 0xf4 || (at[0] == 0xf4 && at[1] > 0x8f));
        if (length == 0 || overlong || beyond) {
            append(writer, "?", 1);
            at++;
            continue;
        }
        if (*at == '\n' || *at == '\t' || *at == '\r')
            append(writer, " ", 1);
        else if (*at == '"' || *at == '\\')
            append(writer, (char[]){'\\', (char)*at}, 2);
        else if (*at >= 0x20 && *at != 0x7f)
            append(writer, (const char *)at, length);
        at += length;
    }
    append(writer, "\"", 1);
}

static void begin(rp_writer *writer, const char *key) {
    if (writer->started) append(writer, ",", 1);
    writer->started = true;
    if (key == NULL) return;
    append_quoted(writer, key);
    append(writer, ":", 1);
}

void rp_write_open(rp_writer *writer, const char *key, char bracket) {
    begin(writer, key);
    append(writer, &bracket, 1);
    writer->started = false;
}

void rp_write_close(rp_writer *writer, char bracket) {
    append(writer, &bracket, 1);
    writer->started = true;
}

void rp_write_text(rp_writer *writer, const char *key, const char *text) {
    begin(writer, key);
    append_quoted(writer, text);
}

static void write_formatted(rp_writer *writer, const char *key, const char *text) {
    begin(writer, key);
    rp_write_raw(writer, text);
}

void rp_write_integer(rp_writer *writer, const char *key, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    write_formatted(writer, key, text);
}

void rp_write_number(rp_writer *writer, const char *key, double value) {
    char text[40];
    snprintf(text, sizeof text, "%.3f", value);
    write_formatted(writer, key, text);
}

void rp_write_hexadecimal(rp_writer *writer, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "\"%016llx\"", (unsigned long long)value);
    write_formatted(writer, key, text);
}

void rp_write_boolean(rp_writer *writer, const char *key, bool value) {
    write_formatted(writer, key, value ? "true" : "false");
}

void rp_write_null(rp_writer *writer, const char *key) {
    write_formatted(writer, key, "null");
}
