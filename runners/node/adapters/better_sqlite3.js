// SQLite through better-sqlite3: synchronous, with its own build of SQLite.

import Database from "better-sqlite3";
import { versionOf } from "../core/packages.js";
import { LOCK_TIMEOUT_MS, SqliteAdapter } from "../families/sqlite/adapter.js";

export default class BetterSqlite3 extends SqliteAdapter {
  static lacks = {
    cancel: "better-sqlite3 is synchronous and has no way to interrupt a statement",
    timeout: "SQLite has no statement timeout; busy_timeout only limits the wait for a lock",
  };

  connected(path, readonly) {
    return new Database(path, { readonly, timeout: LOCK_TIMEOUT_MS });
  }

  prepared(database, sql, wide) {
    const statement = database.prepare(sql);
    return statement.reader ? statement.raw().safeIntegers(wide) : statement;
  }

  facts() {
    return super.facts(this.database.inTransaction, versionOf("better-sqlite3"));
  }
}
