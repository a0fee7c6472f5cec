// DuckDB through @duckdb/node-api: asynchronous, on threads of libuv, with its own build of DuckDB.

import * as duckdb from "@duckdb/node-api";
import { Adapter } from "../core/adapter.js";
import { Unsupported } from "../core/failure.js";
import { Moment } from "../core/iso.js";
import { Operation } from "../core/operation.js";
import { versionOf } from "../core/packages.js";
import { literal as standardLiteral, withLiterals } from "../families/sql/literals.js";
import { narrowInteger } from "../families/text/values.js";

const SETTINGS = ["threads", "TimeZone", "memory_limit", "checkpoint_threshold"];
const DAY_MS = 86_400_000;
const DAY_MICROS = 86_400_000_000n;
const INTEGERS = { 16: duckdb.SMALLINT, 32: duckdb.INTEGER, 64: duckdb.BIGINT };
const ENDLESS = { [Number.POSITIVE_INFINITY]: "PosInf", [Number.NEGATIVE_INFINITY]: "NegInf" };

/** A moment, or an infinite one, as a value of that class of DuckDB's. */
function momentAs(Value) {
  return (value) =>
    typeof value === "number"
      ? Value[ENDLESS[value]]
      : new Value(BigInt(value.seconds) * 1_000_000n + BigInt(Math.floor(value.nanoseconds / 1000)));
}

function decimalOf(text, { precision, scale }) {
  const [whole, fraction = ""] = text.split(".");
  return duckdb.decimalValue(BigInt(whole + fraction.padEnd(scale, "0")), precision, scale);
}

/** By type: what DuckDB calls it, and its own value of a natural one where that is none of JavaScript's. */
const GIVEN = {
  integer: [({ bits }) => INTEGERS[bits], (value, { bits }) => (bits > 32 ? BigInt(value) : value)],
  decimal: [({ precision, scale }) => duckdb.DECIMAL(precision, scale), decimalOf],
  float32: [() => duckdb.FLOAT],
  float64: [() => duckdb.DOUBLE],
  boolean: [() => duckdb.BOOLEAN],
  binary: [() => duckdb.BLOB, duckdb.blobValue],
  date: [
    () => duckdb.DATE,
    (value) =>
      typeof value === "number"
        ? duckdb.DuckDBDateValue[ENDLESS[value]]
        : new duckdb.DuckDBDateValue(value.getTime() / DAY_MS),
  ],
  time: [() => duckdb.TIME, (ns) => duckdb.timeValue(BigInt(Math.floor(ns / 1000)))],
  timestamp: [() => duckdb.TIMESTAMP, momentAs(duckdb.DuckDBTimestampValue)],
  timestamptz: [() => duckdb.TIMESTAMPTZ, momentAs(duckdb.DuckDBTimestampTZValue)],
  interval: [() => duckdb.INTERVAL, ([months, days, ns]) => duckdb.intervalValue(months, days, BigInt(ns) / 1000n)],
  uuid: [() => duckdb.UUID, (text) => duckdb.uuidValue(BigInt(`0x${text.replaceAll("-", "")}`))],
  array: [() => duckdb.LIST(duckdb.INTEGER), duckdb.listValue],
};
const TEXT = [() => duckdb.VARCHAR];

function typesOf(columns) {
  return columns.map((column) => (GIVEN[column.type] ?? TEXT)[0](column));
}

/** A row of natural values as DuckDB takes it. */
function given(row, columns) {
  return row.map((value, i) => {
    const own = (GIVEN[columns[i].type] ?? TEXT)[1];
    return value === null || !own ? value : own(value, columns[i]);
  });
}

/** A value as it stands inside SQL. */
function literal(value, column) {
  if (value instanceof Uint8Array) return `from_hex('${value.toString("hex")}')`;
  const own = value !== null && ["interval", "array"].includes(column.type);
  return own ? `'${GIVEN[column.type][1](value)}'` : standardLiteral(value, column);
}

/** Of any timestamp: TIMESTAMP_S and TIMESTAMP_MS count in units of their own. */
function toMoment(value) {
  const all = value.micros ?? (value.millis === undefined ? value.seconds * 1_000_000n : value.millis * 1000n);
  if (!value.isFinite) return all > 0n ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const micros = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return new Moment(Number((all - micros) / 1_000_000n), Number(micros) * 1000);
}

function toTime(value) {
  if (value.micros >= DAY_MICROS) throw new Unsupported(`${value} is no time of a day`);
  return Number(value.micros) * 1000;
}

function toDate(value) {
  if (!value.isFinite) return value.days > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return new Date(value.days * DAY_MS);
}

