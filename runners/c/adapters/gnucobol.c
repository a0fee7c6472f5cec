/* COBOL's own files through COBOL subprograms (families/cobol/), called from C: a program written for three workloads,
   not a template for an adapter. The runtime is in this process, the subprograms are linked in, and each call hands a
   record over in the LINKAGE SECTION. A scan opens and closes its file inside the operation; a file whose records are
   read or written by key stays open. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <libcob.h>

#include "adapter.h"

#define NAME_BYTES 1024
#define MOST_COLUMNS 7

/* The records as hit.cpy and mydata2.cob have them. */
typedef struct __attribute__((packed)) hit {
    char reqtype[10], reqfile[80], browser[10];
    int64_t reqts;
    int32_t reqsize, requser;
    int8_t requser_null;
    int16_t geoid;
} hit;

typedef struct keyed {
    char key1[10], data1[30];
} keyed;

typedef union record {
    hit hit;
    keyed keyed;
} record;

/* What the COBOL compiler makes of their PROGRAM-ID; verbs: open.cpy and the subprograms themselves. */
typedef int subprogram(const char *verb, const char *named, record *handed, char outcome[2]);
extern subprogram hits__indexed, hits__sequential, mydata2;

/* A subprogram and the tables that it was written for. */
typedef struct program {
    const char *table; /* how their names begin */
    const char *columns[MOST_COLUMNS];
    subprogram *call;
    char writing; /* the verb that opens the file for writing */
    void (*take)(const record *handed, const rp_phase *phase, rp_sink *sink);
    bool (*put)(record *handed, const rp_value *values, int count);
} program;

typedef struct cobol_connection {
    char *directory;
    bool sequential;
    struct cobol_operation *open; /* whose file is open between operations; NULL: none */
} cobol_connection;

typedef struct cobol_operation {
    cobol_connection *connection;
    const program *program;
    record handed;
    char path[NAME_BYTES], named[NAME_BYTES]; /* the file's name; the same with blanks behind it */
} cobol_operation;

static void take_hit(const record *handed, const rp_phase *phase, rp_sink *sink) {
    const hit *hit = &handed->hit;
    rp_column *column = phase->columns;
    rp_text(sink, column++, hit->reqtype, sizeof hit->reqtype);
    rp_text(sink, column++, hit->reqfile, sizeof hit->reqfile);
    rp_text(sink, column++, hit->browser, sizeof hit->browser);
    rp_timestamp(sink, column++, hit->reqts);
    rp_integer(sink, column++, hit->reqsize);
    if (hit->requser_null)
        rp_null(sink, column++);
    else
        rp_integer(sink, column++, hit->requser);
    rp_integer(sink, column, hit->geoid);
    rp_row(sink);
}

static void take_keyed(const record *handed, const rp_phase *phase, rp_sink *sink) {
    rp_text(sink, &phase->columns[0], handed->keyed.key1, sizeof handed->keyed.key1);
    rp_text(sink, &phase->columns[1], handed->keyed.data1, sizeof handed->keyed.data1);
    rp_row(sink);
}

static bool put_text(char *to, size_t size, const rp_value *value) {
    if (value->length > size) return rp_fail(RP_SQL_ERROR, "length", "'%s' is longer than %zu", value->text, size);
    memset(mempcpy(to, value->text, value->length), ' ', size - value->length);
    return true;
}

static bool put_hit(record *handed, const rp_value *values, int count) {
    hit *hit = &handed->hit;
    (void)count;
    hit->reqts = values[3].integer;
    hit->reqsize = (int32_t)values[4].integer;
    hit->requser_null = values[5].type == RP_NULL;
    hit->requser = hit->requser_null ? 0 : (int32_t)values[5].integer;
    hit->geoid = (int16_t)values[6].integer;
    return put_text(hit->reqtype, sizeof hit->reqtype, &values[0]) &&
           put_text(hit->reqfile, sizeof hit->reqfile, &values[1]) &&
           put_text(hit->browser, sizeof hit->browser, &values[2]);
}

