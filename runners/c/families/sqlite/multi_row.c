/* bulk=multi-row: one INSERT with as many rows of placeholders as the library allows. */
#include <stdlib.h>

#include "sqlite.h"

void sqlite_release_rows(sqlite_rows *rows) {
    sqlite3_finalize(rows->prepared);
    sqlite3_finalize(rows->prepared_rest);
    free(rows->sql);
    free(rows->rest_sql);
    free(rows);
}

sqlite_rows *sqlite_rows_of(sqlite3 *database, rp_statement_mode mode, const rp_phase *phase) {
    uint64_t all = phase->rows_per_operation, width = (uint64_t)phase->parameter_column_count;
    uint64_t limit = (uint64_t)sqlite3_limit(database, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    if (mode == RP_LITERAL || width == 0 || width > limit) {
        if (mode == RP_LITERAL)
            rp_fail(RP_UNSUPPORTED, "", "bulk=multi-row binds its values");
        else
            rp_fail(RP_UNSUPPORTED, "", "%llu placeholders in a row", (unsigned long long)width);
        return NULL;
    }
    sqlite_rows *rows = calloc(1, sizeof *rows);
    rows->most = rp_rows_at_once(phase, all, limit);
    rows->sql = rp_rows_of_values(phase->sql, rows->most);
    rows->rest_sql = rp_rows_of_values(phase->sql, all % rows->most);
    bool good = rows->sql != NULL && rows->rest_sql != NULL;
    if (good && mode == RP_PREPARED)
        good = sqlite_keep_prepared(database, rows->sql, &rows->prepared) &&
               (all % rows->most == 0 || sqlite_keep_prepared(database, rows->rest_sql, &rows->prepared_rest));
    if (good) return rows;
    sqlite_release_rows(rows);
    return NULL;
}

/* Executes one INSERT of `count` rows, prepared or given as text. */
static bool insert(sqlite3 *database, sqlite3_stmt *prepared, const char *sql, const rp_value *values, uint64_t count) {
    sqlite3_stmt *statement = prepared;
    int result = prepared != NULL ? SQLITE_OK : sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    for (uint64_t i = 0; i < count && result == SQLITE_OK; i++)
        result = sqlite_bind(statement, (int)i + 1, &values[i]);
    if (result == SQLITE_OK) result = sqlite3_step(statement);
    bool good = result == SQLITE_DONE || sqlite_fail(database, RP_SQL_ERROR);
    if (prepared != NULL)
        sqlite3_reset(prepared);
    else
        sqlite3_finalize(statement);
    return good;
}

bool sqlite_insert_rows(sqlite3 *database, const sqlite_rows *rows, const rp_phase *phase, uint64_t row,
                        uint64_t count) {
    uint64_t width = (uint64_t)phase->parameter_column_count;
    if (sqlite3_exec(database, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) return sqlite_fail(database, RP_SQL_ERROR);
    bool good = true;
    for (uint64_t last = row + count, most; good && row < last; row += most) {
        bool rest = last - row < rows->most;
        most = rest ? last - row : rows->most;
        good = insert(database, rest ? rows->prepared_rest : rows->prepared, rest ? rows->rest_sql : rows->sql,
                      rp_parameters(phase, row), most * width);
    }
    if (good && sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        good = sqlite_fail(database, RP_SQL_ERROR);
    if (!good) sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return good;
}
