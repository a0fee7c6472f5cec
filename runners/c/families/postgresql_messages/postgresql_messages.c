#include "postgresql_messages.h"

#include <ctype.h>
#include <endian.h>
#include <stdio.h>

static void put_integer(FILE *to, uint32_t value) {
    value = htobe32(value);
    fwrite(&value, sizeof value, 1, to);
}

/* A message whose body begins with `text` and its NUL, preceded by `before` NULs. */
static void put_message(FILE *to, char type, size_t before, const char *text, const char *rest, size_t rest_length) {
    fputc(type, to);
    put_integer(to, (uint32_t)(4 + before + strlen(text) + 1 + rest_length));
    for (size_t i = 0; i < before; i++)
        fputc('\0', to);
    fwrite(text, 1, strlen(text) + 1, to);
    fwrite(rest, 1, rest_length, to);
}

char *pg_query_messages(const char *sql, bool binary, size_t *length) {
    char *data;
    FILE *to = open_memstream(&data, length);
    if (!binary) {
        put_message(to, 'Q', 0, sql, "", 0);
    } else {
        put_message(to, 'P', 1, sql, "\0\0", 2);            /* Parse: no parameter's type is given */
        put_message(to, 'B', 1, "", "\0\0\0\0\0\1\0\1", 8); /* Bind: no parameters; one format for all: binary */
        put_message(to, 'E', 0, "", "\0\0\0\0", 4);         /* Execute: every row */
        fwrite("S\0\0\0\4", 1, 5, to);                      /* Sync */
    }
    fclose(to);
    return data;
}

bool pg_looks_ready(const char *end) {
    return end[-7] == '\0' && memcmp(end - 6, "Z\0\0\0\5", 5) == 0 &&
           (end[-1] == 'I' || end[-1] == 'T' || end[-1] == 'E');
}

bool pg_is_complete(const char *end) {
    const char *at = end - 8;
    if (!pg_looks_ready(end) || !isdigit((unsigned char)*at)) return false;
    while (isdigit((unsigned char)*at))
        at--;
    return memcmp(at - 6, "SELECT ", 7) == 0 || memcmp(at - 4, "COPY ", 5) == 0;
}

bool pg_refused(const char *first, const char *end) {
    static const char *const severities[] = {"SERROR", "SFATAL"};
    const char *code = "", *text = "the server ended the result";
    const char *field = NULL;
    for (size_t i = 0; i < 2 && field == NULL; i++)
        field = memmem(first, (size_t)(end - first), severities[i], strlen(severities[i]) + 1);
    for (; field != NULL && field < end && *field != '\0'; field += strlen(field) + 1) {
        if (*field == 'C') code = field + 1;
        if (*field == 'M') text = field + 1;
    }
    return rp_fail(RP_SQL_ERROR, code, "%s", text);
}
