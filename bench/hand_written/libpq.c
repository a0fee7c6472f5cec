/* PostgreSQL through libpq, the result whole, values as text: a prepared
 * statement, or (statement=text) queries with the key inside. */
#include <libpq-fe.h>

#include "common.h"

static PGconn *connection;

static PGresult *checked(PGresult *result, ExecStatusType wanted) {
  if (PQresultStatus(result) != wanted)
    die(PQerrorMessage(connection));
  return result;
}

static char *texts[MOST_KEYS]; /* as `keys` */

static uint64_t take_pairs(PGresult *result) {
  uint64_t touch = 0;
  int rows = PQntuples(result);
  for (int row = 0; row < rows; row++) {
    touch +=
        text_touch(PQgetvalue(result, row, 0), PQgetlength(result, row, 0));
    touch +=
        text_touch(PQgetvalue(result, row, 1), PQgetlength(result, row, 1));
  }
  PQclear(result);
  return touch;
}

static uint64_t keyed(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++) {
    const char *key[] = {keys[i % key_count]};
    touch += take_pairs(
        checked(PQexecPrepared(connection, "query", 1, key, NULL, NULL, 0),
                PGRES_TUPLES_OK));
  }
  return touch;
}

static uint64_t keyed_text(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++)
    touch += take_pairs(
        checked(PQexec(connection, texts[i % key_count]), PGRES_TUPLES_OK));
  return touch;
}

static uint64_t take_hits(PGresult *result) {
  uint64_t touch = 0;
  int rows = PQntuples(result);
  for (int row = 0; row < rows; row++) {
    for (int column = 0; column < 3; column++)
      touch += text_touch(PQgetvalue(result, row, column),
                          PQgetlength(result, row, column));
    touch += second_of(timestamp_us(PQgetvalue(result, row, 3)));
    touch += (uint64_t)integer_of(PQgetvalue(result, row, 4));
    touch += PQgetisnull(result, row, 5)
                 ? 1
                 : (uint64_t)integer_of(PQgetvalue(result, row, 5));
    touch += (uint64_t)integer_of(PQgetvalue(result, row, 6));
  }
  PQclear(result);
  return touch;
}

static uint64_t scan(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++)
    touch += take_hits(
        checked(PQexecPrepared(connection, "query", 0, NULL, NULL, NULL, 0),
                PGRES_TUPLES_OK));
  return touch;
}

static uint64_t scan_text(long operations) {
  const char *sql = setting("sql");
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++)
    touch += take_hits(checked(PQexec(connection, sql), PGRES_TUPLES_OK));
  return touch;
}

/* The query with each key, quoted, in its placeholder's stead. */
static void make_texts(void) {
  const char *sql = setting("sql"), *place = strstr(sql, "$1");
  if (place == NULL)
    die("the query has no $1");
  for (int i = 0; i < key_count; i++) {
    char *quoted = PQescapeLiteral(connection, keys[i], strlen(keys[i]));
    if (quoted == NULL || asprintf(&texts[i], "%.*s%s%s", (int)(place - sql),
                                   sql, quoted, place + 2) < 0)
      die("a key cannot be quoted");
    PQfreemem(quoted);
  }
}

int main(void) {
  read_settings();
  const char *const name[] = {"host",   "port",    "user",       "password",
                              "dbname", "sslmode", "gssencmode", NULL};
  bool by_socket = strcmp(setting("transport"), "unix") == 0;
  const char *host = setting(by_socket ? "socket_dir" : "host");
  const char *const value[] = {host,
                               setting("port"),
                               setting("user"),
                               setting("password"),
                               setting("database"),
                               "disable",
                               "disable",
                               NULL};
  connection = PQconnectdbParams(name, value, 0);
  if (PQstatus(connection) != CONNECTION_OK)
    die(PQerrorMessage(connection));
  bool by_key = setting("keys") != NULL;
  if (by_key)
    read_keys(setting("keys"));
  if (strcmp(setting("statement"), "text") == 0) {
    if (by_key)
      make_texts();
    serve(by_key ? keyed_text : scan_text);
  } else {
    PQclear(checked(PQprepare(connection, "query", setting("sql"), 0, NULL),
                    PGRES_COMMAND_OK));
    serve(by_key ? keyed : scan);
  }
  PQfinish(connection);
  return 0;
}
