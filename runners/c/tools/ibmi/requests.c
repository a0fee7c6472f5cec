/* The requests of one connection: log in, set attributes, prepare, open, fetch, execute, commit, why it failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ibmi.h"

enum {
    PREFIX_BYTES = 40,
    STATEMENTS = 65536,
    REPLY_WANTED = 0x80000000,
    MESSAGE_WANTED = 0x40000000,
    FORMAT_WANTED = 0x08000000,
    SQLCA_WANTED = 0x02000000,
    PARAMETERS_WANTED = 0x00800000,
    RUNS_SENT = 0x00080000,
    RUNS_WANTED = 0x00040000,
};

struct prepared { /* a request parameter block: a statement, its cursor, and how its last request ended */
    char *sql;
    const char *packaged; /* of a package, which sql is a copy of */
    struct statement *statement;
    struct cursor cursor;
    struct problem problem;
};

struct connection {
    struct database *database;
    struct prepared *prepared[STATEMENTS];
    struct undo *undo;
    struct reply reply;
    uint8_t *expanded;
    char schema[NAME_BYTES];
    struct login login;
    bool in_transaction;
};

struct request {
    const uint8_t *at;
    size_t length;
    uint32_t wanted;
    struct prepared *prepared;
};

struct connection *connection_new(struct database *database) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) abort();
    connection->database = database;
    strcpy(connection->schema, "ROWPATH");
    return connection;
}

static void forget(struct prepared *prepared) {
    if (prepared == NULL) return;
    cursor_close(&prepared->cursor);
    statement_free(prepared->statement);
    free(prepared->sql);
    free(prepared);
}

void connection_free(struct connection *connection) {
    undo_all(&connection->undo);
    for (int i = 0; i < STATEMENTS; i++)
        forget(connection->prepared[i]);
    free(connection->reply.at);
    free(connection->expanded);
    free(connection);
}

/* A parameter of the request, NULL: it has none. */
static const uint8_t *find(const struct request *request, uint16_t code_point, size_t *length) {
    for (size_t at = PREFIX_BYTES; at + 6 <= request->length;) {
        uint32_t bytes = get32(request->at + at);
        if (bytes < 6 || bytes > request->length - at) return NULL;
        if (get16(request->at + at + 4) == code_point) {
            *length = bytes - 6;
            return request->at + at + 6;
        }
        at += bytes;
    }
    return NULL;
}

static uint32_t number(const struct request *request, uint16_t code_point) {
    size_t length;
    const uint8_t *at = find(request, code_point, &length);
    return at == NULL ? 0 : length >= 4 ? get32(at) : length >= 2 ? get16(at) : length == 1 ? *at : 0;
}

static void finish(struct connection *connection, const struct request *request) {
    reply_end(&connection->reply, (request->wanted & RUNS_WANTED) != 0);
}

/* The usual reply: how it ended, and the SQLCA. */
static void ended(struct connection *connection, const struct request *request, size_t rows) {
    const struct problem *problem = &request->prepared->problem;
    reply_begin(&connection->reply, request->at, problem->code != 0, problem->code);
    if (request->wanted & SQLCA_WANTED)
        reply_sqlca(&connection->reply, problem->code, problem->code != 0 ? problem->state : "00000", rows);
}

static struct parameters parameters_of(const struct request *request) {
    struct parameters found = {0};
    found.data = find(request, 0x381F, &found.length);
    if (found.data == NULL || found.length < 20) return (struct parameters){0};
    found.rows = get32(found.data + 4);
    found.compressed = (found.data[12] & 0x80) != 0;
    return found;
}

/* The package that the request names, NULL: none. */
static struct package *package_of(struct connection *connection, const struct request *request) {
    size_t length;
    const uint8_t *name = find(request, 0x3804, &length);
    return name == NULL || length == 0 ? NULL : package_find(connection->database, name, length);
}

