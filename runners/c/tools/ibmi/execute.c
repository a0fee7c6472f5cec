/* Statements at work: parameters taken as they came, rows found, added and changed, and all that undone. */
#include <stdlib.h>
#include <string.h>

#include "ibmi.h"

enum { HEAD_BYTES = 20 }; /* of a block of parameters */

static bool bad_parameters(struct problem *problem) {
    return fail(problem, -313, "07001", "Number of host variables not valid.");
}

/* One row of parameters: where each value is, NULL for a NULL. */
static bool locate(const struct statement *statement, const struct parameters *parameters, size_t *at, uint32_t row,
                   const uint8_t **values, struct problem *problem) {
    size_t indicators = HEAD_BYTES + 2u * row * (size_t)statement->parameter_count;
    for (int i = 0; i < statement->parameter_count; i++) {
        const struct column *column = &statement->table->columns[statement->parameters[i]];
        uint32_t bytes = column->bytes;
        if (*at + 2 > parameters->length) return bad_parameters(problem);
        if (is_variable(column->kind) && get16(parameters->data + *at) + 2u > column->bytes)
            return bad_parameters(problem);
        if (parameters->compressed && column->kind == VARCHAR) bytes = get16(parameters->data + *at) + 2u;
        if (*at + bytes > parameters->length) return bad_parameters(problem);
        values[i] = parameters->data[indicators + 2u * (size_t)i] == 0xFF ? NULL : parameters->data + *at;
        *at += bytes;
    }
    return true;
}

static size_t data_begin(const struct statement *statement, const struct parameters *parameters) {
    return HEAD_BYTES + 2u * (size_t)statement->parameter_count * parameters->rows;
}

static bool put_operand(const struct table *table, const struct assignment *set, const uint8_t *const *values,
                        uint8_t *row, struct problem *problem) {
    const struct column *column = &table->columns[set->column];
    const struct operand *operand = &set->operand;
    const uint8_t *value = operand->value;
    uint8_t *to = row + 2 * table->count + column->offset;
    bool null = operand->null;
    if (operand->parameter >= 0) {
        value = values[operand->parameter];
        null = value == NULL;
    } else if (operand->from >= 0) {
        value = row + 2 * table->count + table->columns[operand->from].offset;
        null = is_null(row, operand->from);
    }
    put16(row + 2 * set->column, null ? 0xFFFF : 0);
    if (null)
        memset(to, 0, column->bytes);
    else if (operand->plus != 0) {
        if (!put_integer(column, to, integer_at(column, value) + operand->plus))
            return fail(problem, -802, "22003", "Data conversion or data mapping error in %s.", column->name);
    } else
        memmove(to, value, is_variable(column->kind) ? get16(value) + 2u : column->bytes);
    return true;
}

static void remember(struct undo **undo, struct table *table, size_t row, const uint8_t *image) {
    struct undo *entry;
    if (undo == NULL) return;
    entry = malloc(sizeof *entry);
    if (entry == NULL) abort();
    *entry = (struct undo){.before = *undo, .table = table, .row = row};
    if (image != NULL) {
        entry->image = malloc(table->row_bytes);
        if (entry->image == NULL) abort();
        memcpy(entry->image, image, table->row_bytes);
    }
    *undo = entry;
}

/* Room for one more row with its number, all else NULL. */
static uint8_t *new_row(struct table *table) {
    uint8_t *row = table_room(table);
    for (int i = 0; i < table->count; i++)
        put16(row + 2 * i, 0xFFFF);
    if (table->numbered >= 0) {
        const struct column *column = &table->columns[table->numbered];
        put16(row + 2 * table->numbered, 0);
        put_integer(column, data_of(table, row) + column->offset, table->last_number + 1);
    }
    return row;
}

static bool add_row(const struct statement *statement, const uint8_t *const *values, struct undo **undo,
                    struct problem *problem) {
    struct table *table = statement->table;
    uint8_t *row = new_row(table);
    for (int i = 0; i < statement->sets; i++)
        if (!put_operand(table, &statement->set[i], values, row, problem)) return false;
    if (!table_add(table, problem)) return false;
    remember(undo, table, table->rows - 1, NULL);
    return true;
}

static bool copy_rows(const struct statement *statement, struct undo **undo, size_t *rows, struct problem *problem) {
    struct table *table = statement->table;
    size_t count = statement->source->rows;
    for (*rows = 0; *rows < count; ++*rows) {
        uint8_t *row = new_row(table);
        const uint8_t *from = table_row(statement->source, *rows), *data = from + 2 * statement->source->count;
        for (int i = 0; i < statement->sets; i++) {
            const struct column *to = &table->columns[statement->set[i].column];
            memcpy(row + 2 * statement->set[i].column, from + 2 * statement->result[i], 2);
            memcpy(data_of(table, row) + to->offset, data + statement->source->columns[statement->result[i]].offset,
                   to->bytes);
        }
        if (!table_add(table, problem)) return false;
        remember(undo, table, table->rows - 1, NULL);
    }
    return true;
}

