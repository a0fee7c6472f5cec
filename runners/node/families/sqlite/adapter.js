// What the synchronous drivers of SQLite have in common: values, statements, how durability is set, facts.

import { Adapter } from "../../core/adapter.js";
import { Operation } from "../../core/operation.js";
import { asParameter, withLiterals } from "../sql/literals.js";
import { FROM_TEXT, narrowInteger } from "../text/values.js";

const SMALL = ["integer", "boolean"]; // where a BigInt for each value would take time
export const LOCK_TIMEOUT_MS = 60_000;

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

/**
 * What these drivers have in common. `connected(path, readOnly)` opens a file; `prepared(database, sql, wide)` gives a
 * statement whose `all`, `iterate` and `run` take the values, with rows as arrays and, if wide, integers as BigInts.
 */
export class SqliteAdapter extends Adapter {
  static concurrency = "threads";

  connect() {
    this.database = this.opened();
  }

  opened() {
    const database = this.connected(this.need("path"), this.options.read_only === "yes");
    const settings =
      this.options.durability === "none" ? ["synchronous = OFF"] : ["journal_mode = WAL", "synchronous = FULL"];
    for (const setting of settings) database.exec(`PRAGMA ${setting}`);
    return database;
  }

  prepare(phase, parameters) {
    const { columns: delivered } = phase;
    const wide =
      delivered.some(({ type, bits }) => type === "any" || (type === "integer" && bits > 32)) ||
      (delivered.length > 0 && !delivered.some(({ type }) => SMALL.includes(type)));
    const converters = delivered.map((column) => this.#converter(column, wide));
    const rows = "here";
    const method = !phase.columns.length ? "run" : this.options.result === "single-row" ? "iterate" : "all";
    const { database } = this;
    const { sql } = phase;
    if (phase.kind === "connect") {
      const execute = (other) => this.prepared(other, sql, wide).all();
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
      return new Operation({
        execute: (text) => this.#executed(this.prepared(database, text, wide), method, []),
        args,
        rows,
        converters,
      });
    }
    const args = parameters?.map((row) => row.map((value, i) => ready(value, columns[i]))) ?? [[]];
    if (mode === "bound") {
      const execute = (row) => this.#executed(this.prepared(database, sql, wide), method, row);
      return new Operation({ execute, args, rows, converters });
    }
    const started = performance.now();
    const statement = this.prepared(database, sql, wide);
    const prepareNs = Math.round((performance.now() - started) * 1e6);
    return new Operation({
      execute: (row) => this.#executed(statement, method, row),
      args,
      rows,
      converters,
      prepareNs,
    });
  }

  #executed(statement, method, row) {
    try {
      return statement[method](...row);
    } catch (error) {
      return this.readOtherwise(error, statement, row);
    }
  }

  /** The rows of a statement that failed when it was read in the usual way, if the driver has another one. */
  readOtherwise(error) {
    throw error;
  }

  #converter(column, wide) {
    if (column.type === "integer" && column.bits > 32) return null;
    if (wide && SMALL.includes(column.type)) return narrowInteger; // with one wide column every integer is a BigInt
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

  one(sql) {
    return this.prepared(this.database, sql, false).all()[0][0];
  }

  /** `inTransaction` is the driver's word for whether a transaction is open. */
  facts(inTransaction, driverVersion) {
    const settings = { autocommit: inTransaction ? "off" : "on" };
    for (const name of ["journal_mode", "cache_size", "threads", "synchronous"]) {
      settings[name] = this.one(`PRAGMA ${name}`);
    }
    const [engine_version, build] = [this.one("SELECT sqlite_version()"), this.one("SELECT sqlite_source_id()")];
    return { driver_version: driverVersion, engine_version, build, settings };
  }

  close() {
    this.database.close();
  }
}