static bool prepare(struct connection *connection, struct prepared *prepared) {
    statement_free(prepared->statement);
    cursor_close(&prepared->cursor);
    prepared->statement = parse(connection->database, prepared->sql, connection->schema, &prepared->problem);
    return prepared->statement != NULL;
}

static bool take_text(struct connection *connection, const struct request *request) {
    struct prepared *prepared = request->prepared;
    size_t length;
    const uint8_t *at = find(request, 0x3831, &length);
    if (at == NULL || length < 6 || get32(at + 2) > length - 6)
        return refuse(&prepared->problem, "request that prepares without an extended statement text.");
    if (get16(at) != 13488 && get16(at) != 1200) return refuse(&prepared->problem, "SQL in CCSID %u.", get16(at));
    free(prepared->sql);
    prepared->sql = from_utf16(at + 6, get32(at + 2));
    prepared->packaged = NULL;
    if (prepared->sql == NULL) return syntax(&prepared->problem, "U+0000");
    if (!prepare(connection, prepared)) return false;
    if (number(request, 0x3808) == 1) {
        struct package *package = package_of(connection, request);
        if (package == NULL) return fail(&prepared->problem, -204, "42704", "SQL package not found.");
        package_keep(package, at + 6, get32(at + 2), prepared->sql);
    }
    return true;
}

/* A request may name a statement of a package, which no one prepared on this connection. */
static bool take_packaged(struct connection *connection, const struct request *request) {
    struct prepared *prepared = request->prepared;
    size_t length;
    const uint8_t *name = find(request, 0x3806, &length);
    const struct package *package = name == NULL ? NULL : package_of(connection, request);
    const char *sql = package == NULL ? NULL : package_sql(package, name, length);
    if (sql == NULL || sql == prepared->packaged) return true;
    free(prepared->sql);
    prepared->sql = strdup(sql);
    if (prepared->sql == NULL) abort();
    prepared->packaged = sql;
    return prepare(connection, prepared);
}

static bool statement_at_hand(struct connection *connection, const struct request *request) {
    struct prepared *prepared = request->prepared;
    if (!take_packaged(connection, request)) return false;
    if (prepared->sql == NULL) return fail(&prepared->problem, -518, "07003", "Prepared statement not found.");
    if (prepared->statement == NULL || prepared->statement->table == NULL || prepared->statement->table->dropped ||
        (prepared->statement->source != NULL && prepared->statement->source->dropped))
        return prepare(connection, prepared);
    return true;
}

static void prepare_request(struct connection *connection, const struct request *request) {
    bool valid = take_text(connection, request);
    const struct statement *statement = request->prepared->statement;
    ended(connection, request, 0);
    if (valid && request->wanted & FORMAT_WANTED && statement->kind == SELECT)
        reply_format(&connection->reply, FORMAT_OF_ROWS, statement->table, statement->result, statement->results);
    if (valid && request->wanted & PARAMETERS_WANTED && statement->parameter_count > 0)
        reply_format(&connection->reply, FORMAT_OF_PARAMETERS, statement->table, statement->parameters,
                     statement->parameter_count);
    finish(connection, request);
}

/* A block of rows; the cursor closes itself with the last one, as the driver asks when it logs in. */
static void block(struct connection *connection, const struct request *request) {
    struct prepared *prepared = request->prepared;
    struct reply *reply = &connection->reply;
    uint32_t rows = number(request, 0x380C), bytes = number(request, 0x3834);
    bool shorten = number(request, 0x3833) == 0xE8, last;
    reply_begin(reply, request->at, 0, 0);
    reply_rows(reply, prepared->statement, &prepared->cursor, rows == 0 && bytes == 0 ? 1 : rows, bytes, shorten);
    last = prepared->cursor.waiting < 0;
    if (last) {
        cursor_close(&prepared->cursor);
        put16(reply->at + 34, 2);
        put32(reply->at + 36, 700);
    }
    reply_sqlca(reply, last ? 100 : 0, last ? "02000" : "00000", 0);
    finish(connection, request);
}

