/* Parameter values as text: for drivers that take text, and as SQL literals. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "session.h"

static char *put_two(char *to, unsigned value) {
    *to++ = (char)('0' + value / 10);
    *to++ = (char)('0' + value % 10);
    return to;
}

static char *put_integer(char *to, int64_t value) {
    char digits[20];
    int count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) *to++ = '-';
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

static char *put_date(char *to, int32_t days) {
    rp_civil civil = rp_civil_of_days(days);
    for (int64_t width = 1000; width > 1 && civil.year < width; width /= 10)
        *to++ = '0';
    to = put_integer(to, civil.year);
    *to++ = '-';
    to = put_two(to, civil.month);
    *to++ = '-';
    return put_two(to, civil.day);
}

static char *put_clock(char *to, int64_t us) {
    int64_t seconds = us / RP_US_PER_SECOND;
    unsigned fraction = (unsigned)(us % RP_US_PER_SECOND);
    to = put_two(to, (unsigned)(seconds / 3600));
    *to++ = ':';
    to = put_two(to, (unsigned)(seconds / 60 % 60));
    *to++ = ':';
    to = put_two(to, (unsigned)(seconds % 60));
    if (fraction == 0) return to;
    *to++ = '.';
    for (unsigned unit = 100000; unit > 0; unit /= 10)
        *to++ = (char)('0' + fraction / unit % 10);
    return to;
}

static char *put_timestamp(char *to, int64_t us) {
    int64_t days = rp_floor_divide(us, RP_SECONDS_PER_DAY * RP_US_PER_SECOND);
    to = put_date(to, (int32_t)days);
    *to++ = ' ';
    return put_clock(to, us - days * RP_SECONDS_PER_DAY * RP_US_PER_SECOND);
}

static char *put_uuid(char *to, const char *bytes) {
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        to += sprintf(to, "%02x", (unsigned char)bytes[i]);
    }
    return to;
}

const char *rp_value_text(const rp_value *value, char scratch[RP_SCRATCH_BYTES], size_t *length) {
    char *to = scratch;
    switch (value->type) {
    case RP_INTEGER: to = put_integer(to, value->integer); break;
    case RP_BOOLEAN: *to++ = value->integer ? 't' : 'f'; break;
    case RP_FLOAT32:
    case RP_FLOAT64:
        to += isnan(value->real)   ? sprintf(to, "NaN")
              : isinf(value->real) ? sprintf(to, value->real < 0 ? "-Infinity" : "Infinity")
                                   : sprintf(to, "%.17g", value->real);
        break;
    case RP_DATE: to = put_date(to, (int32_t)value->integer); break;
    case RP_TIME: to = put_clock(to, value->integer / 1000); break;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: to = put_timestamp(to, value->integer); break;
    case RP_UUID: to = put_uuid(to, value->text); break;
    default: *length = value->length; return value->text;
    }
    if (value->type == RP_TIMESTAMPTZ) to += sprintf(to, "+00");
    *to = '\0';
    *length = (size_t)(to - scratch);
    return scratch;
}

const char *rp_sql_token_end(const char *at) {
    if (*at == '\'' || *at == '"') {
        const char *end = strchr(at + 1, *at);
        return end != NULL ? end + 1 : at + strlen(at); /* a doubled quote is two tokens: the same result */
    }
    if (at[0] == '-' && at[1] == '-') return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end != NULL ? end + 2 : at + strlen(at);
    }
    return at + 1;
}

char *rp_numbered_placeholders(const char *sql) {
    char *numbered = malloc(12 * strlen(sql) + 1), *to = numbered;
    if (numbered == NULL) abort();
    int count = 0;
    for (const char *end; *sql != '\0'; sql = end) {
        end = rp_sql_token_end(sql);
        if (*sql == '?')
            to += sprintf(to, "$%d", ++count);
        else
            for (const char *at = sql; at < end; at++)
                *to++ = *at;
    }
    *to = '\0';
    return numbered;
}

