/* A connection through the driver manager, without a data source: the driver is named by its file, the rest stands in
   the connection string, which is never written anywhere. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "odbc.h"

void odbc_put_attribute(FILE *to, const char *name, const char *value) {
    bool plain = value[strcspn(value, ";{}[](),?*=!@ ")] == '\0';
    fprintf(to, "%s=%s", name, plain ? value : "{");
    for (; !plain && *value != '\0'; value++)
        fputs(*value == '}' ? "}}" : (char[]){*value, '\0'}, to);
    fputs(plain ? ";" : "};", to);
}

bool odbc_put_settings(FILE *to, const rp_options *options, const char *known) {
    rp_settings settings;
    if (!rp_driver_settings(options, &settings)) return false;
    for (int i = 0; i < settings.count; i++) {
        char word[sizeof settings.text + 2];
        snprintf(word, sizeof word, " %s ", settings.names[i]);
        if (known != NULL && strstr(known, word) == NULL) return rp_unknown_setting(settings.names[i]);
        odbc_put_attribute(to, settings.names[i], settings.values[i]);
    }
    return true;
}

bool odbc_fail(SQLSMALLINT type, SQLHANDLE handle, rp_error_kind kind) {
    SQLCHAR state[6] = "", text[SQL_MAX_MESSAGE_LENGTH * 2] = "the driver says nothing";
    SQLINTEGER native;
    SQLSMALLINT length;
    SQLGetDiagRec(type, handle, 1, state, &native, text, sizeof text, &length);
    if (memcmp(state, "08", 2) == 0) kind = RP_CONNECT_ERROR;
    return rp_fail(kind, (const char *)state, "%s", (const char *)text);
}

bool odbc_statement_failed(SQLHSTMT handle) {
    return odbc_fail(SQL_HANDLE_STMT, handle, RP_SQL_ERROR);
}

bool odbc_has_no_room(SQLHSTMT handle) {
    static const char *const states[] = {"22003", "22007", "22008", "22018"};
    SQLCHAR state[6] = "";
    SQLINTEGER native;
    SQLSMALLINT length;
    SQLGetDiagRec(SQL_HANDLE_STMT, handle, 1, state, &native, NULL, 0, &length);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (memcmp(state, states[i], 5) == 0) return true;
    return false;
}

void *odbc_sql(const char *sql) {
    if (!odbc_driver_here.wide) return strdup(sql);
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

SQLRETURN odbc_execute_direct(SQLHSTMT handle, void *sql) {
    return odbc_driver_here.wide ? SQLExecDirectW(handle, sql, SQL_NTS) : SQLExecDirect(handle, sql, SQL_NTS);
}

SQLHENV odbc_environment(void) {
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

void odbc_close(void *opened) {
    odbc_connection *connection = opened;
    if (connection->run != NULL) SQLFreeHandle(SQL_HANDLE_STMT, connection->run);
    SQLDisconnect(connection->handle);
    SQLFreeHandle(SQL_HANDLE_DBC, connection->handle);
    free(connection);
}

/* The manager reports "file not found" for every library that does not load; the loader knows why. */
static bool connect_failed(SQLHDBC handle, const char *library) {
    void *loaded = dlopen(library, RTLD_LAZY);
    if (loaded == NULL) return rp_fail(RP_CONNECT_ERROR, "IM003", "the driver does not load: %s", dlerror());
    dlclose(loaded);
    return odbc_fail(SQL_HANDLE_DBC, handle, RP_CONNECT_ERROR);
}

/* The driver's file: the build's, or (any driver) the connection's. */
static const char *library_of(const rp_options *options) {
    return odbc_driver_here.library != NULL ? odbc_driver_here.library : rp_option(options, "driver_file", "");
}

bool odbc_connect(odbc_connection *connection, const rp_options *options) {
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    odbc_put_attribute(to, "DRIVER", library_of(options));
    bool good = odbc_driver_here.login(to, options);
    fclose(to);
    if (!good) {
        free(text);
        return false;
    }
    void *login = odbc_sql(text);
    SQLRETURN result =
        odbc_driver_here.wide
            ? SQLDriverConnectW(connection->handle, NULL, login, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT)
            : SQLDriverConnect(connection->handle, NULL, login, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
    free(text);
    free(login);
    if (!SQL_SUCCEEDED(result)) return connect_failed(connection->handle, library_of(options));
    char engine[64] = "";
    SQLGetInfo(connection->handle, SQL_DBMS_NAME, engine, sizeof engine, NULL);
    connection->compressed = rp_option_is(options, "compression", "zlib");
    odbc_driver_here.durations = strcmp(engine, "MariaDB") == 0 || strcmp(engine, "MySQL") == 0;
    return true;
}

static bool run_sql(odbc_connection *connection, const char *sql) {
    void *text = odbc_sql(sql);
    SQLSMALLINT columns = 0;
    SQLRETURN result = odbc_execute_direct(connection->run, text);
    free(text);
    if (SQL_SUCCEEDED(result)) SQLNumResultCols(connection->run, &columns);
    while (columns > 0 && SQL_SUCCEEDED(result))
        result = SQLFetch(connection->run); /* some drivers run a query only as far as it is fetched */
    bool good = SQL_SUCCEEDED(result) || result == SQL_NO_DATA || odbc_statement_failed(connection->run);
    SQLFreeStmt(connection->run, SQL_CLOSE);
    return good;
}

bool odbc_set_autocommit(odbc_connection *connection, bool on) {
    SQLPOINTER value = (SQLPOINTER)(uintptr_t)(on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF);
    return SQL_SUCCEEDED(SQLSetConnectAttr(connection->handle, SQL_ATTR_AUTOCOMMIT, value, 0)) ||
           odbc_fail(SQL_HANDLE_DBC, connection->handle, RP_SQL_ERROR);
}

static bool end_transaction(odbc_connection *connection, SQLSMALLINT how) {
    bool good = SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, connection->handle, how)) ||
                odbc_fail(SQL_HANDLE_DBC, connection->handle, RP_SQL_ERROR);
    return good && odbc_set_autocommit(connection, true);
}

bool odbc_run(void *opened, const char *sql) {
    odbc_connection *connection = opened;
    if (strcmp(sql, "BEGIN") == 0) return odbc_set_autocommit(connection, false);
    if (strcmp(sql, "COMMIT") == 0) return end_transaction(connection, SQL_COMMIT);
    if (strcmp(sql, "ROLLBACK") == 0) return end_transaction(connection, SQL_ROLLBACK);
    return run_sql(connection, sql);
}
