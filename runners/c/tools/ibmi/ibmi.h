/* The stand-in for an IBM i's database host server: tables, the little SQL that they are asked in, requests and
 * replies. */
#ifndef RP_IBMI_H
#define RP_IBMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { NAME_BYTES = 129, COLUMNS = 128, CONDITIONS = 8, KEY_COLUMNS = 8, TEXT_BYTES = 400 };

/* problem.c: why a request failed, as the driver asks for it afterwards. */
struct problem {
    int code; /* SQLCODE, 0: none */
    char state[6], id[8], text[TEXT_BYTES];
};

bool fail(struct problem *problem, int code, const char *state, const char *format, ...)
    __attribute__((format(printf, 4, 5))); /* always false */
/* What a real Db2 for i could do and the stand-in cannot: a sentence that names it, also on stderr. */
bool refuse(struct problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool syntax(struct problem *problem, const char *at);

/* text.c: between the SQL's UTF-16, our UTF-8, and the EBCDIC of CCSID 37. */
enum { CCSID_LATIN = 37, CCSID_UTF8 = 1208, CCSID_BINARY = 65535 };
char *from_utf16(const uint8_t *at, size_t bytes);                         /* NULL: not valid */
size_t to_latin(const char *text, size_t bytes, uint8_t *to, size_t room); /* more than room: does not fit */

static inline uint16_t get16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t get32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline void put16(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static inline void put32(uint8_t *to, uint32_t value) {
    put16(to, value >> 16);
    put16(to + 2, value);
}

/* values.c: a value in the form in which the i sends it. */
enum kind { SMALLINT, INTEGER, BIGINT, DECIMAL, REAL, DOUBLE, CHAR, VARCHAR, VARBINARY, DATE, TIME, TIMESTAMP };

struct column {
    char name[NAME_BYTES];
    enum kind kind;
    uint32_t bytes, offset; /* within a row's data */
    uint16_t precision, scale, ccsid;
    bool nullable, numbered;
    bool ascending; /* the rows are in its order */
};

static inline bool is_integer(enum kind kind) {
    return kind <= BIGINT;
}

static inline bool is_variable(enum kind kind) {
    return kind == VARCHAR || kind == VARBINARY;
}

int64_t integer_at(const struct column *column, const uint8_t *at);
bool put_integer(const struct column *column, uint8_t *to, int64_t value); /* false: out of range */
int compare(const struct column *column, const uint8_t *a, const uint8_t *b);
/* `quoted`: the content of a string, `hexadecimal`: its digits. */
enum literal { NUMBER, QUOTED, HEXADECIMAL };
bool literal_value(const struct column *column, enum literal form, const char *text, size_t length, uint8_t *to,
                   struct problem *problem);

/* table.c: rows in memory, each with two bytes of indicator a column before its data. */
struct index {
    struct index *next_index;
    int columns[KEY_COLUMNS], count;
    uint32_t *heads, *next; /* rows + 1; 0: none */
    size_t buckets, room, rows;
};

struct table {
    struct table *next;
    char name[NAME_BYTES];
    bool dropped; /* a statement may still know it */
    struct column columns[COLUMNS];
    int count, numbered; /* columns; which one numbers the rows, −1: none */
    uint32_t data_bytes, row_bytes;
    struct index *primary, *indexes;
    uint8_t *bytes;
    size_t rows, room;
    int64_t last_number;
};

struct table *table_new(const char *name);
void table_lay_out(struct table *table, const int *key, int key_columns);
void table_free(struct table *table);
int table_column(const struct table *table, const char *name); /* −1: none */
uint8_t *table_row(const struct table *table, size_t row);
uint8_t *table_room(struct table *table);                     /* for one more row, all zero */
bool table_add(struct table *table, struct problem *problem); /* the row that is in that room */
bool table_duplicate(struct table *table, const uint8_t *row, size_t besides);
void table_changed(struct table *table, int column);
void table_truncate(struct table *table, size_t rows);
struct index *table_index(struct table *table, const int *columns, int count);
uint32_t index_first(const struct table *table, struct index *index, const uint8_t *const *values); /* row + 1 */
uint32_t index_next(const struct index *index, uint32_t found);

static inline bool is_null(const uint8_t *row, int column) {
    return row[2 * column] == 0xFF;
}

static inline uint8_t *data_of(const struct table *table, uint8_t *row) {
    return row + 2 * table->count;
}

/* parse.c, create.c: one statement. */
enum statement_kind { SELECT, INSERT, UPDATE, CREATE, DROP, NOTHING };
enum operator{ EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

struct operand {
    int parameter; /* −1: a literal, which is in `value` already */
    int from;      /* another column's value, −1: none */
    int64_t plus;
    bool null;
    uint8_t *value;
};

struct assignment {
    int column;
    enum operator operator;
    struct operand operand;
};

struct statement {
    enum statement_kind kind;
    struct table *table;          /* of CREATE: the new one, until it has been executed */
    struct table *source;         /* of an INSERT of another table's rows */
    bool constant;                /* the table is the statement's own, of one row */
    int result[COLUMNS], results; /* columns of the table, or of the source */
    struct assignment set[COLUMNS], where[CONDITIONS];
    int order[KEY_COLUMNS], orders; /* ORDER BY, ascending */
    int sets, conditions;
    int parameters[COLUMNS], parameter_count; /* the column that each is like */
};

struct database {
    struct table *tables;
    struct package *packages;
};

struct statement *parse(struct database *database, const char *sql, const char *schema, struct problem *problem);
void statement_free(struct statement *statement);
struct table *find_table(struct database *database, const char *name);

/* execute.c */
struct undo {
    struct undo *before;
    struct table *table;
    size_t row;
    uint8_t *image; /* NULL: the row was added */
};

struct parameters { /* of one execution, as they came */
    const uint8_t *data;
    size_t length;
    uint32_t rows;
    bool compressed;
};

struct cursor {
    bool open, indexed;
    size_t row, end;
    size_t *sorted; /* the rows in their order, NULL: as they are */
    size_t count;
    struct index *index;
    uint32_t found;
    int64_t waiting; /* the next row, −1: none */
};

bool execute(struct database *database, struct statement *statement, const struct parameters *parameters,
             struct undo **undo, size_t *rows, struct problem *problem);
bool cursor_open(struct cursor *cursor, struct statement *statement, const struct parameters *parameters,
                 struct problem *problem);
void cursor_step(struct cursor *cursor, const struct statement *statement);
void cursor_close(struct cursor *cursor);
void undo_all(struct undo **undo);
void undo_forget(struct undo **undo);

/* reply.c */
enum { FORMAT_OF_ROWS = 0x3812, FORMAT_OF_PARAMETERS = 0x3813 };

struct reply {
    uint8_t *at;
    size_t length, room;
};

uint8_t *reply_room(struct reply *reply, size_t bytes); /* all zero */
void reply_begin(struct reply *reply, const uint8_t *request, int class, int code);
uint8_t *reply_parameter(struct reply *reply, uint16_t code_point, size_t bytes);
void reply_sqlca(struct reply *reply, int code, const char *state, size_t rows);
void reply_format(struct reply *reply, uint16_t code_point, const struct table *table, const int *columns, int count);
void reply_sqlda(struct reply *reply, const struct table *table, const int *columns, int count);
void reply_rows(struct reply *reply, const struct statement *statement, struct cursor *cursor, uint32_t most_rows,
                uint32_t most_bytes, bool shorten);
void reply_text(struct reply *reply, uint16_t code_point, const char *text, bool with_length);
void reply_end(struct reply *reply, bool compress);
bool expand_runs(const uint8_t *from, size_t length, uint8_t *to, size_t expected);

/* packages.c: a name is what the driver sends for it, with its CCSID and length. */
struct package *package_find(struct database *database, const uint8_t *name, size_t length);
bool package_create(struct database *database, const uint8_t *name, size_t length, struct problem *problem);
void package_keep(struct package *package, const uint8_t *text, size_t length, const char *sql);
const char *package_sql(const struct package *package, const uint8_t *name, size_t length); /* NULL: none */
void reply_package(struct reply *reply, struct database *database, const struct package *package, const char *schema);

/* login.c: the one login, proven as for password level 2, by SHA-1 over what only both sides know. */
enum { SEED_BYTES = 8, PROOF_BYTES = 20, LOGIN_NAME_BYTES = 20 };

struct login {
    uint8_t own_seed[SEED_BYTES], their_seed[SEED_BYTES];
    bool done;
};

bool login_expect(FILE *from); /* the token, in hexadecimal: SHA-1 of user and password in UTF-16 */
void login_challenge(struct login *login, const uint8_t *their_seed);
bool login_proven(struct login *login, const uint8_t *proof); /* seeds are for one try */
/* The sign-on server's requests, and those by which a database server is started. False: it is none of them. */
bool login_answer(struct login *login, struct reply *reply, const uint8_t *request, size_t length);
uint8_t *put_job(struct reply *reply); /* the name of the job that serves, in EBCDIC */

/* records.c: record-level access over DDM, for reading. */
struct records;
struct records *records_new(struct database *database);
void records_free(struct records *records);
const struct reply *records_answer(struct records *records, const uint8_t *request, size_t length);

/* requests.c: a connection's requests. */
struct connection;
struct connection *connection_new(struct database *database);
void connection_free(struct connection *connection);
/* NULL: this request has no reply. */
const struct reply *connection_answer(struct connection *connection, const uint8_t *request, size_t length);

#endif
