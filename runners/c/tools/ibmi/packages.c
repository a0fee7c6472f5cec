/* SQL packages: statements that stay when their connection ends. Who downloads one need not prepare them. */
#include <stdlib.h>
#include <string.h>

#include "ibmi.h"

enum { HEAD_BYTES = 42, ENTRY_BYTES = 64, NAME_AT = 4, NAME_LENGTH = 18, DIGITS = 9, MOST = 32767 };

struct packaged { /* as it came, in UTF-16, and as we read it */
    uint8_t *text;
    size_t length;
    char *sql;
};

struct package {
    struct package *next;
    struct packaged *statements;
    size_t count, room, name_bytes;
    uint8_t name[NAME_BYTES];
};

struct package *package_find(struct database *database, const uint8_t *name, size_t length) {
    for (struct package *package = database->packages; package != NULL; package = package->next)
        if (package->name_bytes == length && memcmp(package->name, name, length) == 0) return package;
    return NULL;
}

bool package_create(struct database *database, const uint8_t *name, size_t length, struct problem *problem) {
    struct package *package;
    if (name == NULL || length <= NAME_AT || length > NAME_BYTES) return refuse(problem, "SQL package without a name.");
    if (package_find(database, name, length) != NULL)
        return fail(problem, -601, "42710", "The SQL package already exists.");
    package = calloc(1, sizeof *package);
    if (package == NULL) abort();
    memcpy(package->name, name, package->name_bytes = length);
    package->next = database->packages;
    database->packages = package;
    return true;
}

void package_keep(struct package *package, const uint8_t *text, size_t length, const char *sql) {
    struct packaged *kept = package->statements;
    for (size_t i = 0; i < package->count; i++)
        if (kept[i].length == length && memcmp(kept[i].text, text, length) == 0) return;
    if (package->count == MOST) return;
    if (package->count == package->room) {
        package->room = package->room * 2 + 16;
        kept = package->statements = realloc(kept, package->room * sizeof *kept);
        if (kept == NULL) abort();
    }
    kept += package->count++;
    *kept = (struct packaged){.text = malloc(length + 1), .length = length, .sql = strdup(sql)};
    if (kept->text == NULL || kept->sql == NULL) abort();
    memcpy(kept->text, text, length);
}

/* Our names of statements end with their number, in EBCDIC. */
const char *package_sql(const struct package *package, const uint8_t *name, size_t length) {
    size_t number = 0;
    if (length != NAME_AT + NAME_LENGTH) return NULL;
    for (size_t i = length - DIGITS; i < length; i++)
        number = number * 10 + (name[i] & 0xF);
    return number < package->count ? package->statements[number].sql : NULL;
}

/* Where and how long something is: from the parameter's begin on. */
static void put_place(struct reply *reply, size_t begin, size_t entry, size_t from) {
    put32(reply->at + entry, (uint32_t)(from - begin));
    put32(reply->at + entry + 4, (uint32_t)(reply->length - from));
}

static void put_statement(struct reply *reply, size_t begin, size_t entry, const struct packaged *kept,
                          const struct statement *statement) {
    size_t from = reply->length;
    if (statement->kind == SELECT) {
        reply_sqlda(reply, statement->table, statement->result, statement->results);
        put_place(reply, begin, entry + 40, from);
    }
    from = reply->length;
    memcpy(reply_room(reply, kept->length), kept->text, kept->length);
    put_place(reply, begin, entry + 48, from);
    if (statement->parameter_count == 0) return;
    from = reply->length;
    reply_sqlda(reply, statement->table, statement->parameters, statement->parameter_count);
    put_place(reply, begin, entry + 56, from);
}

/* Each statement with its formats as they are now; one whose table is gone has no text, so no one finds it. */
void reply_package(struct reply *reply, struct database *database, const struct package *package, const char *schema) {
    size_t begin = reply->length;
    uint8_t *at = reply_parameter(reply, 0x380B, HEAD_BYTES + ENTRY_BYTES * package->count);
    put16(at + 4, 13488);
    memset(at + 6, 0x40, 18);
    to_latin(schema, strlen(schema), at + 6, 18);
    put16(at + 24, (uint32_t)package->count);
    for (size_t i = 0; i < package->count; i++) {
        size_t entry = begin + 6 + HEAD_BYTES + ENTRY_BYTES * i;
        struct problem ignored;
        struct statement *statement = parse(database, package->statements[i].sql, schema, &ignored);
        char name[32];
        snprintf(name, sizeof name, "QZ0000000%09u", (unsigned)i);
        to_latin(name, NAME_LENGTH, reply->at + entry + 3, NAME_LENGTH);
        if (statement != NULL) put_statement(reply, begin, entry, &package->statements[i], statement);
        statement_free(statement);
    }
    put32(reply->at + begin, (uint32_t)(reply->length - begin));
    put32(reply->at + begin + 6, (uint32_t)(reply->length - begin - 6));
}