/* The conditions' values for this execution. */
static bool bind(struct statement *statement, const uint8_t *const *values, struct problem *problem) {
    for (int i = 0; i < statement->conditions; i++) {
        struct operand *operand = &statement->where[i].operand;
        const struct column *column = &statement->table->columns[statement->where[i].column];
        if (operand->parameter < 0) continue;
        const uint8_t *value = values[operand->parameter];
        operand->null = value == NULL;
        if (value == NULL) continue;
        memcpy(operand->value, value, is_variable(column->kind) ? get16(value) + 2u : column->bytes);
        if (operand->plus != 0 && !put_integer(column, operand->value, integer_at(column, value) + operand->plus))
            return fail(problem, -802, "22003", "Data conversion or data mapping error in %s.", column->name);
    }
    return true;
}

static bool holds(const struct assignment *condition, const struct table *table, const uint8_t *row) {
    const struct column *column = &table->columns[condition->column];
    int order;
    if (condition->operand.null || is_null(row, condition->column)) return false;
    order = compare(column, row + 2 * table->count + column->offset, condition->operand.value);
    switch (condition->operator) {
    case EQUAL: return order == 0;
    case LESS: return order < 0;
    case LESS_EQUAL: return order <= 0;
    case GREATER: return order > 0;
    default: return order >= 0;
    }
}

