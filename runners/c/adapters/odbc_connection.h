/* A connection through the driver manager, without a data source: the driver is named by its file, the rest stands in
   the connection string, which is never written anywhere. What differs between drivers stands in a header of each. */
#ifndef RP_ODBC_CONNECTION_H
#define RP_ODBC_CONNECTION_H

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <odbcinst.h>
#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include "rowpath.h"

#ifndef ODBC_DRIVER /* the build names one: this is for looking at a source alone */
#define ODBC_DRIVER "odbc_psqlodbc.h"
#define ODBC_LIBRARY "psqlodbcw.so"
#endif

/* What a driver's header says of it. */
typedef struct odbc_driver {
    bool wide;                    /* its SQL travels as UTF-16: given bytes, the manager takes them for Latin-1 */
    bool temporal_text;           /* its own times and timestamps lose digits: they go in and out as text */
    const char *no_floats;        /* why floating point does not survive */
    const char *no_binary_arrays; /* why bulk=array cannot hold binary values */
    const char *text_since;       /* its first version whose queries travel as text when they are given as text */
    const char *settings;         /* a query of (name, value); `version` is the engine's */
    const char *farewells;        /* files that it leaves on disconnecting whatever it is told: a pattern, %d the pid */
} odbc_driver;

/* `NAME=value;` of a connection string, in braces where the value could be taken for more than it is. */
static inline void say(FILE *to, const char *name, const char *value) {
    bool plain = value[strcspn(value, ";{}[](),?*=!@ ")] == '\0';
    fprintf(to, "%s=%s", name, plain ? value : "{");
    for (; !plain && *value != '\0'; value++)
        fputs(*value == '}' ? "}}" : (char[]){*value, '\0'}, to);
    fputs(plain ? ";" : "};", to);
}

/* The driver's file: the build's, or (any driver) the connection's. */
static inline const char *odbc_library(const rp_options *options) {
#ifdef ODBC_LIBRARY
    (void)options;
    return ODBC_LIBRARY;
#else
    return rp_option(options, "driver_file", "");
#endif
}

#include ODBC_DRIVER

typedef struct odbc_connection {
    SQLHDBC handle;
    SQLHSTMT run; /* for statements outside the clock, and BEGIN and COMMIT */
    rp_statement_mode mode;
    SQLULEN block_rows;
    bool gets_data; /* each value by a call of its own */
} odbc_connection;

/* The first diagnostic record of a handle. A lost connection is an error of the connection, whoever notices. */
static inline bool odbc_fail(SQLSMALLINT type, SQLHANDLE handle, rp_error_kind kind) {
    SQLCHAR state[6] = "", text[SQL_MAX_MESSAGE_LENGTH * 2] = "the driver says nothing";
    SQLINTEGER native;
    SQLSMALLINT length;
    SQLGetDiagRec(type, handle, 1, state, &native, text, sizeof text, &length);
    if (memcmp(state, "08", 2) == 0) kind = RP_CONNECT_ERROR;
    return rp_fail(kind, (const char *)state, "%s", (const char *)text);
}

static inline bool statement_failed(SQLHSTMT handle) {
    return odbc_fail(SQL_HANDLE_STMT, handle, RP_SQL_ERROR);
}

/* A row that could not be taken: the driver has no room for a value (TIME of 100:00:00, the year 12000). */
static inline bool fetch_failed(SQLHSTMT handle) {
    SQLCHAR state[6] = "";
    SQLINTEGER native;
    SQLSMALLINT length;
    SQLGetDiagRec(SQL_HANDLE_STMT, handle, 1, state, &native, NULL, 0, &length);
    bool beyond = memcmp(state, "22007", 5) == 0 || memcmp(state, "22008", 5) == 0;
    return odbc_fail(SQL_HANDLE_STMT, handle, beyond ? RP_UNSUPPORTED : RP_SQL_ERROR);
}

/* SQL as the driver takes it (`wide`: UTF-16); to be freed by the caller. */
static inline void *odbc_sql(const char *sql) {
    if (!here.wide) return strdup(sql);
    SQLWCHAR *wide = calloc(strlen(sql) + 1, sizeof *wide), *to = wide;
    for (const unsigned char *at = (const unsigned char *)sql; *at != '\0';) {
        int more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
        uint32_t code = more == 0 ? *at : *at & (0x3f >> more);
        for (at++; more > 0 && *at != '\0'; more--, at++)
            code = code << 6 | (*at & 0x3f);
        if (code >= 0x10000) *to++ = (SQLWCHAR)(0xd7c0 + (code >> 10));
        *to++ = (SQLWCHAR)(code >= 0x10000 ? 0xdc00 | (code & 0x3ff) : code);
    }
    return wide;
}

