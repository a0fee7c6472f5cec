/* SQLite's C API: statements, their parameters, and the bulk way. */
#ifndef RP_SQLITE_H
#define RP_SQLITE_H

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#else
#include "sqlite3_declarations.h"
#endif

#include "adapter.h"

/* The database's last error; always false. */
bool sqlite_fail(sqlite3 *database, rp_error_kind kind);

/* Prepares a statement that is executed many times. */
bool sqlite_keep_prepared(sqlite3 *database, const char *sql, sqlite3_stmt **prepared);

int sqlite_bind(sqlite3_stmt *statement, int position, const rp_value *value);

/* bulk=multi-row: the INSERT of `most` rows, and that of the rows which remain. */
typedef struct sqlite_rows {
    uint64_t most;
    char *sql, *rest_sql;
    sqlite3_stmt *prepared, *prepared_rest; /* NULL: prepared again in each operation */
} sqlite_rows;

/* NULL after rp_fail. */
sqlite_rows *sqlite_rows_of(sqlite3 *database, rp_statement_mode mode, const rp_phase *phase);
void sqlite_release_rows(sqlite_rows *rows);

/* Stores parameter rows [row, row + count) in one transaction. */
bool sqlite_insert_rows(sqlite3 *database, const sqlite_rows *rows, const rp_phase *phase, uint64_t row,
                        uint64_t count);

#endif