static void open_request(struct connection *connection, const struct request *request, bool with_rows) {
    struct prepared *prepared = request->prepared;
    struct parameters parameters = parameters_of(request);
    bool valid = statement_at_hand(connection, request);
    if (valid && prepared->statement->kind != SELECT)
        valid = fail(&prepared->problem, -517, "07005", "Prepared statement is not a query.");
    valid = valid && cursor_open(&prepared->cursor, prepared->statement, &parameters, &prepared->problem);
    if (valid && with_rows) {
        block(connection, request);
        return;
    }
    ended(connection, request, 0);
    finish(connection, request);
}

static void fetch_request(struct connection *connection, const struct request *request) {
    struct prepared *prepared = request->prepared;
    size_t length;
    const uint8_t *scroll = find(request, 0x380E, &length);
    if (!prepared->cursor.open)
        fail(&prepared->problem, -501, "24501", "Cursor not open.");
    else if (scroll != NULL && length >= 2 && get16(scroll) != 0)
        refuse(&prepared->problem, "cursors that scroll (fetch %u).", get16(scroll));
    else {
        block(connection, request);
        return;
    }
    ended(connection, request, 0);
    finish(connection, request);
}

static void execute_request(struct connection *connection, const struct request *request, bool immediately) {
    struct prepared *prepared = request->prepared;
    struct parameters parameters = parameters_of(request);
    size_t rows = 0;
    if (immediately ? take_text(connection, request) : statement_at_hand(connection, request))
        execute(connection->database, prepared->statement, &parameters,
                connection->in_transaction ? &connection->undo : NULL, &rows, &prepared->problem);
    ended(connection, request, rows);
    finish(connection, request);
}

static void create_package(struct connection *connection, const struct request *request) {
    size_t length = 0;
    const uint8_t *name = find(request, 0x3804, &length);
    struct problem *problem = &request->prepared->problem;
    bool made = package_create(connection->database, name, length, problem);
    reply_begin(&connection->reply, request->at, made ? 0 : 1, problem->code);
    finish(connection, request);
}

static void return_package(struct connection *connection, const struct request *request) {
    const struct package *package = package_of(connection, request);
    if (package == NULL) fail(&request->prepared->problem, -204, "42704", "SQL package not found.");
    ended(connection, request, 0);
    if (package != NULL) reply_package(&connection->reply, connection->database, package, connection->schema);
    finish(connection, request);
}

static void set_attributes(struct connection *connection, const struct request *request) {
    enum { BYTES = 118 };
    size_t length;
    const uint8_t *commits = find(request, 0x3824, &length);
    uint8_t *at;
    if (commits != NULL && length == 1) connection->in_transaction = *commits == 0xD5;
    reply_begin(&connection->reply, request->at, 0, 0);
    at = reply_parameter(&connection->reply, 0x3804, BYTES + 2);
    put16(at, CCSID_LATIN);
    at += 2;
    put16(at, 5); /* dates as ISO has them */
    put16(at + 2, 1);
    put16(at + 4, 4); /* times as JIS has them */
    put16(at + 19, CCSID_LATIN);
    to_latin("ENU", 3, at + 23, 3);
    memset(at + 26, 0x40, 20);
    to_latin("2924V7R5M00019", 14, at + 46, 14); /* language; release and functional level */
    to_latin("STANDIN           ", 18, at + 60, 18);
    to_latin("ROWPATH   ", 10, at + 78, 10);
    to_latin("QZDASOINITROWPATH   000001", 26, at + 88, 26);
    finish(connection, request);
}

static void why_request(struct connection *connection, const struct request *request) {
    const struct problem *problem = &request->prepared->problem;
    reply_begin(&connection->reply, request->at, 0, 0);
    reply_sqlca(&connection->reply, problem->code, problem->code != 0 ? problem->state : "00000", 0);
    if (request->wanted & MESSAGE_WANTED) {
        reply_text(&connection->reply, 0x3801, problem->id, false);
        reply_text(&connection->reply, 0x3802, problem->text, true);
    }
    finish(connection, request);
}

