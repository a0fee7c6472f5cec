/* SQLite through its C API: a prepared statement; a timestamp is kept as text.
 */
#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#else
#include "sqlite3_declarations.h"
#endif

#include "common.h"

static sqlite3 *database;
static sqlite3_stmt *query;

static inline uint64_t text_of(int column) {
  const char *text = (const char *)sqlite3_column_text(query, column);
  return text_touch(text, sqlite3_column_bytes(query, column));
}

static void end(int result) {
  if (result != SQLITE_DONE)
    die(sqlite3_errmsg(database));
  sqlite3_reset(query);
}

static uint64_t keyed(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++) {
    int result;
    sqlite3_bind_text(query, 1, keys[i % key_count], -1, SQLITE_STATIC);
    while ((result = sqlite3_step(query)) == SQLITE_ROW)
      touch += text_of(0) + text_of(1);
    end(result);
  }
  return touch;
}

static uint64_t scan(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++) {
    int result;
    while ((result = sqlite3_step(query)) == SQLITE_ROW) {
      touch += text_of(0) + text_of(1) + text_of(2);
      touch +=
          second_of(timestamp_us((const char *)sqlite3_column_text(query, 3)));
      touch += (uint64_t)sqlite3_column_int64(query, 4);
      bool null = sqlite3_column_type(query, 5) == SQLITE_NULL;
      touch += null ? 1 : (uint64_t)sqlite3_column_int64(query, 5);
      touch += (uint64_t)sqlite3_column_int64(query, 6);
    }
    end(result);
  }
  return touch;
}

int main(void) {
  read_settings();
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(setting("path"), &database, flags, NULL) != SQLITE_OK)
    die(sqlite3_errmsg(database));
  if (sqlite3_prepare_v2(database, setting("sql"), -1, &query, NULL) !=
      SQLITE_OK)
    die(sqlite3_errmsg(database));
  if (setting("keys") != NULL)
    read_keys(setting("keys"));
  serve(setting("keys") != NULL ? keyed : scan);
  sqlite3_finalize(query);
  sqlite3_close(database);
  return 0;
}
