// What the drivers of PostgreSQL have in common: where the server is, values, COPY, facts, columns of a query.

import { Adapter } from "../../core/adapter.js";
import { certificates } from "../../core/certificates.js";
import { Misfit, Unsupported } from "../../core/failure.js";
import { Operation } from "../../core/operation.js";
import { toInteger } from "../../core/touch.js";
import { literal, asParameter, asParameters, withLiterals } from "../sql/literals.js";
import { numbered } from "../sql/placeholders.js";
import { FROM_TEXT, WIDE_INTEGER } from "../text/values.js";
import { arrayConverter } from "./arrays.js";

const SHOWN = ["server_version", "TimeZone", "fsync", "synchronous_commit", "default_transaction_isolation"];
// A role that the session has set may not see its own row there.
const TLS = `SELECT coalesce(max(CASE WHEN ssl THEN 'on' ELSE 'off' END), 'unknown')
  FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
const ESCAPED = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Types whose text the adapter takes: the drivers' own values lose microseconds or digits, or are no text (JSON). */
export const AS_TEXT = {
  json: [114, 3802, 199, 3807],
  moment: [1082, 1083, 1114, 1184, 1186, 1266],
  moments: [1115, 1182, 1183, 1185, 1187, 1270],
  numbers: [1005, 1007, 1016, 1231],
};
const TEXTS = new Set(Object.values(AS_TEXT).flat());
const asIs = (text) => text;
/** What every session is opened with. */
export const SESSION = { TimeZone: "UTC", DateStyle: "ISO", IntervalStyle: "iso_8601" };

/** The same as one of libpq's options. */
export const SESSION_OPTIONS = Object.entries(SESSION)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(" ");

/** The parsers of pg-types, but for types whose text the adapter takes. */
export function parsersBeside(types) {
  return { getTypeParser: (type, format) => (TEXTS.has(type) ? asIs : types.getTypeParser(type, format)) };
}

/** A value as COPY reads it. */
function field(value, column) {
  if (value === null) return "\\N";
  if (typeof value === "boolean") return value ? "t" : "f";
  if (value instanceof Uint8Array) return `\\\\x${value.toString("hex")}`;
  return String(asParameter(value, column)).replace(/[\\\t\n\r]/g, (sign) => ESCAPED[sign]);
}

/** Rows as COPY's text. */
function copyText(rows, columns) {
  return rows.map((row) => `${row.map((value, i) => field(value, columns[i])).join("\t")}\n`).join("");
}

/** The COPY that stores rows in the phase's table. */
function copyCommand(phase) {
  return `COPY ${phase.table} (${phase.parameterColumns.map((column) => column.name).join(", ")}) FROM STDIN`;
}

/** What these drivers have in common; `all(sql)` gives a query's rows as arrays. */
export class PostgresqlAdapter extends Adapter {
  bulkWays = ["copy"];

  get statement() {
    return this.options.statement ?? "bound";
  }

  /** Whether a connection begins without settings of ours: a pooler may refuse them. */
  get plain() {
    return this.options.startup === "plain";
  }

  /** What both drivers take as `ssl`: undefined is their own choice. Unsupported where there is no TLS. */
  get ssl() {
    const { tls = "off", transport } = this.options;
    if (tls === "off") return false;
    if (tls === "default") return undefined;
    if (transport === "unix") throw new Unsupported("PostgreSQL has no TLS on a unix socket: use transport=tcp");
    return certificates(this.options);
  }

  /** Where the server is and who logs in, by the names that all of these drivers use. */
  get address() {
    const { transport, host, socket_dir: folder, port, user, password, database } = this.options;
    return { host: transport === "unix" ? folder : host, port: Number(port), user, password, database };
  }

  /** The n of `result=cursor:n`; 0 for every other result. */
  get cursorRows() {
    const [kind, size] = (this.options.result ?? "whole").split(":");
    return kind === "cursor" ? Number(size) : 0;
  }

  /** The SQL with the driver's placeholders: without parameters a ? may be an operator. */
  placed(phase) {
    return phase.parameterColumns.length ? numbered(phase.sql) : phase.sql;
  }

  /** What is executed for each row of parameters: SQL that holds the values, or the values. */
  arguments(phase, parameters) {
    const columns = phase.parameterColumns;
    if (this.statement === "text") return parameters.map((row) => withLiterals(phase.sql, row, columns, literal));
    return parameters.map((row) => asParameters(row, columns));
  }

  converters(phase) {
    return phase.columns.map((column) => {
      if (column.type === "integer" && column.bits > 32) return WIDE_INTEGER;
      if (column.type === "array") {
        const { type } = column.fields[0];
        return arrayConverter(column, type === "integer" ? toInteger : FROM_TEXT[type]);
      }
      return FROM_TEXT[column.type] ?? null;
    });
  }

  /** By the driver's own `copy(command, text)`. */
  bulk(phase) {
    const command = copyCommand(phase);
    return new Operation({ execute: (rows) => this.copy(command, copyText(rows, phase.parameterColumns)) });
  }

  setTimeout(milliseconds) {
    return this.run(`SET statement_timeout = ${milliseconds}`);
  }

  async facts() {
    const settings = { autocommit: (await this.one("SELECT now() = statement_timestamp()")) ? "on" : "off" };
    for (const name of SHOWN) settings[name] = await this.one(`SELECT current_setting('${name}')`);
    settings.tls = await this.one(TLS);
    settings.client_encoding = await this.one("SELECT current_setting('client_encoding')");
    return { engine_version: settings.server_version, build: await this.one("SELECT version()"), settings };
  }

  async one(sql) {
    const [row] = await this.all(sql);
    if (!row) throw new Misfit(`no row of ${sql}`);
    return row[0];
  }
}
