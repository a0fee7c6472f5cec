/* CREATE TABLE: columns of the types that Rowpath declares on an IBM i, but LOBs. */
#include <stdlib.h>
#include <string.h>

#include "statements.h"

enum { LONGEST = 32740 };

static const struct {
    const char *name;
    enum kind kind;
    uint32_t bytes;
} types[] = {
    {"SMALLINT", SMALLINT, 2}, {"INTEGER", INTEGER, 4}, {"BIGINT", BIGINT, 8},       {"DECIMAL", DECIMAL, 0},
    {"REAL", REAL, 4},         {"DOUBLE", DOUBLE, 8},   {"CHAR", CHAR, 0},           {"VARCHAR", VARCHAR, 2},
    {"DATE", DATE, 10},        {"TIME", TIME, 8},       {"VARBINARY", VARBINARY, 2}, {"TIMESTAMP", TIMESTAMP, 26},
};

static bool sizes(struct tokens *tokens, struct column *column) {
    uint32_t length = 1, scale = 0;
    if (token_taken(tokens, "(")) {
        if (!count_needed(tokens, &length)) return false;
        if (token_taken(tokens, ",") && !count_needed(tokens, &scale)) return false;
        if (!token_needed(tokens, ")")) return false;
    }
    if (length > LONGEST || scale > length || (column->kind == DECIMAL && length > 31))
        return fail(tokens->problem, -604, "42611", "Attributes of column %s not valid.", column->name);
    if (column->kind == DECIMAL) {
        column->precision = (uint16_t)length;
        column->scale = (uint16_t)scale;
        column->bytes = length / 2 + 1;
    } else
        column->bytes += length;
    return true;
}

static bool type(struct tokens *tokens, struct column *column) {
    static const uint16_t precisions[] = {[SMALLINT] = 5, [INTEGER] = 10, [BIGINT] = 19, [REAL] = 24, [DOUBLE] = 53};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (token_taken(tokens, types[i].name)) {
            uint32_t ccsid = types[i].kind == VARBINARY ? CCSID_BINARY : CCSID_LATIN;
            column->kind = types[i].kind;
            column->bytes = types[i].bytes;
            if (column->kind <= DOUBLE) column->precision = precisions[column->kind];
            if (column->kind >= DECIMAL && column->kind != DOUBLE && column->kind != REAL && column->kind < DATE &&
                !sizes(tokens, column))
                return false;
            if (token_taken(tokens, "CCSID") && !count_needed(tokens, &ccsid)) return false;
            if (ccsid != CCSID_LATIN && ccsid != CCSID_UTF8 && ccsid != CCSID_BINARY)
                return refuse(tokens->problem, "CCSID %u: only 37 and 1208.", ccsid);
            column->ccsid = column->kind < CHAR ? 0 : (uint16_t)ccsid;
            return true;
        }
    return refuse(tokens->problem, "columns of the type %.60s.", tokens->text);
}

struct key {
    int columns[KEY_COLUMNS], count;
};

static bool add_to_key(struct tokens *tokens, struct key *key, int column) {
    if (key->count == KEY_COLUMNS) return refuse(tokens->problem, "keys of over %d columns.", KEY_COLUMNS);
    key->columns[key->count++] = column;
    return true;
}

static bool column(struct tokens *tokens, struct table *table, struct key *key) {
    struct column *column = &table->columns[table->count];
    if (table->count == COLUMNS) return refuse(tokens->problem, "tables of over %d columns.", COLUMNS);
    if (!name_needed(tokens, column->name) || !type(tokens, column)) return false;
    column->nullable = true;
    table->count++;
    while (!token_is(tokens, ",") && !token_is(tokens, ")")) {
        if (token_taken(tokens, "NOT")) {
            if (!token_needed(tokens, "NULL")) return false;
            column->nullable = false;
        } else if (token_taken(tokens, "PRIMARY")) {
            if (!token_needed(tokens, "KEY") || !add_to_key(tokens, key, table->count - 1)) return false;
        } else if (token_taken(tokens, "GENERATED")) {
            if (!token_needed(tokens, "BY") || !token_needed(tokens, "DEFAULT") || !token_needed(tokens, "AS") ||
                !token_needed(tokens, "IDENTITY"))
                return false;
            column->numbered = true;
        } else
            return syntax(tokens->problem, tokens->from);
    }
    return true;
}

static bool primary_key(struct tokens *tokens, const struct table *table, struct key *key) {
    char name[NAME_BYTES];
    if (!token_needed(tokens, "KEY") || !token_needed(tokens, "(")) return false;
    do {
        if (!name_needed(tokens, name)) return false;
        if (table_column(table, name) < 0) return unknown_column(tokens->problem, name, table);
        if (!add_to_key(tokens, key, table_column(table, name))) return false;
    } while (token_taken(tokens, ","));
    return token_needed(tokens, ")");
}

bool parse_create(struct tokens *tokens, struct statement *statement) {
    char name[NAME_BYTES];
    struct key key = {.count = 0};
    if (token_taken(tokens, "INDEX")) { /* they come by themselves */
        statement->kind = NOTHING;
        while (tokens->kind != END)
            token_next(tokens);
        return true;
    }
    statement->kind = CREATE;
    if (!token_needed(tokens, "TABLE") || !name_needed(tokens, name) || !token_needed(tokens, "(")) return false;
    statement->table = table_new(name);
    do {
        if (token_taken(tokens, "PRIMARY")) {
            if (!primary_key(tokens, statement->table, &key)) return false;
        } else if (!column(tokens, statement->table, &key))
            return false;
    } while (token_taken(tokens, ","));
    if (!token_needed(tokens, ")")) return false;
    table_lay_out(statement->table, key.columns, key.count);
    return true;
}
