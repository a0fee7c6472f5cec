/* PostgreSQL through libpq: a prepared statement, the result whole, values as
 * text. */
#include <libpq-fe.h>

#include "common.h"

static PGconn *connection;

static PGresult *checked(PGresult *result, ExecStatusType wanted) {
  if (PQresultStatus(result) != wanted)
    die(PQerrorMessage(connection));
  return result;
}

static uint64_t keyed(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++) {
    const char *key[] = {keys[i % key_count]};
    PGresult *result =
        checked(PQexecPrepared(connection, "query", 1, key, NULL, NULL, 0),
                PGRES_TUPLES_OK);
    int rows = PQntuples(result);
    for (int row = 0; row < rows; row++) {
      touch +=
          text_touch(PQgetvalue(result, row, 0), PQgetlength(result, row, 0));
      touch +=
          text_touch(PQgetvalue(result, row, 1), PQgetlength(result, row, 1));
    }
    PQclear(result);
  }
  return touch;
}

static uint64_t scan(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++) {
    PGresult *result =
        checked(PQexecPrepared(connection, "query", 0, NULL, NULL, NULL, 0),
                PGRES_TUPLES_OK);
    int rows = PQntuples(result);
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < 3; column++)
        touch += text_touch(PQgetvalue(result, row, column),
                            PQgetlength(result, row, column));
      touch += second_of(timestamp_us(PQgetvalue(result, row, 3)));
      touch += (uint64_t)atoi(PQgetvalue(result, row, 4));
      touch += PQgetisnull(result, row, 5)
                   ? 1
                   : (uint64_t)atoi(PQgetvalue(result, row, 5));
      touch += (uint64_t)atoi(PQgetvalue(result, row, 6));
    }
    PQclear(result);
  }
  return touch;
}

int main(void) {
  read_settings();
  const char *const name[] = {"host",   "port",    "user",       "password",
                              "dbname", "sslmode", "gssencmode", NULL};
  const char *const value[] = {setting("host"),     setting("port"),
                               setting("user"),     setting("password"),
                               setting("database"), "disable",
                               "disable",           NULL};
  connection = PQconnectdbParams(name, value, 0);
  if (PQstatus(connection) != CONNECTION_OK)
    die(PQerrorMessage(connection));
  PQclear(checked(PQprepare(connection, "query", setting("sql"), 0, NULL),
                  PGRES_COMMAND_OK));
  if (setting("keys") != NULL)
    read_keys(setting("keys"));
  serve(setting("keys") != NULL ? keyed : scan);
  PQfinish(connection);
  return 0;
}