/* Only the key, to read by it, or the whole record. */
static bool put_keyed(record *handed, const rp_value *values, int count) {
    keyed *keyed = &handed->keyed;
    return put_text(keyed->key1, sizeof keyed->key1, &values[0]) &&
           (count == 1 || put_text(keyed->data1, sizeof keyed->data1, &values[1]));
}

#define HIT_COLUMNS {"REQTYPE", "REQFILE", "BROWSER", "REQTS", "REQSIZE", "REQUSER", "GEOID"}
static const program hits_by_number = {"hits", HIT_COLUMNS, hits__indexed, 'O', take_hit, put_hit};
static const program hits_in_order = {"hits", HIT_COLUMNS, hits__sequential, 'O', take_hit, put_hit};
static const program by_key = {"mydata2", {"KEY1", "DATA1"}, mydata2, 'U', take_keyed, put_keyed};

static bool cobol_fail(const cobol_operation *operation, const char status[2]) {
    static const char *const texts[] = {"22", "there is a record with this key already",
                                        "30", "a permanent error",
                                        "35", "there is no such file",
                                        "37", "the file cannot be opened",
                                        "39", "the file has other records",
                                        "41", "the file is open already"};
    const char code[3] = {status[0], status[1], '\0'}, *text = "the operation failed";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i += 2)
        if (strcmp(texts[i], code) == 0) text = texts[i + 1];
    return rp_fail(RP_SQL_ERROR, code, "%s: %s (file status %s)", operation->path, text, code);
}

/* Status 0x is success; others stay with the caller. */
static inline bool call(cobol_operation *operation, char verb, char status[2]) {
    operation->program->call(&verb, operation->named, &operation->handed, status);
    return status[0] == '0';
}

static bool must(cobol_operation *operation, char verb) {
    char status[2];
    return call(operation, verb, status) || cobol_fail(operation, status);
}

static bool close_open(cobol_connection *connection) {
    cobol_operation *open = connection->open;
    connection->open = NULL;
    return open == NULL || must(open, 'C');
}

/* The operation's file stays open, and no other. */
static bool keep_open(cobol_operation *operation, char verb) {
    if (operation->connection->open == operation) return true;
    if (!close_open(operation->connection) || !must(operation, verb)) return false;
    operation->connection->open = operation;
    return true;
}

static cobol_operation *operation_on(cobol_connection *connection, const char *table) {
    const program *hits = connection->sequential ? &hits_in_order : &hits_by_number;
    const program *found = strcmp(table, hits->table) == 0 ? hits : NULL;
    if (strncmp(table, by_key.table, strlen(by_key.table)) == 0) found = &by_key;
    if (found == NULL || (found == &by_key && connection->sequential)) {
        rp_fail(RP_UNSUPPORTED, "",
                found == NULL ? "no COBOL program was written for %s" : "%s: a SEQUENTIAL file has no key", table);
        return NULL;
    }
    cobol_operation *operation = calloc(1, sizeof *operation);
    operation->connection = connection;
    operation->program = found;
    const char *organization = connection->sequential ? "sequential" : "indexed";
    int length = snprintf(operation->path, NAME_BYTES, "%s/%s.%s", connection->directory, table, organization);
    memset(operation->named, ' ', NAME_BYTES);
    if (length < NAME_BYTES) {
        memcpy(operation->named, operation->path, (size_t)length);
        return operation;
    }
    rp_fail(RP_CONNECT_ERROR, "ENAMETOOLONG", "%s", operation->path);
    free(operation);
    return NULL;
}

static bool create_file(cobol_operation *operation) {
    return close_open(operation->connection) && must(operation, 'O') && must(operation, 'C');
}

static bool drop_file(cobol_operation *operation) {
    if (!close_open(operation->connection)) return false;
    return unlink(operation->path) == 0 || rp_fail_errno(RP_SQL_ERROR, operation->path);
}

/* CREATE name …, DROP name, CLOSE (what is open). */
static bool cobol_run(void *opened, const char *words) {
    cobol_connection *connection = opened;
    char verb[8], table[64];
    if (strcmp(words, "CLOSE") == 0) return close_open(connection);
    if (sscanf(words, "%7s %63s", verb, table) != 2 || (strcmp(verb, "CREATE") != 0 && strcmp(verb, "DROP") != 0))
        return rp_fail(RP_UNSUPPORTED, "", "'%s' is no word of this adapter", words);
    cobol_operation *operation = operation_on(connection, table);
    bool good = operation != NULL && (verb[0] == 'C' ? create_file(operation) : drop_file(operation));
    free(operation);
    return good;
}

