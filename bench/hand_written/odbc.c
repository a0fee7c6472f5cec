/* Any engine through its ODBC driver: a prepared statement, columns bound once,
 * rows fetched one by one. */
#include <pthread.h>

#include <sql.h>
#include <sqlext.h>

#include "common.h"

static SQLHDBC connection;
static SQLHSTMT query;
static bool timestamp_is_text;

static char type[41], file[321], browser[41], timestamp_text[65];
static SQL_TIMESTAMP_STRUCT timestamp;
static SQLINTEGER size, user, place;
static SQLLEN type_length, file_length, browser_length, timestamp_length,
    size_length, user_length, place_length;

static char key[11], key_found[41], data[121];
static SQLLEN key_length, key_found_length, data_length;

static void check(SQLRETURN result, SQLSMALLINT kind, SQLHANDLE handle) {
  SQLCHAR state[6], text[1024] = "";
  SQLSMALLINT length;
  SQLINTEGER native;
  if (SQL_SUCCEEDED(result))
    return;
  SQLGetDiagRec(kind, handle, 1, state, &native, text, sizeof text, &length);
  die((const char *)text);
}

static void column(int number, SQLSMALLINT c_type, void *to, SQLLEN room,
                   SQLLEN *length) {
  check(SQLBindCol(query, number, c_type, to, room, length), SQL_HANDLE_STMT,
        query);
}

static void execute(void) {
  check(SQLExecute(query), SQL_HANDLE_STMT, query);
}

static bool fetch(void) {
  SQLRETURN result = SQLFetch(query);
  if (result == SQL_NO_DATA)
    return false;
  check(result, SQL_HANDLE_STMT, query);
  return true;
}

static uint64_t keyed(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++) {
    key_length = strlen(keys[i % key_count]);
    memcpy(key, keys[i % key_count], key_length);
    execute();
    while (fetch())
      touch += text_touch(key_found, key_found_length) +
               text_touch(data, data_length);
    SQLFreeStmt(query, SQL_CLOSE);
  }
  return touch;
}

static int64_t taken_us(void) {
  if (timestamp_is_text)
    return timestamp_us(timestamp_text);
  return seconds_of(timestamp.year, timestamp.month, timestamp.day,
                    timestamp.hour, timestamp.minute, timestamp.second) *
             1000000 +
         timestamp.fraction / 1000;
}

static uint64_t scan(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++) {
    execute();
    while (fetch()) {
      touch += text_touch(type, type_length) + text_touch(file, file_length) +
               text_touch(browser, browser_length);
      touch += second_of(taken_us());
      touch += (uint64_t)size;
      touch += user_length == SQL_NULL_DATA ? 1 : (uint64_t)user;
      touch += (uint64_t)place;
    }
    SQLFreeStmt(query, SQL_CLOSE);
  }
  return touch;
}

static void bind_keyed(void) {
  read_keys(setting("keys"));
  check(SQLBindParameter(query, 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_CHAR, 10, 0,
                         key, sizeof key, &key_length),
        SQL_HANDLE_STMT, query);
  column(1, SQL_C_CHAR, key_found, sizeof key_found, &key_found_length);
  column(2, SQL_C_CHAR, data, sizeof data, &data_length);
}

static void bind_scan(void) {
  column(1, SQL_C_CHAR, type, sizeof type, &type_length);
  column(2, SQL_C_CHAR, file, sizeof file, &file_length);
  column(3, SQL_C_CHAR, browser, sizeof browser, &browser_length);
  if (timestamp_is_text)
    column(4, SQL_C_CHAR, timestamp_text, sizeof timestamp_text,
           &timestamp_length);
  else
    column(4, SQL_C_TYPE_TIMESTAMP, &timestamp, sizeof timestamp,
           &timestamp_length);
  column(5, SQL_C_SLONG, &size, sizeof size, &size_length);
  column(6, SQL_C_SLONG, &user, sizeof user, &user_length);
  column(7, SQL_C_SLONG, &place, sizeof place, &place_length);
}

static void *loop(void *nothing) {
  serve(setting("keys") != NULL ? keyed : scan);
  return nothing;
}

/* The loop runs in a thread of its own, as ours does: in a process with two
 * threads libc's malloc takes its locks, which drivers that allocate feel. */
int main(void) {
  pthread_t thread;
  SQLHENV environment;
  char login[2048];
  read_settings();
  timestamp_is_text = setting("timestamp_is_text") != NULL;
  snprintf(login, sizeof login, "DRIVER=%s;%s", setting("driver"),
           setting("url"));
  SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment);
  SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3,
                0);
  SQLAllocHandle(SQL_HANDLE_DBC, environment, &connection);
  check(SQLDriverConnect(connection, NULL, (SQLCHAR *)login, SQL_NTS, NULL, 0,
                         NULL, SQL_DRIVER_NOPROMPT),
        SQL_HANDLE_DBC, connection);
  SQLAllocHandle(SQL_HANDLE_STMT, connection, &query);
  check(SQLPrepare(query, (SQLCHAR *)setting("sql"), SQL_NTS), SQL_HANDLE_STMT,
        query);
  if (setting("keys") != NULL)
    bind_keyed();
  else
    bind_scan();
  if (pthread_create(&thread, NULL, loop, NULL) != 0)
    die("no thread");
  pthread_join(thread, NULL);
  SQLFreeHandle(SQL_HANDLE_STMT, query);
  SQLDisconnect(connection);
  SQLFreeHandle(SQL_HANDLE_DBC, connection);
  SQLFreeHandle(SQL_HANDLE_ENV, environment);
  return 0;
}