static inline SQLRETURN execute_direct(SQLHSTMT handle, void *sql) {
    return here.wide ? SQLExecDirectW(handle, sql, SQL_NTS) : SQLExecDirect(handle, sql, SQL_NTS);
}

static inline SQLHENV odbc_environment(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static SQLHENV environment; /* one, as long as the process lives */
    pthread_mutex_lock(&lock);
    if (environment == NULL) {
        SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment);
        SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
    }
    pthread_mutex_unlock(&lock);
    return environment;
}

static inline void remove_farewells(void) {
    char pattern[64];
    glob_t found;
    if (here.farewells == NULL) return;
    snprintf(pattern, sizeof pattern, here.farewells, (int)getpid());
    if (glob(pattern, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

static inline void odbc_close(void *opened) {
    odbc_connection *connection = opened;
    if (connection->run != NULL) SQLFreeHandle(SQL_HANDLE_STMT, connection->run);
    SQLDisconnect(connection->handle);
    SQLFreeHandle(SQL_HANDLE_DBC, connection->handle);
    remove_farewells();
    free(connection);
}

/* The manager says "file not found" of every library that does not load: the loader knows why. */
static inline bool connect_failed(SQLHDBC handle, const char *library) {
    void *loaded = dlopen(library, RTLD_LAZY);
    if (loaded == NULL) return rp_fail(RP_CONNECT_ERROR, "IM003", "the driver does not load: %s", dlerror());
    dlclose(loaded);
    return odbc_fail(SQL_HANDLE_DBC, handle, RP_CONNECT_ERROR);
}

static inline bool odbc_connect(odbc_connection *connection, const rp_options *options) {
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    say(to, "DRIVER", odbc_library(options));
    odbc_login(to, options);
    fclose(to);
    void *login = odbc_sql(text);
    SQLRETURN result =
        here.wide ? SQLDriverConnectW(connection->handle, NULL, login, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT)
                  : SQLDriverConnect(connection->handle, NULL, login, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
    free(text);
    free(login);
    return SQL_SUCCEEDED(result) || connect_failed(connection->handle, odbc_library(options));
}

static inline bool run_sql(odbc_connection *connection, const char *sql) {
    void *text = odbc_sql(sql);
    SQLSMALLINT columns = 0;
    SQLRETURN result = execute_direct(connection->run, text);
    free(text);
    if (SQL_SUCCEEDED(result)) SQLNumResultCols(connection->run, &columns);
    while (columns > 0 && SQL_SUCCEEDED(result))
        result = SQLFetch(connection->run); /* some drivers run a query only as far as it is fetched */
    bool good = SQL_SUCCEEDED(result) || result == SQL_NO_DATA || statement_failed(connection->run);
    SQLFreeStmt(connection->run, SQL_CLOSE);
    return good;
}

static inline bool set_autocommit(odbc_connection *connection, bool on) {
    SQLPOINTER value = (SQLPOINTER)(uintptr_t)(on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF);
    return SQL_SUCCEEDED(SQLSetConnectAttr(connection->handle, SQL_ATTR_AUTOCOMMIT, value, 0)) ||
           odbc_fail(SQL_HANDLE_DBC, connection->handle, RP_SQL_ERROR);
}

static inline bool end_transaction(odbc_connection *connection, SQLSMALLINT how) {
    bool good = SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, connection->handle, how)) ||
                odbc_fail(SQL_HANDLE_DBC, connection->handle, RP_SQL_ERROR);
    return good && set_autocommit(connection, true);
}

/* ODBC has no statements for transactions: it has a mode and a call. */
static inline bool odbc_run(void *opened, const char *sql) {
    odbc_connection *connection = opened;
    if (strcmp(sql, "BEGIN") == 0) return set_autocommit(connection, false);
    if (strcmp(sql, "COMMIT") == 0) return end_transaction(connection, SQL_COMMIT);
    if (strcmp(sql, "ROLLBACK") == 0) return end_transaction(connection, SQL_ROLLBACK);
    return run_sql(connection, sql);
}

#endif