static void cobol_close(void *opened) {
    cobol_connection *connection = opened;
    close_open(connection);
    free(connection->directory);
    free(connection);
}

static void *cobol_open(const rp_options *options, int64_t *server_pid) {
    static bool running; /* the runtime is started once in a process */
    (void)server_pid;
    if (!running) cob_init(0, NULL);
    running = true;
    cobol_connection *connection = calloc(1, sizeof *connection);
    connection->directory = strdup(rp_option(options, "path", "."));
    connection->sequential = rp_option_is(options, "organization", "sequential");
    return connection;
}

static void cobol_release(void *statement) {
    cobol_operation *operation = statement;
    if (operation->connection->open == operation) close_open(operation->connection);
    free(operation);
}

static bool has_columns(const program *program, const rp_column *columns, int count) {
    for (int i = 0; i < count; i++)
        if (i == MOST_COLUMNS || program->columns[i] == NULL || strcmp(program->columns[i], columns[i].name) != 0)
            return rp_fail(RP_UNSUPPORTED, "", "the COBOL program has no %s there", columns[i].name);
    return true;
}

static void *cobol_prepare(void *opened, rp_phase *phase) {
    cobol_connection *connection = opened;
    if (phase->access == RP_NO_ACCESS) {
        rp_fail(RP_UNSUPPORTED, "", "records are reached here, not queries");
        return NULL;
    }
    cobol_operation *operation = operation_on(connection, phase->table);
    if (operation == NULL) return NULL;
    /* Another phase may have written records that lie in the runtime until CLOSE. */
    if (close_open(connection) && has_columns(operation->program, phase->columns, phase->column_count) &&
        has_columns(operation->program, phase->parameter_columns, phase->parameter_column_count))
        return operation;
    free(operation);
    return NULL;
}

static bool scan(cobol_operation *operation, const rp_phase *phase, rp_sink *sink) {
    const program *program = operation->program;
    char status[2];
    if (!close_open(operation->connection) || !must(operation, 'I')) return false;
    rp_executed(sink);
    while (!sink->broken && call(operation, 'N', status))
        program->take(&operation->handed, phase, sink);
    bool good = sink->broken || status[0] == '1' || cobol_fail(operation, status); /* 10: behind the last record */
    return must(operation, 'C') && good;
}

static bool cobol_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    cobol_operation *operation = statement;
    const program *program = operation->program;
    char status[2];
    if (phase->access == RP_SCAN) return scan(operation, phase, sink);
    if (phase->access == RP_CREATE) return create_file(operation);
    bool reading = phase->access == RP_READ;
    if (!keep_open(operation, reading ? 'I' : program->writing) ||
        !program->put(&operation->handed, rp_parameters(phase, row), phase->parameter_column_count))
        return false;
    bool good = call(operation, reading ? 'R' : 'W', status);
    rp_executed(sink);
    if (good && reading) program->take(&operation->handed, phase, sink);
    return good || (reading && memcmp(status, "23", 2) == 0) || cobol_fail(operation, status); /* 23: no such record */
}

static void cobol_facts(void *opened, rp_facts *facts) {
    cobol_connection *connection = opened;
    rp_driver_version(facts, libcob_version());
    rp_engine_version(facts, libcob_version());
    rp_setting(facts, "autocommit", "on");
    rp_setting(facts, "organization", connection->sequential ? "SEQUENTIAL" : "INDEXED");
    rp_setting(facts, "sync", "none: a record stays with the runtime until CLOSE");
}

const rp_adapter rp_adapter_here = {
    .driver = "gnucobol",
    .open = cobol_open,
    .close = cobol_close,
    .prepare = cobol_prepare,
    .execute = cobol_execute,
    .release = cobol_release,
    .run = cobol_run,
    .facts = cobol_facts,
    .no_timeout = "COBOL runs no statements: each call is over when it returns",
};