static void end_transaction(struct connection *connection, const struct request *request, bool keep) {
    if (keep)
        undo_forget(&connection->undo);
    else
        undo_all(&connection->undo);
    ended(connection, request, 0);
    finish(connection, request);
}

static void answer(struct connection *connection, const struct request *request) {
    struct prepared **slot = &connection->prepared[get16(request->at + 34)];
    uint16_t function = get16(request->at + 18), server = get16(request->at + 6);
    if (server == 0xE004) switch (function) {
        case 0x1F80: set_attributes(connection, request); return;
        case 0x1D00: /* make and change a block: the names of its statement and cursor are the driver's affair */
        case 0x1D03:
        case 0x1E00: /* the parameters come in the form that they were described in */
        case 0x1E01:
        case 0x1F01: ended(connection, request, 0); break;
        case 0x1D02:
            ended(connection, request, 0);
            finish(connection, request);
            forget(*slot);
            *slot = NULL;
            return;
        case 0x1F00: why_request(connection, request); return;
        case 0x1803: prepare_request(connection, request); return;
        case 0x1804: open_request(connection, request, false); return;
        case 0x180E: open_request(connection, request, true); return;
        case 0x180B: fetch_request(connection, request); return;
        case 0x1805: execute_request(connection, request, false); return;
        case 0x1806: execute_request(connection, request, true); return;
        case 0x180F: create_package(connection, request); return;
        case 0x1815: return_package(connection, request); return;
        case 0x1807: end_transaction(connection, request, true); return;
        case 0x1808: end_transaction(connection, request, false); return;
        case 0x180A: cursor_close(&request->prepared->cursor); /* fall through */
        case 0x0000: /* whether the connection lives: the i answers that it knows no such function */
            reply_begin(&connection->reply, request->at, 7, -201);
            break;
        default: refuse(&request->prepared->problem, "request %04X.", function); ended(connection, request, 0);
        }
    else if (server == 0xE005 && function == 0x180C) /* a list of libraries: there is one */
        ended(connection, request, 0);
    else {
        refuse(&request->prepared->problem, "request %04X of server %04X.", function, server);
        ended(connection, request, 0);
    }
    finish(connection, request);
}

const struct reply *connection_answer(struct connection *connection, const uint8_t *request, size_t length) {
    struct request asked = {.at = request, .length = length};
    uint16_t function = get16(request + 18);
    size_t bytes;
    const uint8_t *runs;
    if (login_answer(&connection->login, &connection->reply, request, length)) return &connection->reply;
    if (!connection->login.done) return NULL;
    if (length < PREFIX_BYTES || function == 0x1FFF) return NULL; /* the driver's farewell */
    asked.wanted = get32(request + 20);
    if (asked.wanted & RUNS_SENT && (runs = find(&asked, 0x3832, &bytes)) != NULL && bytes >= 4) {
        size_t expected = get32(runs);
        connection->expanded = realloc(connection->expanded, PREFIX_BYTES + expected);
        if (connection->expanded == NULL) abort();
        memcpy(connection->expanded, request, PREFIX_BYTES);
        if (!expand_runs(runs + 4, bytes - 4, connection->expanded + PREFIX_BYTES, expected)) return NULL;
        asked.at = connection->expanded;
        asked.length = PREFIX_BYTES + expected;
    }
    struct prepared **slot = &connection->prepared[get16(request + 34)];
    if (*slot == NULL) *slot = calloc(1, sizeof **slot);
    if (*slot == NULL) abort();
    asked.prepared = *slot;
    if (function != 0x1F00) asked.prepared->problem = (struct problem){.state = "00000", .id = "SQL0000"};
    answer(connection, &asked);
    return asked.wanted & REPLY_WANTED ? &connection->reply : NULL;
}
