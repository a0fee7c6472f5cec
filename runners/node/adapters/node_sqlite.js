// SQLite through node:sqlite: synchronous, the module of Node itself, with its own build of SQLite.

import { DatabaseSync } from "node:sqlite";
import { LOCK_TIMEOUT_MS, SqliteAdapter } from "../families/sqlite/adapter.js";
import { narrowInteger } from "../families/text/values.js";

export default class NodeSqlite extends SqliteAdapter {
  static lacks = {
    cancel: "node:sqlite is synchronous and has no way to interrupt a statement",
    timeout: "SQLite has no statement timeout; busy_timeout only limits the wait for a lock",
  };

  connected(path, readOnly) {
    return new DatabaseSync(path, { readOnly, timeout: LOCK_TIMEOUT_MS });
  }

  prepared(database, sql, wide) {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(wide);
    return statement;
  }

  /** Node refuses an integer that no number holds, unless every integer is a BigInt. */
  readOtherwise(error, statement, row) {
    if (error.code !== "ERR_OUT_OF_RANGE") throw error;
    statement.setReadBigInts(true);
    try {
      return statement
        .all(...row)
        .map((each) => each.map((value) => (typeof value === "bigint" ? narrowInteger(value) : value)));
    } finally {
      statement.setReadBigInts(false);
    }
  }

  facts() {
    return super.facts(this.database.isTransaction, process.versions.node);
  }

  code(error) {
    return error.errcode ?? super.code(error);
  }
}
