/* One statement: SELECT of columns, INSERT, UPDATE, CREATE and DROP TABLE. Everything else is refused by name. */
#include <stdlib.h>
#include <string.h>

#include "statements.h"

bool unknown_column(struct problem *problem, const char *name, const struct table *table) {
    return fail(problem, -206, "42703", "Column or global variable %s not found in %s.", name, table->name);
}

struct table *find_table(struct database *database, const char *name) {
    for (struct table *table = database->tables; table != NULL; table = table->next)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

static bool table_needed(struct tokens *tokens, struct database *database, struct table **table) {
    char name[NAME_BYTES];
    if (!name_needed(tokens, name)) return false;
    *table = find_table(database, name);
    return *table != NULL ||
           fail(tokens->problem, -204, "42704", "%s in the library in use type *FILE not found.", name);
}

static bool column_needed(struct tokens *tokens, const struct table *table, int *column) {
    char name[NAME_BYTES];
    const char *from = tokens->from;
    if (!name_needed(tokens, name)) return false;
    if (token_is(tokens, "(")) return refuse(tokens->problem, "functions: %.60s.", from);
    *column = table_column(table, name);
    return *column >= 0 || unknown_column(tokens->problem, name, table);
}

/* DATE('…') is what '…' is; otherwise the words between must be a literal. */
static bool literal(struct tokens *tokens, const struct column *column, struct operand *operand) {
    char text[64];
    enum literal form;
    bool minus, called = false, fits;
    if (token_taken(tokens, "NULL")) return operand->null = true;
    if (token_is(tokens, "DATE") || token_is(tokens, "TIME") || token_is(tokens, "TIMESTAMP")) {
        token_next(tokens);
        called = true;
        if (!token_needed(tokens, "(")) return false;
    }
    minus = token_taken(tokens, "-");
    if (tokens->kind != NUMERAL && (minus || (tokens->kind != STRING && tokens->kind != HEX)))
        return syntax(tokens->problem, tokens->from);
    form = tokens->kind == NUMERAL ? NUMBER : tokens->kind == HEX ? HEXADECIMAL : QUOTED;
    if (form == NUMBER) {
        if (tokens->length > sizeof text - 2) return syntax(tokens->problem, tokens->from);
        text[0] = '-';
        strcpy(text + minus, tokens->text);
        fits = literal_value(column, form, text, strlen(text), operand->value, tokens->problem);
    } else
        fits = literal_value(column, form, tokens->text, tokens->length, operand->value, tokens->problem);
    token_next(tokens);
    return fits && (!called || token_needed(tokens, ")"));
}

static bool add_parameter(struct tokens *tokens, struct statement *statement, int column, struct operand *operand) {
    if (statement->parameter_count == COLUMNS) return refuse(tokens->problem, "more than %d parameters.", COLUMNS);
    operand->parameter = statement->parameter_count;
    statement->parameters[statement->parameter_count++] = column;
    return true;
}

/* `?`, a literal, or a column of the table; integers may have a number added. */
static bool operand(struct tokens *tokens, struct statement *statement, int column, bool columns,
                    struct operand *operand) {
    const struct column *like = &statement->table->columns[column];
    *operand = (struct operand){.parameter = -1, .from = -1, .value = calloc(1, like->bytes + 1)};
    if (operand->value == NULL) abort();
    if (token_taken(tokens, "?")) {
        if (!add_parameter(tokens, statement, column, operand)) return false;
    } else if (columns && tokens->kind == WORD && table_column(statement->table, tokens->text) >= 0) {
        if (!column_needed(tokens, statement->table, &operand->from)) return false;
        if (statement->table->columns[operand->from].kind != like->kind || !is_integer(like->kind))
            return refuse(tokens->problem, "expressions of a type that is no integer.");
    } else if (!literal(tokens, like, operand))
        return false;
    if (is_integer(like->kind) && (token_is(tokens, "+") || token_is(tokens, "-"))) {
        bool minus = token_is(tokens, "-");
        uint32_t number;
        token_next(tokens);
        if (!count_needed(tokens, &number)) return false;
        operand->plus = minus ? -(int64_t)number : (int64_t)number;
    }
    return true;
}

static bool conditions(struct tokens *tokens, struct statement *statement) {
    static const char *const signs[] = {"=", "<", "<=", ">", ">="};
    if (!token_taken(tokens, "WHERE")) return true;
    do {
        struct assignment *condition = &statement->where[statement->conditions];
        int sign = 0;
        if (statement->conditions == CONDITIONS) return refuse(tokens->problem, "%d conditions.", CONDITIONS);
        if (!column_needed(tokens, statement->table, &condition->column)) return false;
        while (sign < 5 && !token_is(tokens, signs[sign]))
            sign++;
        if (sign == 5 && tokens->kind == WORD) return refuse(tokens->problem, "condition %.60s.", tokens->from);
        if (sign == 5) return syntax(tokens->problem, tokens->from);
        token_next(tokens);
        condition->operator = (enum operator)sign;
        statement->conditions++;
        if (!operand(tokens, statement, condition->column, false, &condition->operand)) return false;
    } while (token_taken(tokens, "AND"));
    return true;
}

static bool order(struct tokens *tokens, struct statement *statement) {
    if (!token_taken(tokens, "ORDER")) return true;
    if (!token_needed(tokens, "BY")) return false;
    do {
        if (statement->orders == KEY_COLUMNS) return refuse(tokens->problem, "order by over %d columns.", KEY_COLUMNS);
        if (!column_needed(tokens, statement->table, &statement->order[statement->orders++])) return false;
    } while (token_taken(tokens, ","));
    return true;
}

/* SELECT of one constant from the table that has one row. */
static bool constant(struct tokens *tokens, struct statement *statement, const char *schema) {
    struct table *table = table_new("SYSDUMMY1");
    struct column *column = &table->columns[0];
    struct operand value = {.value = calloc(1, NAME_BYTES + 2)};
    bool valid;
    if (value.value == NULL) abort();
    statement->table = table;
    statement->constant = true;
    statement->results = table->count = 1;
    *column = (struct column){.name = "00001", .kind = INTEGER, .bytes = 4, .precision = 10};
    if (token_taken(tokens, "CURRENT")) {
        *column = (struct column){.name = "00001", .kind = VARCHAR, .bytes = NAME_BYTES + 1, .ccsid = CCSID_LATIN};
        valid = token_needed(tokens, "SCHEMA") &&
                literal_value(column, QUOTED, schema, strlen(schema), value.value, tokens->problem);
    } else
        valid = literal(tokens, column, &value);
    table_lay_out(table, NULL, 0);
    if (valid) {
        memcpy(data_of(table, table_room(table)), value.value, column->bytes);
        valid = table_add(table, tokens->problem);
    }
    free(value.value);
    return valid;
}

/* The columns of a result and, behind them, their table. */
static bool columns_of_table(struct tokens *tokens, struct database *database, struct statement *statement,
                             struct table **table) {
    struct tokens names = *tokens;
    bool valid = true;
    while (tokens->kind != END && !token_is(tokens, "FROM"))
        token_next(tokens);
    if (!token_needed(tokens, "FROM") || !table_needed(tokens, database, table)) return false;
    names.at = names.from;
    names.text = malloc(strlen(names.from) + 1);
    if (names.text == NULL) abort();
    token_next(&names);
    if (token_taken(&names, "*"))
        for (; statement->results < (*table)->count; statement->results++)
            statement->result[statement->results] = statement->results;
    else
        do {
            if (statement->results == COLUMNS) valid = refuse(tokens->problem, "%d columns in a result.", COLUMNS);
            valid = valid && column_needed(&names, *table, &statement->result[statement->results++]);
        } while (valid && token_taken(&names, ","));
    if (valid && !token_is(&names, "FROM")) valid = refuse(tokens->problem, "expressions: %.60s.", names.from);
    free(names.text);
    return valid;
}

static bool query(struct tokens *tokens, struct database *database, struct statement *statement, const char *schema) {
    statement->kind = SELECT;
    if (tokens->kind == NUMERAL || tokens->kind == STRING || token_is(tokens, "CURRENT"))
        return constant(tokens, statement, schema) && token_needed(tokens, "FROM") &&
               token_needed(tokens, "SYSIBM.SYSDUMMY1");
    return columns_of_table(tokens, database, statement, &statement->table) && conditions(tokens, statement) &&
           order(tokens, statement);
}

/* INSERT of another table's rows: each column takes values of the same form. */
static bool rows_of_source(struct tokens *tokens, struct database *database, struct statement *statement) {
    if (!columns_of_table(tokens, database, statement, &statement->source)) return false;
    if (statement->results != statement->sets)
        return fail(tokens->problem, -117, "42802", "Statement contains wrong number of values.");
    for (int i = 0; i < statement->sets; i++) {
        const struct column *to = &statement->table->columns[statement->set[i].column];
        const struct column *from = &statement->source->columns[statement->result[i]];
        if (to->kind != from->kind || to->bytes != from->bytes || to->ccsid != from->ccsid || to->scale != from->scale)
            return refuse(tokens->problem, "conversion of %.100s to %.100s.", from->name, to->name);
    }
    return true;
}

static bool insert(struct tokens *tokens, struct database *database, struct statement *statement) {
    int at = 0;
    statement->kind = INSERT;
    if (!token_needed(tokens, "INTO") || !table_needed(tokens, database, &statement->table)) return false;
    if (token_taken(tokens, "(")) {
        do {
            if (statement->sets == COLUMNS) return syntax(tokens->problem, tokens->from);
            if (!column_needed(tokens, statement->table, &statement->set[statement->sets++].column)) return false;
        } while (token_taken(tokens, ","));
        if (!token_needed(tokens, ")")) return false;
    } else
        for (; statement->sets < statement->table->count; statement->sets++)
            statement->set[statement->sets].column = statement->sets;
    if (token_taken(tokens, "SELECT")) return rows_of_source(tokens, database, statement);
    if (!token_needed(tokens, "VALUES") || !token_needed(tokens, "(")) return false;
    do {
        if (at == statement->sets) return syntax(tokens->problem, tokens->from);
        if (!operand(tokens, statement, statement->set[at].column, false, &statement->set[at].operand)) return false;
        at++;
    } while (token_taken(tokens, ","));
    return at == statement->sets ? token_needed(tokens, ")") : syntax(tokens->problem, tokens->from);
}

static bool update(struct tokens *tokens, struct database *database, struct statement *statement) {
    statement->kind = UPDATE;
    if (!table_needed(tokens, database, &statement->table) || !token_needed(tokens, "SET")) return false;
    do {
        struct assignment *set = &statement->set[statement->sets];
        if (statement->sets == COLUMNS || !column_needed(tokens, statement->table, &set->column) ||
            !token_needed(tokens, "="))
            return tokens->problem->code != 0 ? false : syntax(tokens->problem, tokens->from);
        statement->sets++;
        if (!operand(tokens, statement, set->column, true, &set->operand)) return false;
    } while (token_taken(tokens, ","));
    return conditions(tokens, statement);
}

static bool any(struct tokens *tokens, struct database *database, struct statement *statement, const char *schema) {
    if (token_taken(tokens, "SELECT")) return query(tokens, database, statement, schema);
    if (token_taken(tokens, "VALUES")) {
        statement->kind = SELECT;
        return constant(tokens, statement, schema);
    }
    if (token_taken(tokens, "INSERT")) return insert(tokens, database, statement);
    if (token_taken(tokens, "UPDATE")) return update(tokens, database, statement);
    if (token_taken(tokens, "CREATE")) return parse_create(tokens, statement);
    if (token_taken(tokens, "DROP")) {
        statement->kind = DROP;
        return token_needed(tokens, "TABLE") && table_needed(tokens, database, &statement->table);
    }
    return tokens->kind == WORD ? refuse(tokens->problem, "statement %.60s.", tokens->from)
                                : syntax(tokens->problem, tokens->from);
}

struct statement *parse(struct database *database, const char *sql, const char *schema, struct problem *problem) {
    struct statement *statement = calloc(1, sizeof *statement);
    struct tokens tokens;
    bool valid;
    if (statement == NULL) abort();
    tokens_begin(&tokens, sql, problem);
    valid = any(&tokens, database, statement, schema);
    if (valid && tokens.kind != END) {
        bool clause = token_is(&tokens, "DESC") || token_is(&tokens, "GROUP") || token_is(&tokens, "OFFSET") ||
                      token_is(&tokens, "FETCH") || token_is(&tokens, "FOR") || token_is(&tokens, "OR");
        valid = clause ? refuse(problem, "clause %.60s.", tokens.from) : syntax(problem, tokens.from);
    }
    tokens_end(&tokens);
    if (valid) return statement;
    statement_free(statement);
    return NULL;
}

void statement_free(struct statement *statement) {
    if (statement == NULL) return;
    for (int i = 0; i < statement->sets; i++)
        free(statement->set[i].operand.value);
    for (int i = 0; i < statement->conditions; i++)
        free(statement->where[i].operand.value);
    if (statement->table != NULL && (statement->constant || statement->kind == CREATE)) table_free(statement->table);
    free(statement);
}