/* The first row of an ascending column that is not below (or, `beyond`, that is above) the value. */
static size_t border(const struct table *table, const struct column *column, const uint8_t *value, bool beyond) {
    size_t low = 0, high = table->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(column, table_row(table, middle) + 2 * table->count + column->offset, value);
        if (order < 0 || (beyond && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void narrow(struct cursor *cursor, struct statement *statement) {
    struct table *table = statement->table;
    for (int i = 0; i < statement->conditions; i++) {
        const struct assignment *condition = &statement->where[i];
        const struct column *column = &table->columns[condition->column];
        const uint8_t *value = condition->operand.value;
        enum operator operator = condition->operator;
        if (condition->operand.null) {
            cursor->row = cursor->end = 0;
            return;
        }
        if (operator == EQUAL && table->rows > 8) {
            cursor->index = table_index(table, &condition->column, 1);
            cursor->found = index_first(table, cursor->index, &value);
            cursor->indexed = true;
            return;
        }
        if (!column->ascending || operator == EQUAL) continue;
        if (operator >= GREATER) {
            size_t begin = border(table, column, value, operator == GREATER);
            if (begin > cursor->row) cursor->row = begin;
        } else {
            size_t end = border(table, column, value, operator == LESS_EQUAL);
            if (end < cursor->end) cursor->end = end;
        }
    }
}

/* The next row as they lie, or as an index has them. */
static void step(struct cursor *cursor, const struct statement *statement) {
    const struct table *table = statement->table;
    for (;;) {
        size_t row;
        bool all = true;
        if (cursor->indexed) {
            if (cursor->found == 0) break;
            row = cursor->found - 1;
            cursor->found = index_next(cursor->index, cursor->found);
        } else {
            if (cursor->row >= cursor->end || cursor->row >= table->rows) break;
            row = cursor->row++;
        }
        for (int i = 0; all && i < statement->conditions; i++)
            all = holds(&statement->where[i], table, table_row(table, row));
        if (!all) continue;
        cursor->waiting = (int64_t)row;
        return;
    }
    cursor->waiting = -1;
}

void cursor_step(struct cursor *cursor, const struct statement *statement) {
    if (cursor->sorted == NULL)
        step(cursor, statement);
    else
        cursor->waiting = cursor->row < cursor->count ? (int64_t)cursor->sorted[cursor->row++] : -1;
}

void cursor_close(struct cursor *cursor) {
    free(cursor->sorted);
    *cursor = (struct cursor){.waiting = -1};
}

static int in_order(const void *a, const void *b, void *passed) {
    const struct statement *statement = passed;
    const struct table *table = statement->table;
    const uint8_t *left = table_row(table, *(const size_t *)a), *right = table_row(table, *(const size_t *)b);
    for (int i = 0; i < statement->orders; i++) {
        const struct column *column = &table->columns[statement->order[i]];
        size_t offset = 2 * (size_t)table->count + column->offset;
        bool none_left = is_null(left, statement->order[i]), none_right = is_null(right, statement->order[i]);
        int order = none_left || none_right ? none_left - none_right : compare(column, left + offset, right + offset);
        if (order != 0) return order;
    }
    return 0;
}

static void sort(struct cursor *cursor, struct statement *statement) {
    size_t *rows = malloc((statement->table->rows + 1) * sizeof *rows), count = 0;
    if (rows == NULL) abort();
    for (; cursor->waiting >= 0; step(cursor, statement))
        rows[count++] = (size_t)cursor->waiting;
    qsort_r(rows, count, sizeof *rows, in_order, statement);
    *cursor = (struct cursor){.open = true, .sorted = rows, .count = count};
    cursor_step(cursor, statement);
}

static void find(struct cursor *cursor, struct statement *statement) {
    *cursor = (struct cursor){.open = true, .end = statement->table->rows};
    narrow(cursor, statement);
    step(cursor, statement);
}

/* The values of the only row of parameters. */
static bool only_row(const struct statement *statement, const struct parameters *parameters, const uint8_t **values,
                     struct problem *problem) {
    size_t at;
    if (statement->parameter_count == 0) return true;
    if (parameters->rows != 1) return bad_parameters(problem);
    at = data_begin(statement, parameters);
    return locate(statement, parameters, &at, 0, values, problem);
}

bool cursor_open(struct cursor *cursor, struct statement *statement, const struct parameters *parameters,
                 struct problem *problem) {
    const uint8_t *values[COLUMNS] = {0};
    cursor_close(cursor);
    if (!only_row(statement, parameters, values, problem) || !bind(statement, values, problem)) return false;
    find(cursor, statement);
    if (statement->orders > 0) sort(cursor, statement);
    return true;
}

static bool update(struct statement *statement, const uint8_t *const *values, struct undo **undo, size_t *rows,
                   struct problem *problem) {
    struct table *table = statement->table;
    struct cursor cursor;
    uint8_t *image = malloc(table->row_bytes);
    bool valid = bind(statement, values, problem);
    if (image == NULL) abort();
    if (valid)
        for (find(&cursor, statement); valid && cursor.waiting >= 0; step(&cursor, statement)) {
            size_t at = (size_t)cursor.waiting;
            uint8_t *row = table_row(table, at);
            memcpy(image, row, table->row_bytes);
            for (int i = 0; valid && i < statement->sets; i++)
                valid = put_operand(table, &statement->set[i], values, row, problem);
            if (!valid) memcpy(row, image, table->row_bytes);
            if (valid) remember(undo, table, at, image);
            *rows += valid;
        }
    for (int i = 0; i < statement->sets; i++)
        table_changed(table, statement->set[i].column);
    free(image);
    return valid;
}

static bool change(struct statement *statement, const struct parameters *parameters, struct undo **undo, size_t *rows,
                   struct problem *problem) {
    const uint8_t *values[COLUMNS] = {0};
    uint32_t count = statement->parameter_count > 0 ? parameters->rows : 1;
    size_t at = data_begin(statement, parameters);
    if (at > parameters->length && statement->parameter_count > 0) return bad_parameters(problem);
    for (uint32_t row = 0; row < count; row++) {
        if (statement->parameter_count > 0 && !locate(statement, parameters, &at, row, values, problem)) return false;
        if (statement->kind == UPDATE) {
            if (!update(statement, values, undo, rows, problem)) return false;
        } else {
            if (!add_row(statement, values, undo, problem)) return false;
            ++*rows;
        }
    }
    return true;
}

static void drop(struct database *database, struct table *table) {
    for (struct table **link = &database->tables; *link != NULL; link = &(*link)->next)
        if (*link == table) {
            *link = table->next;
            break;
        }
    table->dropped = true;
    table_truncate(table, 0);
    free(table->bytes);
    table->bytes = NULL;
    table->room = 0;
}

bool execute(struct database *database, struct statement *statement, const struct parameters *parameters,
             struct undo **undo, size_t *rows, struct problem *problem) {
    *rows = 0;
    switch (statement->kind) {
    case NOTHING: return true;
    case CREATE:
        if (statement->table == NULL || find_table(database, statement->table->name) != NULL)
            return fail(problem, -601, "42710", "%s in the library already exists.",
                        statement->table ? statement->table->name : "The table");
        statement->table->next = database->tables;
        database->tables = statement->table;
        statement->table = NULL;
        return true;
    case DROP: drop(database, statement->table); return true;
    case SELECT: return fail(problem, -518, "07003", "Prepared statement is a query.");
    default:
        if (statement->source != NULL) return copy_rows(statement, undo, rows, problem);
        return change(statement, parameters, undo, rows, problem);
    }
}

void undo_forget(struct undo **undo) {
    while (*undo != NULL) {
        struct undo *entry = *undo;
        *undo = entry->before;
        free(entry->image);
        free(entry);
    }
}

void undo_all(struct undo **undo) {
    for (struct undo *entry = *undo; entry != NULL; entry = entry->before) {
        struct table *table = entry->table;
        if (table->dropped || entry->row >= table->rows) continue;
        if (entry->image == NULL)
            table_truncate(table, entry->row);
        else {
            memcpy(table_row(table, entry->row), entry->image, table->row_bytes);
            for (int i = 0; i < table->count; i++)
                table_changed(table, i);
        }
    }
    undo_forget(undo);
}
