/* What a query delivers, as its driver declares it. Source: ODBC Programmer's Reference, "SQL Data Types". */
#include <stdlib.h>
#include <strings.h>

#include "odbc.h"

#define LONGEST_DECLARED 65535 /* a text whose declaration allows more has none to speak of */

typedef struct odbc_logical {
    SQLSMALLINT sql_type;
    rp_type type;
    int bits; /* of an integer */
    bool sized;
} odbc_logical;

/* NULL for a type that no column of ours is of. */
static const odbc_logical *logical_of(SQLSMALLINT sql_type) {
    static const odbc_logical known[] = {
        {SQL_BIT, RP_BOOLEAN, 0, false},
        {SQL_TINYINT, RP_INTEGER, 16, false},
        {SQL_SMALLINT, RP_INTEGER, 16, false},
        {SQL_INTEGER, RP_INTEGER, 32, false},
        {SQL_BIGINT, RP_INTEGER, 64, false},
        {SQL_DECIMAL, RP_DECIMAL, 0, false},
        {SQL_NUMERIC, RP_DECIMAL, 0, false},
        {SQL_REAL, RP_FLOAT32, 0, false},
        {SQL_FLOAT, RP_FLOAT64, 0, false},
        {SQL_DOUBLE, RP_FLOAT64, 0, false},
        {SQL_CHAR, RP_CHAR, 0, true},
        {SQL_WCHAR, RP_CHAR, 0, true},
        {SQL_VARCHAR, RP_VARCHAR, 0, true},
        {SQL_WVARCHAR, RP_VARCHAR, 0, true},
        {SQL_LONGVARCHAR, RP_TEXT, 0, false},
        {SQL_WLONGVARCHAR, RP_TEXT, 0, false},
        {SQL_BINARY, RP_BINARY, 0, true},
        {SQL_VARBINARY, RP_BINARY, 0, true},
        {SQL_LONGVARBINARY, RP_BINARY, 0, false},
        {SQL_TYPE_DATE, RP_DATE, 0, false},
        {SQL_DATE, RP_DATE, 0, false},
        {SQL_TYPE_TIME, RP_TIME, 0, false},
        {SQL_TIME, RP_TIME, 0, false},
        {SQL_TYPE_TIMESTAMP, RP_TIMESTAMP, 0, false},
        {SQL_TIMESTAMP, RP_TIMESTAMP, 0, false},
        {SQL_GUID, RP_UUID, 0, false},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].sql_type == sql_type) return &known[i];
    return NULL;
}

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names != NULL; names++)
        if (strcasecmp(name, *names) == 0) return true;
    return false;
}

/* Types that are not compared (docs/codec.md): drivers report them as text, bytes or a number. */
static bool is_opaque(const char *type_name) {
    static const char *const names[] = {"inet",    "cidr",  "macaddr", "macaddr8", "money",  "xml",    "tsvector",
                                        "tsquery", "point", "box",     "geometry", "pg_lsn", "hstore", NULL};
    return is_one_of(type_name, names);
}

static void narrow_name(const SQLWCHAR *wide, size_t count, char *to) {
    for (size_t i = 0; i < count; i++) {
        uint32_t code = wide[i];
        if ((code & 0xfc00) == 0xd800 && i + 1 < count) code = 0x10000 + ((code & 0x3ff) << 10) + (wide[++i] & 0x3ff);
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
        *to++ = (char)(heads[more] | code >> (6 * more));
        while (more-- > 0)
            *to++ = (char)(0x80 | (code >> (6 * more) & 0x3f));
    }
    *to = '\0';
}

static bool describe_column(SQLHSTMT handle, SQLUSMALLINT number, rp_description *description) {
    char name[4 * 256 + 1] = "", type_name[128] = "";
    SQLWCHAR wide[256];
    SQLSMALLINT length = 0, sql_type, digits, nullable;
    SQLULEN size;
    SQLLEN is_unsigned = SQL_FALSE;
    SQLRETURN result =
        odbc_driver_here.wide
            ? SQLDescribeColW(handle, number, wide, 256, &length, &sql_type, &size, &digits, &nullable)
            : SQLDescribeCol(handle, number, (SQLCHAR *)name, 256, &length, &sql_type, &size, &digits, &nullable);
    if (!SQL_SUCCEEDED(result)) return odbc_statement_failed(handle);
    if (odbc_driver_here.wide) narrow_name(wide, length < 255 ? (size_t)length : 255, name);
    SQLColAttribute(handle, number, SQL_DESC_TYPE_NAME, type_name, sizeof type_name, NULL, NULL);
    const odbc_logical *logical = logical_of(sql_type);
    rp_column column = {.name = name, .type = RP_OPAQUE, .bits = 32, .nullable = true};
    if (logical == NULL || is_opaque(type_name)) {
        rp_describe(description, &column, type_name);
        return true;
    }
    column.type = logical->type;
    column.bits = logical->bits > 0 ? logical->bits : 32;
    if (logical->sized && size <= LONGEST_DECLARED) column.length = (int)size;
    if (column.type == RP_VARCHAR && column.length == 0) column.type = RP_TEXT;
    if (column.type == RP_INTEGER) SQLColAttribute(handle, number, SQL_DESC_UNSIGNED, NULL, 0, NULL, &is_unsigned);
    if (is_unsigned == SQL_TRUE && sql_type != SQL_TINYINT) {
        column.bits = 2 * column.bits;
    } else if (strcasecmp(type_name, "year") == 0) {
        column.bits = 16;
    } else if (column.type == RP_BINARY && strcasecmp(type_name, "bit") == 0) {
        column.type = RP_BITS;
    } else if (column.type == RP_DECIMAL) {
        column.precision = (int)size;
        column.scale = digits;
    }
    rp_describe(description, &column, type_name);
    return true;
}

bool odbc_describe(void *opened, const char *sql, rp_description *description) {
    odbc_connection *connection = opened;
    SQLHSTMT handle;
    SQLSMALLINT count = 0;
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, connection->handle, &handle)))
        return odbc_fail(SQL_HANDLE_DBC, connection->handle, RP_SQL_ERROR);
    void *text = odbc_sql(sql);
    SQLRETURN result = odbc_driver_here.wide ? SQLPrepareW(handle, text, SQL_NTS) : SQLPrepare(handle, text, SQL_NTS);
    free(text);
    if (SQL_SUCCEEDED(result)) result = SQLNumResultCols(handle, &count);
    bool good = SQL_SUCCEEDED(result) || odbc_statement_failed(handle);
    for (SQLSMALLINT i = 1; good && i <= count; i++)
        good = describe_column(handle, (SQLUSMALLINT)i, description);
    SQLFreeHandle(SQL_HANDLE_STMT, handle);
    return good;
}
