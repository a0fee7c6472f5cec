/* The tables of a connection to an engine that keeps records, and the words that `run` takes there:
   CREATE name KEYED, CREATE name NUMBERED, DROP name, BEGIN, COMMIT, ROLLBACK, SYNC.
   Who includes this defines RECORD_HANDLE, the type by which a table is reached while it is open, and
   RECORD_ERROR_TEXT, the function that has the library's words for an error. */
#ifndef ROWPATH_RECORD_TABLES_H
#define ROWPATH_RECORD_TABLES_H

#include <stdio.h>
#include <stdlib.h>

#include "rowpath.h"

#define RECORD_NAME_BYTES 256

/* It outlives what is on the disk: a statement that was prepared before a DROP and a CREATE goes on. */
typedef struct record_table {
    struct record_table *next;
    char name[RECORD_NAME_BYTES];
    bool open;
    RECORD_HANDLE handle;
} record_table;

/* The table of that name, not open when it was not known yet. */
static inline record_table *record_find_table(record_table **tables, const char *name) {
    for (record_table *table = *tables; table != NULL; table = table->next)
        if (strcmp(table->name, name) == 0) return table;
    record_table *table = calloc(1, sizeof *table);
    snprintf(table->name, sizeof table->name, "%s", name);
    table->next = *tables;
    return *tables = table;
}

static inline bool record_fail_as(rp_error_kind kind, const char *name, int result) {
    char code[16];
    snprintf(code, sizeof code, "%d", result);
    return rp_fail(kind, code, "%s: %s", name, RECORD_ERROR_TEXT(result));
}

static inline bool record_fail(const char *name, int result) {
    return record_fail_as(RP_SQL_ERROR, name, result);
}

typedef enum record_word {
    RECORD_CREATE,
    RECORD_DROP,
    RECORD_BEGIN,
    RECORD_COMMIT,
    RECORD_ROLLBACK,
    RECORD_SYNC
} record_word;

/* The word, and what stands behind it; false after rp_fail for any other text. */
static inline bool record_read_word(const char *text, record_word *word, char name[RECORD_NAME_BYTES], bool *keyed) {
    static const char *const alone[] = {
        [RECORD_BEGIN] = "BEGIN", [RECORD_COMMIT] = "COMMIT", [RECORD_ROLLBACK] = "ROLLBACK", [RECORD_SYNC] = "SYNC"};
    char kind[16];
    if (sscanf(text, "CREATE %255s %15s", name, kind) == 2) {
        *word = RECORD_CREATE;
        *keyed = strcmp(kind, "KEYED") == 0;
        return true;
    }
    *word = RECORD_DROP;
    if (sscanf(text, "DROP %255s", name) == 1) return true;
    for (*word = RECORD_BEGIN; *word <= RECORD_SYNC; ++*word)
        if (strcmp(text, alone[*word]) == 0) return true;
    return rp_fail(RP_UNSUPPORTED, "", "'%s' is no word of this adapter", text);
}

/* The library is the engine: one version for both. */
static inline void record_version(rp_facts *facts, int major, int minor, int patch) {
    char text[48];
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    rp_driver_version(facts, text);
    rp_engine_version(facts, text);
}

#endif
