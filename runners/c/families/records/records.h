/* What the adapters of engines that keep records share: how a row lies in a record, the tables of a connection, and the
   words that `run` takes: CREATE name KEYED, CREATE name NUMBERED, DROP name, BEGIN, COMMIT, ROLLBACK, SYNC. */
#ifndef RP_RECORDS_H
#define RP_RECORDS_H

#include "adapter.h"

#define RECORD_NAME_BYTES 256

typedef struct record_field {
    rp_type type;
    bool nullable;
    int scale;
    uint32_t offset, size; /* of a fixed length; size 0: of any length, after the others */
    int result, parameter; /* where the column stands in the phase's result and in its parameters; -1: nowhere */
} record_field;

typedef struct record_layout {
    record_field *fields;
    const int *key_columns;
    int field_count, key_column_count;
    size_t fixed_bytes, key_bytes, capacity;
    char *record, *key; /* what is to be stored */
} record_layout;

/* It outlives what is on the disk: a statement that was prepared before a DROP and a CREATE goes on. */
typedef struct record_table {
    struct record_table *next;
    char name[RECORD_NAME_BYTES];
    bool open;
    union { /* by which the engine reaches it while it is open */
        void *handle;
        unsigned number;
    };
} record_table;

/* What a connection of an adapter begins with. */
typedef struct record_connection {
    record_table *tables;
} record_connection;

typedef struct record_operation {
    void *connection; /* the adapter's own */
    record_table *table;
    record_layout layout;
    void *block; /* what several records are read into at once; NULL: record by record */
    uint32_t block_bytes;
} record_operation;

typedef enum record_word {
    RECORD_CREATE,
    RECORD_DROP,
    RECORD_BEGIN,
    RECORD_COMMIT,
    RECORD_ROLLBACK,
    RECORD_SYNC
} record_word;

/* An adapter's engine; the connections are the adapter's own. */
typedef struct record_engine {
    const char *(*error_text)(int result);
    bool (*open)(void *connection, record_table *table); /* a table that is not open */
    bool (*create)(void *connection, record_table *table, bool keyed);
    bool (*drop)(void *connection, record_table *table);
    bool (*run_word)(void *connection, record_word word, const char *text); /* neither CREATE nor DROP */
} record_engine;

extern const record_engine record_engine_here;

/* The layout of the phase's table; false after rp_fail when its records cannot serve the phase. */
bool record_lay_out(record_layout *layout, const rp_phase *phase);
void record_release(record_layout *layout);

/* The record of one insert, in `layout->record`; sets its length. */
bool record_put(record_layout *layout, const rp_value *values, size_t *length);

/* The key in `layout->key`: of the record to insert, or from the parameters of a read. */
bool record_put_key(record_layout *layout, const rp_value *values, bool inserting);

/* One record's values and the end of its row, to the sink. */
void record_take(const record_layout *layout, const rp_phase *phase, const char *record, size_t length, rp_sink *sink);

/* The library's error, about what has that name; always false. */
bool record_fail_as(rp_error_kind kind, const char *name, int result);
bool record_fail(const char *name, int result);

/* The adapters' functions; an adapter's `prepare` may do more. */
void *record_prepare(void *opened, rp_phase *phase);
void record_close_operation(void *statement);
bool record_run(void *opened, const char *text);
void record_free_tables(record_connection *connection);

/* The library is the engine: one version for both. */
void record_version(rp_facts *facts, int major, int minor, int patch);

/* A read, a scan or an insert; `values` are NULL where the phase has no parameters. */
typedef bool record_serve(record_operation *operation, const rp_phase *phase, const rp_value *values, rp_sink *sink);

/* An adapter's `execute`. Inline, so that `serve` is no call by pointer inside the clock. */
static inline bool record_execute(record_operation *operation, const rp_phase *phase, uint64_t row, rp_sink *sink,
                                  record_serve *serve) {
    void *connection = operation->connection;
    record_table *table = operation->table;
    if (phase->access == RP_CREATE) return record_engine_here.create(connection, table, phase->key_column_count > 0);
    if (!table->open && !record_engine_here.open(connection, table)) return false;
    return serve(operation, phase, phase->parameters != NULL ? rp_parameters(phase, row) : NULL, sink);
}

#endif