/* Where the group in parentheses after the word VALUES begins; NULL without one. */
static const char *values_group(const char *sql) {
    bool in_word = false;
    for (const char *at = sql; *at != '\0'; at = rp_sql_token_end(at)) {
        const char *group = at + strspn(at, "VALUESvalues"); /* the word, when it is one */
        if (!in_word && group == at + 6 && strncasecmp(at, "VALUES", 6) == 0) {
            group += strspn(group, " \t\r\n");
            if (*group == '(') return group;
        }
        in_word = isalnum((unsigned char)*at) || *at == '_';
    }
    return NULL;
}

/* The byte after the parenthesis that closes the one at `at`; NULL when none does. */
static const char *group_end(const char *at) {
    int depth = 0;
    for (const char *end; *at != '\0'; at = end) {
        end = rp_sql_token_end(at);
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) return end;
    }
    return NULL;
}

char *rp_rows_of_values(const char *sql, uint64_t rows) {
    const char *group = values_group(sql), *end = group != NULL ? group_end(group) : NULL;
    if (end == NULL) {
        rp_fail(RP_UNSUPPORTED, "", "no INSERT … VALUES (…): %s", sql);
        return NULL;
    }
    size_t head = (size_t)(group - sql), size = (size_t)(end - group);
    char *text = malloc(head + rows * (size + 1) + strlen(end) + 1), *to = text;
    if (text == NULL) abort();
    to = mempcpy(to, sql, head);
    for (uint64_t row = 0; row < rows; row++) {
        if (row > 0) *to++ = ',';
        to = mempcpy(to, group, size);
    }
    strcpy(to, end);
    return text;
}

uint64_t rp_rows_at_once(const rp_phase *phase, uint64_t rows, uint64_t most_parameters) {
    uint64_t width = (uint64_t)phase->parameter_column_count;
    if (width == 0 || rows <= most_parameters / width) return rows;
    return width < most_parameters ? most_parameters / width : 1;
}

static void put_literal(rp_writer *sql, const rp_value *value, const rp_adapter *adapter) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length;
    if (value->type == RP_NULL) {
        rp_write_raw(sql, "NULL");
        return;
    }
    if (value->type == RP_BINARY) {
        rp_write_raw(sql, adapter->binary_literal[0]);
        for (uint32_t i = 0; i < value->length; i++) {
            sprintf(scratch, "%02x", (unsigned char)value->text[i]);
            rp_write_raw(sql, scratch);
        }
        rp_write_raw(sql, adapter->binary_literal[1]);
        return;
    }
    const char *text = rp_value_text(value, scratch, &length);
    if (value->type == RP_BOOLEAN) {
        rp_write_raw(sql, value->integer ? "TRUE" : "FALSE");
    } else if (value->type == RP_INTEGER ||
               (value->type == RP_DECIMAL && !adapter->decimals_are_texts && text[length - 1] <= '9') ||
               (value->type != RP_DECIMAL && value->type <= RP_FLOAT64 && isfinite(value->real))) {
        rp_write_raw(sql, text);
    } else {
        rp_write_raw(sql, "'");
        for (const char *at = text; *at != '\0'; at++)
            rp_write_raw(sql, *at == '\'' ? "''" : (char[]){*at, '\0'});
        rp_write_raw(sql, "'");
    }
}

const char *rp_literal_sql(const rp_phase *phase, uint64_t row, const rp_adapter *adapter) {
    rp_writer sql = {0};
    int next = 0;
    rp_write_raw(&sql, "");
    for (const char *end, *at = phase->sql; *at != '\0'; at = end) {
        end = rp_sql_token_end(at);
        if (*at == '?' && next < phase->parameter_column_count)
            put_literal(&sql, &rp_parameters(phase, row)[next++], adapter);
        else
            for (; at < end; at++)
                rp_write_raw(&sql, (char[]){*at, '\0'});
    }
    const char *copy = rp_arena_copy(phase->arena, sql.data, sql.length);
    free(sql.data);
    return copy;
}