/** Natural values of DuckDB's own. */
const NATURAL = {
  decimal: (value) => (typeof value === "object" ? value.toString() : value), // sums of integers are none
  binary: (value) => value.bytes,
  date: toDate,
  time: toTime,
  timestamp: toMoment,
  timestamptz: toMoment,
  interval: ({ months, days, micros }) => [months, days, micros * 1000n],
  uuid: (value) => value.toString(),
  array: (value) => value.items,
};

function converterOf(column) {
  if (column.type === "integer") return column.bits > 32 ? null : narrowInteger;
  return NATURAL[column.type] ?? null;
}

/** The rows of a result that is not whole yet, chunk by chunk. */
async function* rowsOf(result) {
  yield* (await result).yieldRows();
}

export default class DuckdbNodeApi extends Adapter {
  static lacks = { timeout: "DuckDB has no statement timeout" };
  bulkWays = ["appender"];

  async connect() {
    this.opened = await this.openedAgain();
    this.connection = this.opened.connection;
  }

  /** The clients of a process share one instance: no second one may open the file. */
  async openedAgain() {
    const mode = this.options.read_only === "yes" ? { access_mode: "READ_ONLY" } : {};
    const { path, threads = "1" } = this.options;
    const instance = await duckdb.DuckDBInstance.fromCache(path, { threads, ...mode });
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    return { instance, connection };
  }

  static closed({ instance, connection }) {
    connection.closeSync();
    instance.closeSync();
  }

  async prepare(phase, parameters) {
    const { connection } = this;
    const { sql } = phase;
    const converters = phase.columns.map(converterOf);
    if (phase.kind === "connect") {
      const execute = async (opened) => (await opened.connection.run(sql)).getRows();
      return new Operation({
        execute,
        converters,
        connect: () => this.openedAgain(),
        close: DuckdbNodeApi.closed,
      });
    }
    const { statement: mode = "bound" } = this.options;
    const columns = phase.parameterColumns;
    const types = typesOf(columns);
    if (parameters && mode === "text") {
      const args = parameters.map((row) => withLiterals(sql, row, columns, literal));
      return this.#operation(phase, (text, way) => connection[way](text), args, converters);
    }
    const args = parameters?.map((row) => given(row, columns));
    if (mode === "bound")
      return this.#operation(phase, (row, way) => connection[way](sql, row, types), args, converters);
    const started = performance.now();
    const statement = await connection.prepare(sql);
    const prepareNs = Math.round((performance.now() - started) * 1e6);
    const execute = (row, way) => {
      if (row) statement.bind(row, types);
      return statement[way]();
    };
    return Object.assign(this.#operation(phase, execute, args, converters), { prepareNs });
  }

  /** `execute(argument, way)` gives a promise of a result: whole by `run`, as it is made by `stream`. */
  #operation({ columns }, execute, args, converters) {
    if (!columns.length) return new Operation({ execute: (argument) => execute(argument, "run"), args, converters });
    if (this.options.result?.startsWith("chunked"))
      return new Operation({
        execute: (argument) => rowsOf(execute(argument, "stream")),
        args,
        rows: "batches",
        converters,
      });
    const whole = async (argument) => (await execute(argument, "run")).getRows();
    return new Operation({ execute: whole, args, converters });
  }

  bulk(phase) {
    const columns = phase.parameterColumns;
    const types = typesOf(columns);
    const execute = async (rows) => {
      const appender = await this.connection.createAppender(phase.table);
      for (const row of rows) {
        given(row, columns).forEach((value, i) => appender.appendValue(value, types[i]));
        appender.endRow();
      }
      appender.closeSync();
    };
    return new Operation({ execute });
  }

  async run(statement) {
    await this.connection.run(statement);
  }

  cancel() {
    this.connection.interrupt();
  }

  async facts() {
    const rows = async (sql) => (await this.connection.run(sql)).getRows();
    const known = Object.fromEntries(await rows("SELECT name, value FROM duckdb_settings()"));
    const [[version, source]] = await rows("SELECT library_version, source_id FROM pragma_version()");
    const [[platform]] = await rows("PRAGMA platform");
    return {
      driver_version: versionOf("@duckdb/node-api"),
      engine_version: version.replace("v", ""),
      build: `${source} ${platform}`,
      settings: { autocommit: "on", ...Object.fromEntries(SETTINGS.map((name) => [name, known[name]])) },
    };
  }

  close() {
    DuckdbNodeApi.closed(this.opened);
  }

  /** The driver's errors have no code, but DuckDB's texts begin with their kind. */
  code(error) {
    return /^(.+?) Error: /.exec(error.message)?.[1] ?? super.code(error);
  }
}
