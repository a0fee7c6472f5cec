/* Errors, statements that are kept, and their parameters. */
#include <stdio.h>

#include "sqlite.h"

bool sqlite_fail(sqlite3 *database, rp_error_kind kind) {
    char code[16];
    snprintf(code, sizeof code, "%d", sqlite3_extended_errcode(database));
    return rp_fail(kind, code, "%s", sqlite3_errmsg(database));
}

bool sqlite_keep_prepared(sqlite3 *database, const char *sql, sqlite3_stmt **prepared) {
    return sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, prepared, NULL) == SQLITE_OK ||
           sqlite_fail(database, RP_SQL_ERROR);
}

int sqlite_bind(sqlite3_stmt *statement, int position, const rp_value *value) {
    char scratch[RP_SCRATCH_BYTES];
    size_t length;
    switch (value->type) {
    case RP_NULL: return sqlite3_bind_null(statement, position);
    case RP_INTEGER:
    case RP_BOOLEAN: return sqlite3_bind_int64(statement, position, value->integer);
    case RP_FLOAT32:
    case RP_FLOAT64: return sqlite3_bind_double(statement, position, value->real);
    case RP_BINARY: return sqlite3_bind_blob(statement, position, value->text, (int)value->length, SQLITE_STATIC);
    default: break;
    }
    const char *text = rp_value_text(value, scratch, &length);
    return sqlite3_bind_text(statement, position, text, (int)length,
                             text == scratch ? SQLITE_TRANSIENT : SQLITE_STATIC);
}
