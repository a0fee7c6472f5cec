/* The part of SQLite's documented interface that the adapter uses, for machines that have the library without its
   header. Source: https://www.sqlite.org/c3ref/intro.html */
#ifndef SQLITE3_DECLARATIONS_H
#define SQLITE3_DECLARATIONS_H

#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

#define SQLITE_OK 0
#define SQLITE_ROW 100
#define SQLITE_DONE 101
#define SQLITE_INTEGER 1
#define SQLITE_FLOAT 2
#define SQLITE_TEXT 3
#define SQLITE_BLOB 4
#define SQLITE_NULL 5
#define SQLITE_OPEN_READONLY 0x00000001
#define SQLITE_OPEN_READWRITE 0x00000002
#define SQLITE_OPEN_NOMUTEX 0x00008000
#define SQLITE_LIMIT_VARIABLE_NUMBER 9
#define SQLITE_PREPARE_PERSISTENT 0x01
#define SQLITE_STATIC ((void (*)(void *))0)
#define SQLITE_TRANSIENT ((void (*)(void *)) - 1)

int sqlite3_open_v2(const char *file, sqlite3 **database, int flags, const char *vfs);
int sqlite3_close(sqlite3 *database);
int sqlite3_busy_timeout(sqlite3 *database, int ms);
int sqlite3_extended_errcode(sqlite3 *database);
const char *sqlite3_errmsg(sqlite3 *database);
int sqlite3_exec(sqlite3 *database, const char *sql, int (*row)(void *, int, char **, char **), void *first,
                 char **error);
int sqlite3_prepare_v2(sqlite3 *database, const char *sql, int bytes, sqlite3_stmt **statement, const char **rest);
int sqlite3_prepare_v3(sqlite3 *database, const char *sql, int bytes, unsigned flags, sqlite3_stmt **statement,
                       const char **rest);
int sqlite3_bind_null(sqlite3_stmt *statement, int position);
int sqlite3_bind_int64(sqlite3_stmt *statement, int position, int64_t value);
int sqlite3_bind_double(sqlite3_stmt *statement, int position, double value);
int sqlite3_bind_text(sqlite3_stmt *statement, int position, const char *text, int bytes, void (*release)(void *));
int sqlite3_bind_blob(sqlite3_stmt *statement, int position, const void *blob, int bytes, void (*release)(void *));
int sqlite3_step(sqlite3_stmt *statement);
int sqlite3_reset(sqlite3_stmt *statement);
int sqlite3_finalize(sqlite3_stmt *statement);
int sqlite3_column_type(sqlite3_stmt *statement, int column);
int64_t sqlite3_column_int64(sqlite3_stmt *statement, int column);
double sqlite3_column_double(sqlite3_stmt *statement, int column);
const unsigned char *sqlite3_column_text(sqlite3_stmt *statement, int column);
const void *sqlite3_column_blob(sqlite3_stmt *statement, int column);
int sqlite3_column_bytes(sqlite3_stmt *statement, int column);
int sqlite3_column_count(sqlite3_stmt *statement);
void sqlite3_interrupt(sqlite3 *database);
int sqlite3_limit(sqlite3 *database, int limit, int value);
int sqlite3_threadsafe(void);
int sqlite3_get_autocommit(sqlite3 *database);
const char *sqlite3_libversion(void);
const char *sqlite3_sourceid(void);

#endif
