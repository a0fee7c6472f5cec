/* What the live connection reports of itself. */
#include <stdlib.h>

#include <odbcinst.h>

#include "odbc.h"

static SQLRETURN execute(odbc_connection *connection, const char *query) {
    void *sql = odbc_sql(query);
    SQLRETURN result = odbc_execute_direct(connection->run, sql);
    free(sql);
    return result;
}

/* A fact for each row (name, value) of the query. */
static void facts_from_query(odbc_connection *connection, rp_facts *facts) {
    SQLCHAR name[128], value[256];
    SQLLEN name_length, value_length;
    if (odbc_driver_here.settings == NULL) return;
    SQLRETURN result = execute(connection, odbc_driver_here.settings);
    while (SQL_SUCCEEDED(result) && SQL_SUCCEEDED(result = SQLFetch(connection->run))) {
        SQLGetData(connection->run, 1, SQL_C_CHAR, name, sizeof name, &name_length);
        SQLGetData(connection->run, 2, SQL_C_CHAR, value, sizeof value, &value_length);
        if (value_length == SQL_NULL_DATA) continue;
        rp_fact(facts, (const char *)name, (const char *)value);
    }
    SQLFreeStmt(connection->run, SQL_CLOSE);
}

/* A setting: `on` where the query of (name, value) delivers the value `on`, or any value where that is NULL. */
static void switched(odbc_connection *connection, rp_facts *facts, const char *setting, const char *query,
                     const char *on) {
    SQLCHAR value[32] = "";
    SQLLEN length;
    if (query == NULL) return;
    if (SQL_SUCCEEDED(execute(connection, query)) && SQL_SUCCEEDED(SQLFetch(connection->run)))
        SQLGetData(connection->run, 2, SQL_C_CHAR, value, sizeof value, &length);
    SQLFreeStmt(connection->run, SQL_CLOSE);
    rp_setting(facts, setting, (on == NULL ? value[0] != 0 : strcmp((const char *)value, on) == 0) ? "on" : "off");
}

void odbc_facts(void *opened, rp_facts *facts) {
    odbc_connection *connection = opened;
    SQLHDBC handle = connection->handle;
    char text[256] = "", threading[16] = "";
    SQLUINTEGER autocommit = SQL_AUTOCOMMIT_ON;
    SQLGetInfo(handle, SQL_DRIVER_VER, text, sizeof text, NULL);
    rp_driver_version(facts, text);
    SQLGetInfo(handle, SQL_DBMS_VER, text, sizeof text, NULL);
    rp_engine_version(facts, text);
    SQLGetInfo(handle, SQL_DM_VER, text, sizeof text, NULL);
    rp_library(facts, "driver manager", text);
    SQLGetInfo(handle, SQL_DRIVER_ODBC_VER, text, sizeof text, NULL);
    rp_setting(facts, "driver_odbc", text);
    SQLGetConnectAttr(handle, SQL_ATTR_AUTOCOMMIT, &autocommit, 0, NULL);
    rp_setting(facts, "autocommit", autocommit == SQL_AUTOCOMMIT_ON ? "on" : "off");
    /* What the manager itself reads for a driver that is named by its file. */
    SQLGetPrivateProfileString("ODBC", "Threading", "0", threading, sizeof threading, "odbcinst.ini");
    rp_setting(facts, "threading", threading);
    facts_from_query(connection, facts);
    switched(connection, facts, "tls", odbc_driver_here.encryption, NULL);
    if (connection->compressed) switched(connection, facts, "compression", odbc_driver_here.compression, "ON");
}
