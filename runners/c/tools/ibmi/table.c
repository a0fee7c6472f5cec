/* Tables in memory: fixed rows, hash indexes made when they are first asked for, binary search where rows are in order.
 */
#include <stdlib.h>
#include <string.h>

#include "ibmi.h"

static void *grown(void *at, size_t bytes) {
    at = realloc(at, bytes);
    if (at == NULL) abort();
    return at;
}

struct table *table_new(const char *name) {
    struct table *table = calloc(1, sizeof *table);
    if (table == NULL) abort();
    strcpy(table->name, name);
    table->numbered = -1;
    return table;
}

/* Places the columns in a row; `key`: those of the primary key. */
void table_lay_out(struct table *table, const int *key, int key_columns) {
    for (int i = 0; i < table->count; i++) {
        struct column *column = &table->columns[i];
        column->offset = table->data_bytes;
        column->ascending = true;
        table->data_bytes += column->bytes;
        if (column->numbered) table->numbered = i;
    }
    table->row_bytes = table->data_bytes + 2 * (uint32_t)table->count;
    if (key_columns > 0) table->primary = table_index(table, key, key_columns);
}

void table_free(struct table *table) {
    while (table->indexes != NULL) {
        struct index *index = table->indexes;
        table->indexes = index->next_index;
        free(index->heads);
        free(index->next);
        free(index);
    }
    free(table->bytes);
    free(table);
}

int table_column(const struct table *table, const char *name) {
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, name) == 0) return i;
    return -1;
}

uint8_t *table_row(const struct table *table, size_t row) {
    return table->bytes + row * table->row_bytes;
}

uint8_t *table_room(struct table *table) {
    if (table->rows == table->room) {
        table->room = table->room * 2 + 64;
        table->bytes = grown(table->bytes, table->room * table->row_bytes);
    }
    return memset(table_row(table, table->rows), 0, table->row_bytes);
}

static uint64_t hash_bytes(uint64_t hash, const uint8_t *at, size_t length) {
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001B3u;
    return hash;
}

static uint64_t hash_value(uint64_t hash, const struct column *column, const uint8_t *at) {
    uint32_t length = is_variable(column->kind) ? get16(at) + 2u : column->bytes;
    if (column->kind == DECIMAL) length--; /* plus has two signs */
    return hash_bytes(hash, at, length);
}

static uint64_t bucket_of(const struct table *table, const struct index *index, const uint8_t *const *values) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (int i = 0; i < index->count; i++)
        hash = hash_value(hash, &table->columns[index->columns[i]], values[i]);
    return (hash ^ hash >> 29) & (index->buckets - 1);
}

static void index_row(const struct table *table, struct index *index, size_t row) {
    const uint8_t *values[KEY_COLUMNS], *data = table_row(table, row) + 2 * table->count;
    uint64_t bucket;
    for (int i = 0; i < index->count; i++)
        values[i] = data + table->columns[index->columns[i]].offset;
    bucket = bucket_of(table, index, values);
    index->next[row] = index->heads[bucket];
    index->heads[bucket] = (uint32_t)row + 1;
}

static void catch_up(const struct table *table, struct index *index) {
    if (table->rows > index->room) {
        index->room = table->room;
        for (index->buckets = 64; index->buckets < index->room;)
            index->buckets *= 2;
        index->heads = grown(index->heads, index->buckets * sizeof *index->heads);
        index->next = grown(index->next, index->room * sizeof *index->next);
        index->rows = 0;
    }
    if (index->rows == 0 && index->buckets > 0) memset(index->heads, 0, index->buckets * sizeof *index->heads);
    while (index->rows < table->rows)
        index_row(table, index, index->rows++);
}

struct index *table_index(struct table *table, const int *columns, int count) {
    struct index *index;
    for (index = table->indexes; index != NULL; index = index->next_index)
        if (index->count == count && memcmp(index->columns, columns, (size_t)count * sizeof *columns) == 0)
            return index;
    index = calloc(1, sizeof *index);
    if (index == NULL) abort();
    memcpy(index->columns, columns, (size_t)count * sizeof *columns);
    index->count = count;
    index->next_index = table->indexes;
    return table->indexes = index;
}

uint32_t index_first(const struct table *table, struct index *index, const uint8_t *const *values) {
    catch_up(table, index);
    return index->rows == 0 ? 0 : index->heads[bucket_of(table, index, values)];
}

uint32_t index_next(const struct index *index, uint32_t found) {
    return index->next[found - 1];
}

/* Whether another row than `besides` has the primary key of this one. */
bool table_duplicate(struct table *table, const uint8_t *row, size_t besides) {
    const struct index *key = table->primary;
    const uint8_t *values[KEY_COLUMNS];
    if (key == NULL) return false;
    for (int i = 0; i < key->count; i++)
        values[i] = row + 2 * table->count + table->columns[key->columns[i]].offset;
    for (uint32_t found = index_first(table, table->primary, values); found != 0; found = index_next(key, found)) {
        const uint8_t *other = table_row(table, found - 1) + 2 * table->count;
        bool same = found - 1 != besides;
        for (int i = 0; same && i < key->count; i++) {
            const struct column *column = &table->columns[key->columns[i]];
            same = compare(column, other + column->offset, values[i]) == 0;
        }
        if (same) return true;
    }
    return false;
}

bool table_add(struct table *table, struct problem *problem) {
    uint8_t *row = table_row(table, table->rows), *data = data_of(table, row);
    for (int i = 0; i < table->count; i++)
        if (is_null(row, i) && !table->columns[i].nullable)
            return fail(problem, -407, "23502", "Null values not allowed in column %s.", table->columns[i].name);
    if (table_duplicate(table, row, SIZE_MAX))
        return fail(problem, -803, "23505", "Duplicate key value specified in %s.", table->name);
    for (int i = 0; table->rows > 0 && i < table->count; i++) {
        struct column *column = &table->columns[i];
        const uint8_t *before = table_row(table, table->rows - 1);
        if (column->ascending &&
            (is_null(row, i) || is_null(before, i) ||
             compare(column, before + 2 * table->count + column->offset, data + column->offset) > 0))
            column->ascending = false;
    }
    if (table->numbered >= 0) {
        const struct column *column = &table->columns[table->numbered];
        int64_t number = integer_at(column, data + column->offset);
        if (number > table->last_number) table->last_number = number;
    }
    table->rows++;
    return true;
}

/* A value of that column was replaced. */
void table_changed(struct table *table, int column) {
    table->columns[column].ascending = false;
    for (struct index *index = table->indexes; index != NULL; index = index->next_index)
        for (int i = 0; i < index->count; i++)
            if (index->columns[i] == column) index->rows = 0;
}

void table_truncate(struct table *table, size_t rows) {
    if (rows >= table->rows) return;
    table->rows = rows;
    for (struct index *index = table->indexes; index != NULL; index = index->next_index)
        index->rows = 0;
}
