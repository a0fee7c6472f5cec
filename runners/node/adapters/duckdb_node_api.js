// DuckDB through @duckdb/node-api: asynchronous, on threads of libuv, with its own build of DuckDB.

import * as duckdb from "@duckdb/node-api";
import { Adapter } from "../core/adapter.js";
import { Typed } from "../core/codec.js";
import { Column } from "../core/column.js";
import { Unsupported } from "../core/failure.js";
import { Interval, Moment, WrittenDay, ZonedTime } from "../core/iso.js";
import { Operation } from "../core/operation.js";
import { versionOf } from "../core/packages.js";
import { deliversRows } from "../core/phase.js";
import { literal as standardLiteral, withLiterals } from "../families/sql/literals.js";
import { narrowInteger } from "../families/text/values.js";

const SETTINGS = ["threads", "TimeZone", "memory_limit", "checkpoint_threshold"];
const DAY_MS = 86_400_000;
const INTEGERS = { 16: duckdb.SMALLINT, 32: duckdb.INTEGER, 64: duckdb.BIGINT, 128: duckdb.HUGEINT };
const ENDLESS = { [Number.POSITIVE_INFINITY]: "PosInf", [Number.NEGATIVE_INFINITY]: "NegInf" };

/** A moment, or an infinite one, as a value of that class of DuckDB's. */
function momentAs(Value) {
  return (value) =>
    typeof value === "number"
      ? Value[ENDLESS[value]]
      : new Value(BigInt(value.seconds) * 1_000_000n + BigInt(Math.floor(value.nanoseconds / 1000)));
}

function refused(what) {
  throw new Unsupported(`DuckDB has no ${what}`);
}

function decimalOf(text, { precision, scale }) {
  if (!/\d/.test(text)) refused(`DECIMAL ${text}`);
  const [whole, fraction = ""] = text.split(".");
  return duckdb.decimalValue(BigInt(whole + fraction.padEnd(scale, "0")), precision, scale);
}

function intervalOf(value) {
  if (typeof value === "number") refused("infinite INTERVAL");
  return duckdb.intervalValue(value.months, value.days, BigInt(value.nanoseconds) / 1000n);
}

function listOf(value) {
  if (value.some(Array.isArray)) throw new Unsupported("a list of lists is no parameter here");
  return duckdb.listValue(value);
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
  interval: [() => duckdb.INTERVAL, intervalOf],
  uuid: [() => duckdb.UUID, (text) => duckdb.uuidValue(BigInt(`0x${text.replaceAll("-", "")}`))],
  array: [() => duckdb.LIST(duckdb.INTEGER), listOf],
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

/** Of any timestamp: TIMESTAMP_S, TIMESTAMP_MS and TIMESTAMP_NS count in units of their own. */
function toMoment(value) {
  const all = value.micros ?? microsOf(value);
  if (!value.isFinite) return all > 0n ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const micros = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return new Moment(Number((all - micros) / 1_000_000n), Number(micros) * 1000);
}

function microsOf(value) {
  return value.millis === undefined ? value.seconds * 1_000_000n : value.millis * 1000n;
}

function toFineMoment(value) {
  const all = value.nanos;
  if (!value.isFinite) return all > 0n ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const nanos = ((all % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return new Moment(Number((all - nanos) / 1_000_000_000n), Number(nanos));
}

function toDate(value) {
  if (!value.isFinite) return value.days > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const date = new Date(value.days * DAY_MS);
  return Number.isNaN(date.getTime()) ? writtenDay(value) : date;
}

/** A day that no Date holds. */
function writtenDay(value) {
  const { year, month, day } = value.toParts();
  return new WrittenDay(year, month, day);
}

const ANY = new Column({ type: "any" });

/** The elements of a list or an array: as they are where JavaScript has their type. */
function toElements({ items }, column) {
  if (typeof items.find((item) => item !== null) !== "object") return items;
  const [element = ANY] = column.fields;
  return items.map((item) => natural(item, Array.isArray(item?.items) && element.type !== "array" ? column : element));
}

/** Members by their names: an object has names that are numbers first. */
function toMembers({ entries }, { fields }) {
  if (fields.length && fields.every(({ name }) => name in entries))
    return fields.map((field) => natural(entries[field.name], field));
  return Object.values(entries).map((value, i) => natural(value, fields[i] ?? ANY));
}

function toEntries({ entries }, { fields: [key = ANY, inner = ANY] }) {
  return entries.map((entry) => [natural(entry.key, key), natural(entry.value, inner)]);
}

/** By the class of DuckDB's values: the logical type, and the natural value. */
const NATURAL = new Map([
  [duckdb.DuckDBDecimalValue, ["decimal", String]],
  [duckdb.DuckDBBlobValue, ["binary", (value) => value.bytes]],
  [duckdb.DuckDBBitValue, ["bits", String]],
  [duckdb.DuckDBDateValue, ["date", toDate]],
  [duckdb.DuckDBTimeValue, ["time", (value) => toTime(value)]],
  [duckdb.DuckDBTimeNSValue, ["time", (value) => toTime(value)]],
  [duckdb.DuckDBTimeTZValue, ["timetz", ({ micros, offset }) => new ZonedTime(Number(micros) * 1000, offset)]],
  [duckdb.DuckDBTimestampValue, ["timestamp", toMoment]],
  [duckdb.DuckDBTimestampTZValue, ["timestamptz", toMoment]],
  [duckdb.DuckDBTimestampSecondsValue, ["timestamp", toMoment]],
  [duckdb.DuckDBTimestampMillisecondsValue, ["timestamp", toMoment]],
  [duckdb.DuckDBTimestampNanosecondsValue, ["timestamp", toFineMoment]],
  [duckdb.DuckDBIntervalValue, ["interval", ({ months, days, micros }) => new Interval(months, days, micros * 1000n)]],
  [duckdb.DuckDBUUIDValue, ["uuid", String]],
  [duckdb.DuckDBListValue, ["array", toElements]],
  [duckdb.DuckDBArrayValue, ["array", toElements]],
  [duckdb.DuckDBStructValue, ["struct", toMembers]],
  [duckdb.DuckDBMapValue, ["map", toEntries]],
]);

/** The natural value of any of DuckDB's own; in a column of any type it keeps its type. */
function natural(value, column) {
  if (value instanceof duckdb.DuckDBUnionValue || value instanceof duckdb.DuckDBVariantValue)
    return natural(value.value, ANY);
  const [type, convert] = NATURAL.get(value?.constructor) ?? [];
  if (!type) return value;
  return column.type === "any" ? new Typed(type, convert(value, ANY)) : convert(value, column);
}

const toTime = (value) => Number(value.nanos ?? value.micros * 1000n);
const toAnyMoment = (value) => (value.nanos === undefined ? toMoment(value) : toFineMoment(value));

/** Of columns whose values have the class that their type has. */
const USUAL = {
  decimal: (value) => (typeof value === "object" ? value.toString() : value), // sums of integers are none
  binary: (value) => value.bytes,
  date: toDate,
  time: toTime,
  timestamp: toAnyMoment,
  timestamptz: toAnyMoment,
  uuid: (value) => value.toString(),
};
const OTHERS = new Set(["bits", "timetz", "interval", "array", "struct", "map", "any"]);

function converterOf(column) {
  if (column.type === "integer") return column.bits > 32 ? null : narrowInteger;
  return USUAL[column.type] ?? (OTHERS.has(column.type) ? (value) => natural(value, column) : null);
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
  #operation(phase, execute, args, converters) {
    if (!deliversRows(phase))
      return new Operation({ execute: (argument) => execute(argument, "run"), args, converters });
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
