// SQLite through better-sqlite3: synchronous, with its own build of SQLite.

import Database from "better-sqlite3";
import { Adapter } from "../core/adapter.js";
import { Unsupported } from "../core/failure.js";
import { Operation } from "../core/operation.js";
import { versionOf } from "../core/packages.js";
import { asParameter, withLiterals } from "../families/sql/literals.js";
import { FROM_TEXT, narrowInteger, WIDE_INTEGER } from "../families/text/values.js";

const NUMBERS = ["integer", "boolean", "float32", "float64"];
const ABSENT = ["interval", "uuid", "array", "timestamptz"];

/** A parameter as SQLite keeps it. */
function ready(value, column) {
  if (typeof value === "boolean") return Number(value);
  if (column.type === "integer" && value !== null) return BigInt(value); // a number would be a REAL
  return asParameter(value, column);
}

function literal(value, column) {
  if (value === null) return "NULL";
  if (value instanceof Uint8Array) return `X'${value.toString("hex")}'`;
  const given = ready(value, column);
  return typeof given === "string" ? `'${given.replaceAll("'", "''")}'` : String(given);
}

export default class BetterSqlite3 extends Adapter {
  static concurrency = "threads";
  static lacks = {
    cancel: "better-sqlite3 is synchronous and has no way to interrupt a statement",
    timeout: "SQLite has no statement timeout; busy_timeout only limits the wait for a lock",
  };

  connect() {
    this.database = this.opened();
  }

  opened() {
    const database = new Database(this.need("path"), { readonly: this.options.read_only === "yes", timeout: 60_000 });
    if (this.options.durability === "none") {
      database.pragma("synchronous = OFF");
    } else {
      database.pragma("journal_mode = WAL");
      database.pragma("synchronous = FULL");
    }
    return database;
  }

  prepare(phase, parameters) {
    const wide = phase.columns.some((column) => column.type === "integer" && column.bits > 32);
    const converters = phase.columns.map((column) => this.#converter(column, wide));
    const rows = "here";
    const prepared = (database, sql) => {
      const statement = database.prepare(sql);
      return statement.reader ? statement.raw().safeIntegers(wide) : statement;
    };
    const method = !phase.columns.length ? "run" : this.options.result === "single-row" ? "iterate" : "all";
    const { database } = this;
    const { sql } = phase;
    if (phase.kind === "connect") {
      const execute = (other) => prepared(other, sql).all();
      return new Operation({
        execute,
        rows,
        converters,
        connect: () => this.opened(),
        close: (other) => other.close(),
      });
    }
    const { statement: mode = "prepared" } = this.options;
    const columns = phase.parameterColumns;
    if (parameters && mode === "text") {
      const args = parameters.map((row) => withLiterals(sql, row, columns, literal));
      return new Operation({ execute: (text) => prepared(database, text)[method](), args, rows, converters });
    }
    const args = parameters?.map((row) => row.map((value, i) => ready(value, columns[i]))) ?? [[]];
    if (mode === "bound")
      return new Operation({ execute: (row) => prepared(database, sql)[method](...row), args, rows, converters });
    const started = performance.now();
    const statement = prepared(database, sql);
    const prepareNs = Math.round((performance.now() - started) * 1e6);
    return new Operation({ execute: (row) => statement[method](...row), args, rows, converters, prepareNs });
  }

  #converter(column, wide) {
    if (ABSENT.includes(column.type)) throw new Unsupported(`column ${column.name}: SQLite has no ${column.type}`);
    if (column.type === "integer" && column.bits > 32) return WIDE_INTEGER;
    if (wide && NUMBERS.includes(column.type)) return narrowInteger; // with one wide column every integer is a BigInt
    return FROM_TEXT[column.type] ?? null;
  }

  transaction(phase) {
    if (!phase.transaction) return null;
    const [begin, commit, rollback] = ["BEGIN", "COMMIT", "ROLLBACK"].map((sql) => this.database.prepare(sql));
    return { begin: () => begin.run(), commit: () => commit.run(), rollback: () => rollback.run() };
  }

  run(statement) {
    this.database.exec(statement);
  }

  facts() {
    const { database } = this;
    const value = (sql) => database.prepare(sql).pluck().get();
    const settings = { autocommit: database.inTransaction ? "off" : "on" };
    for (const name of ["journal_mode", "cache_size", "threads", "synchronous"]) {
      settings[name] = database.pragma(name, { simple: true });
    }
    const [engine_version, build] = [value("SELECT sqlite_version()"), value("SELECT sqlite_source_id()")];
    return { driver_version: versionOf("better-sqlite3"), engine_version, build, settings };
  }

  close() {
    this.database.close();
  }
}
