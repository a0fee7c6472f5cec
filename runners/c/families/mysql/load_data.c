/* LOAD DATA LOCAL INFILE without a file: the library asks for the next bytes, and rows are written out as text.
   Tabs between values, `\N` for NULL, backslashes before what would end a value; bytes that are no text in hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mysql_operation.h"

typedef struct my_source {
    const rp_phase *phase;
    uint64_t row, end;
    char *text; /* rows that are written out and not asked for yet */
    size_t length, taken, capacity;
} my_source;

char *my_load_data_sql(const rp_phase *phase) {
    char *sql;
    size_t size;
    FILE *to = open_memstream(&sql, &size);
    int hexadecimal = 0;
    fprintf(to,
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE `%s` CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\t' ESCAPED BY "
            "X'5C' LINES TERMINATED BY '\n' (",
            phase->table);
    for (int i = 0; i < phase->parameter_column_count; i++) {
        bool bytes = phase->parameter_columns[i].type == RP_BINARY;
        fprintf(to, "%s%s%s", i > 0 ? ", " : "", bytes ? "@" : "", phase->parameter_columns[i].name);
    }
    fprintf(to, ")");
    for (int i = 0; i < phase->parameter_column_count; i++) {
        const rp_column *column = &phase->parameter_columns[i];
        if (column->type == RP_BINARY)
            fprintf(to, "%s %s = UNHEX(@%s)", hexadecimal++ > 0 ? "," : " SET", column->name, column->name);
    }
    fclose(to);
    return sql;
}

static char *write_hexadecimal(char *to, const rp_value *value) {
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < value->length; i++) {
        unsigned char byte = (unsigned char)value->text[i];
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
    return to;
}

static char *write_escaped(char *to, const char *text, size_t length) {
    for (const char *end = text + length; text < end; text++) {
        if (*text == '\\' || *text == '\t' || *text == '\n') *to++ = '\\';
        *to++ = *text;
    }
    return to;
}

/* Room for `bytes` more of text, each at most two bytes long when it is written out. */
static char *room_for(my_source *source, size_t bytes) {
    if (source->capacity - source->length < 2 * bytes) {
        source->capacity = 2 * source->capacity + 2 * bytes;
        source->text = realloc(source->text, source->capacity);
        if (source->text == NULL) abort();
    }
    return source->text + source->length;
}

static void write_value(my_source *source, const rp_value *value, char mark) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length = 0;
    const char *text = NULL;
    if (value->type != RP_NULL && value->type != RP_BINARY && value->type != RP_BOOLEAN)
        text = rp_value_text(value, scratch, &length);
    char *to = room_for(source, (value->type == RP_BINARY ? value->length : length) + 2);
    if (value->type == RP_NULL)
        to = mempcpy(to, "\\N", 2);
    else if (value->type == RP_BINARY)
        to = write_hexadecimal(to, value);
    else if (value->type == RP_BOOLEAN)
        *to++ = value->integer ? '1' : '0';
    else
        to = write_escaped(to, text, value->type == RP_TIMESTAMPTZ ? length - 3 : length); /* without its +00 */
    *to++ = mark;
    source->length = (size_t)(to - source->text);
}

static void write_row(my_source *source) {
    const rp_value *values = rp_parameters(source->phase, source->row++);
    int columns = source->phase->parameter_column_count;
    for (int i = 0; i < columns; i++)
        write_value(source, &values[i], i == columns - 1 ? '\n' : '\t');
}

static int begin_rows(void **begun, const char *name, void *source) {
    (void)name;
    *begun = source;
    return 0;
}

static int read_rows(void *begun, char *to, unsigned int room) {
    my_source *source = begun;
    if (source->taken == source->length) source->taken = source->length = 0;
    while (source->length - source->taken < room && source->row < source->end)
        write_row(source);
    size_t left = source->length - source->taken, count = left < room ? left : room;
    memcpy(to, source->text + source->taken, count);
    source->taken += count;
    return (int)count;
}

static void end_rows(void *begun) {
    my_source *source = begun;
    free(source->text);
    source->text = NULL;
}

static int rows_error(void *begun, char *text, unsigned int room) {
    (void)begun;
    snprintf(text, room, "no rows");
    return 1;
}

/* The server's warning has the reason for the first row that it left out or changed. */
static bool fail_by_warning(MYSQL *mysql) {
    static const char sql[] = "SHOW WARNINGS LIMIT 1";
    MYSQL_RES *rows = mysql_real_query(mysql, sql, sizeof sql - 1) == 0 ? mysql_store_result(mysql) : NULL;
    MYSQL_ROW row = rows != NULL ? mysql_fetch_row(rows) : NULL;
    if (row != NULL)
        rp_fail(RP_SQL_ERROR, row[1], "%s", row[2]);
    else
        rp_fail(RP_SQL_ERROR, "", "LOAD DATA did not store every row");
    mysql_free_result(rows);
    return false;
}

bool my_load_data(my_operation *operation, const rp_phase *phase, uint64_t row, uint64_t count) {
    MYSQL *mysql = operation->connection->mysql;
    my_source source = {.phase = phase, .row = row, .end = row + count};
    mysql_set_local_infile_handler(mysql, begin_rows, read_rows, end_rows, rows_error, &source);
    bool good = my_run(operation->connection, operation->sql);
    mysql_set_local_infile_default(mysql);
    return good && ((mysql_warning_count(mysql) == 0 && mysql_affected_rows(mysql) == count) || fail_by_warning(mysql));
}
