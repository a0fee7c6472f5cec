#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "delimited_records.h"

#define BLOCK_BYTES (256 * 1024)

static const char MARK[] = "\xEF\xBB\xBF"; /* before UTF-8 */

delimited_dialect delimited_dialect_of(const rp_options *options) {
    const char *quote = rp_option(options, "quote", NULL);
    return (delimited_dialect){
        .delimiter = rp_option(options, "delimiter", "|")[0],
        .quote = quote == NULL || strcmp(quote, "off") == 0 ? '\0' : quote[0],
        .own = quote == NULL,
        .header = rp_option_is(options, "header", "yes"),
        .null = rp_option_is(options, "null", "unquoted") ? DELIMITED_NULL_UNQUOTED
                : rp_option_is(options, "null", "never")  ? DELIMITED_NULL_NONE
                                                          : DELIMITED_NULL_EMPTY,
    };
}

void delimited_release(delimited_lines *lines) {
    free(lines->name);
    free(lines->buffer);
    free(lines->plain);
    free(lines->fields);
}

static void grow(delimited_lines *lines) {
    lines->capacity = lines->capacity > 0 ? 2 * lines->capacity : BLOCK_BYTES;
    lines->buffer = realloc(lines->buffer, lines->capacity + DELIMITED_READ_BEYOND);
    if (lines->buffer == NULL) abort();
}

void delimited_make(delimited_lines *lines, const char *directory, const char *table, const delimited_dialect *dialect,
                    int fields) {
    if (asprintf(&lines->name, "%s/%s.tbl", directory, table) < 0) abort();
    lines->dialect = *dialect;
    lines->fields = calloc((size_t)fields + 1, sizeof *lines->fields);
    lines->field_count = fields;
    if (lines->fields == NULL) abort();
    grow(lines);
}

static void make_room(delimited_lines *lines, size_t bytes) {
    if (lines->plain_bytes >= bytes) return;
    lines->plain_bytes = 2 * bytes;
    lines->plain = realloc(lines->plain, lines->plain_bytes);
    if (lines->plain == NULL) abort();
}

size_t delimited_without_doubles(delimited_lines *lines, const delimited_field *field) {
    make_room(lines, field->length);
    char *to = lines->plain;
    for (const char *at = field->at, *end = at + field->length; at < end; at++) {
        *to++ = *at;
        at += *at == lines->dialect.quote;
    }
    return (size_t)(to - lines->plain);
}

size_t delimited_without_escapes(delimited_lines *lines, const char *value, const char *end) {
    make_room(lines, (size_t)(end - value));
    char *to = lines->plain;
    for (; value < end; value++) {
        if (*value == '\\' && value + 1 < end) {
            value++;
            *to++ = *value == 'n' ? '\n' : *value == 'r' ? '\r' : *value;
        } else {
            *to++ = *value;
        }
    }
    return (size_t)(to - lines->plain);
}

/* The bytes to ask for: no more of what lies behind the segment than the end of its last line needs. */
static size_t room(const delimited_lines *lines, size_t kept, int64_t left) {
    size_t free_bytes = lines->capacity - kept, wanted = left > 4096 ? (size_t)left : 4096;
    return wanted < free_bytes ? wanted : free_bytes;
}

/* Behind a byte-order mark. */
static const char *behind_mark(const delimited_lines *lines, const char *line, const char *whole) {
    size_t length = sizeof MARK - 1;
    bool marked = !lines->dialect.own && (size_t)(whole - line) >= length && memcmp(line, MARK, length) == 0;
    return marked ? line + length : line;
}

/* Behind the header; where it does not end yet, `line` itself. */
static const char *behind_header(const delimited_lines *lines, const char *line, const char *whole) {
    const char *next = line;
    return delimited_split(lines, line, whole, lines->fields, lines->field_count, &next) == 0 ? line : next;
}

/* Takes the last record of a file of RFC 4180, which may lack its line feed. */
static bool take_last(delimited_lines *lines, size_t kept, bool first, bool header, delimited_taker *take, void *taker,
                      rp_sink *sink) {
    lines->buffer[kept] = '\n';
    const char *line = lines->buffer, *end = line + kept + 1;
    if (first) line = behind_mark(lines, line, end);
    if (line + 1 == end) return true; /* nothing but the mark */
    const char *behind = header ? behind_header(lines, line, end) : take(taker, line, end, end, sink);
    return behind == end || sink->broken || rp_fail(RP_VERIFY, "", "%s: a quote is not closed", lines->name);
}

static bool take_from(delimited_lines *lines, int file, int64_t begin, int64_t end, delimited_taker *take, void *taker,
                      rp_sink *sink) {
    size_t kept = 0;        /* bytes of a line whose end was not read yet */
    bool other = begin > 0; /* the first line read began before the segment */
    bool first = !other, header = !other && lines->dialect.header;
    int64_t at = other ? begin - 1 : 0;
    if (lseek(file, at, SEEK_SET) < 0) return rp_fail_errno(RP_SQL_ERROR, lines->name);
    while (at < end) { /* `at`: where the buffer's first byte stands in the file */
        ssize_t count = read(file, lines->buffer + kept, room(lines, kept, end - at - (int64_t)kept));
        if (count < 0) return rp_fail_errno(RP_SQL_ERROR, lines->name);
        if (count == 0) break;
        const char *line = lines->buffer, *last = line + kept + count,
                   *newline = memrchr(line + kept, '\n', (size_t)count);
        const char *whole = newline != NULL ? newline + 1 : line,
                   *limit = whole - line < end - at ? whole : line + (end - at);
        if (RP_UNLIKELY(other && newline != NULL)) {
            line = (const char *)memchr(line, '\n', (size_t)(whole - line)) + 1;
            other = false;
        }
        if (RP_UNLIKELY(first && newline != NULL)) {
            line = behind_mark(lines, line, whole);
            first = false;
        }
        if (RP_UNLIKELY(header && line < whole)) {
            const char *behind = behind_header(lines, line, whole);
            header = behind == line;
            line = behind;
        }
        if (line < limit && !header) line = take(taker, line, limit, whole, sink);
        if (sink->broken) return true;
        if (limit < whole) return true;
        at += line - lines->buffer;
        kept = (size_t)(last - line);
        memmove(lines->buffer, line, kept);
        if (kept == lines->capacity) grow(lines);
    }
    if (kept > 0 && at < end && !lines->dialect.own) return take_last(lines, kept, first, header, take, taker, sink);
    return kept == 0 || at >= end || rp_fail(RP_VERIFY, "", "%s: the last line does not end", lines->name);
}

bool delimited_take_lines(delimited_lines *lines, int64_t begin, int64_t end, delimited_taker *take, void *taker,
                          rp_sink *sink) {
    int file = open(lines->name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return rp_fail_errno(RP_CONNECT_ERROR, lines->name);
    rp_executed(sink);
    bool good = begin >= end || take_from(lines, file, begin, end, take, taker, sink);
    close(file);
    return good;
}
