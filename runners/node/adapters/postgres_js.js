// PostgreSQL through Postgres.js: text results; one connection of its pool for each client.

import postgres from "postgres";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { Operation } from "../core/operation.js";
import { Unsupported } from "../core/failure.js";
import { versionOf } from "../core/packages.js";
import { deliversRows } from "../core/phase.js";
import { AS_TEXT, PostgresqlAdapter, SESSION } from "../families/postgresql/adapter.js";

const SENT_AT_MOST = 100; // before answers, unless max_pipeline says otherwise
const SETTINGS = ["connect_timeout", "keep_alive"]; // seconds
const asIs = (value) => value;
const kept = ([to, ...others]) => ({ to, from: [to, ...others], serialize: asIs, parse: asIs });
const types = Object.fromEntries(
  Object.entries(AS_TEXT).flatMap(([name, oids]) => oids.map((oid) => [name + oid, kept([oid])])),
);

async function opened(options) {
  const sql = postgres(options);
  try {
    await sql.unsafe("SELECT 1"); // it connects with the first query
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw error;
  }
  return sql;
}

export default class PostgresJs extends PostgresqlAdapter {
  static pools = ["postgres-js"];

  seat(lent) {
    this.sql = lent;
  }

  async connect() {
    this.sql = await this.logIn();
  }

  get poolSettings() {
    if (this.address.host.includes(":")) {
      throw new Unsupported("this driver connects to 127.0.0.1 where the host is an IPv6 address");
    }
    const shipped = this.options.profile === "shipped" ? {} : { fetch_types: false };
    const settings = { ...shipped, max: 1, ssl: this.ssl, types, onnotice: () => {} };
    if (!this.plain) settings.connection = SESSION;
    const pipeline = Number(this.options.pipeline);
    if (pipeline > SENT_AT_MOST) settings.max_pipeline = pipeline;
    return { ...this.address, ...settings, ...this.driverSettings(SETTINGS) };
  }

  logIn() {
    return opened(this.poolSettings);
  }

  serverPid() {
    return this.one("SELECT pg_backend_pid()");
  }

  prepare(phase, parameters) {
    const { cursorRows } = this;
    const text = this.placed(phase);
    const converters = this.converters(phase);
    if (phase.kind === "connect") {
      const execute = (other) => other.unsafe(text).values();
      return new Operation({ execute, converters, connect: () => this.logIn(), close: (other) => other.end() });
    }
    const args = parameters && this.arguments(phase, parameters);
    const asText = args && this.statement === "text";
    // Left out, `simple` is true of a statement without values, which would then be sent as text on each execution.
    const settings = { prepare: this.statement === "prepared", simple: this.statement === "text" };
    const query = asText
      ? (statement) => this.sql.unsafe(statement)
      : (values) => this.sql.unsafe(text, values ?? [], settings);
    if (cursorRows && deliversRows(phase)) {
      const execute = (argument) => query(argument).values().cursor(cursorRows);
      return new Operation({ execute, args, rows: "batches", converters });
    }
    const execute = deliversRows(phase) ? (argument) => query(argument).values() : query;
    return new Operation({ execute, args, converters, pipelines: true });
  }

  async copy(command, text) {
    await pipeline(Readable.from([text]), await this.sql.unsafe(command).writable());
  }

  all(sql) {
    return this.sql.unsafe(sql).values();
  }

  async run(statement) {
    this.running = this.sql.unsafe(statement);
    await this.running;
  }

  cancel() {
    return this.running.cancel();
  }

  async facts() {
    return { ...(await super.facts()), driver_version: versionOf("postgres") };
  }

  close() {
    return this.sql.end({ timeout: 1 });
  }
}
