// PostgreSQL through node-postgres (pg): text results.

import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import Cursor from "pg-cursor";
import { Operation } from "../core/operation.js";
import { versionOf } from "../core/packages.js";
import { deliversRows } from "../core/phase.js";
import { parsersBeside, PostgresqlAdapter, SESSION_OPTIONS } from "../families/postgresql/adapter.js";

const types = parsersBeside(pg.types);
// https://node-postgres.com/apis/client
const SETTINGS = ["query_timeout", "connectionTimeoutMillis", "keepAlive", "keepAliveInitialDelayMillis"];
const rowMode = "array"; // two columns may have one name
let statements = 0; // a name is for one SQL text
const names = new WeakMap(); // of phases: all clients have one, as a pool lends each of them every connection

function nameOf(phase) {
  if (!names.has(phase)) names.set(phase, `s${++statements}`);
  return names.get(phase);
}

async function* batchesOf(client, cursor, size) {
  const reading = client.query(cursor);
  try {
    for (let rows = await reading.read(size); rows.length; rows = await reading.read(size)) yield rows;
  } finally {
    await reading.close();
  }
}

export default class Pg extends PostgresqlAdapter {
  static pools = ["pg-pool"];

  get poolSettings() {
    const session = { ssl: this.ssl, options: this.plain ? undefined : SESSION_OPTIONS };
    return { ...this.address, ...session, ...this.driverSettings(SETTINGS) };
  }

  seat(lent) {
    this.client = lent;
  }

  async connect() {
    this.client = await this.logIn();
  }

  async logIn() {
    const client = new pg.Client(this.poolSettings);
    client.on("error", () => {}); // a lost connection: the next query says so
    await client.connect();
    return client;
  }

  serverPid() {
    return this.client.processID;
  }

  prepare(phase, parameters) {
    const { cursorRows } = this;
    const text = this.placed(phase);
    const converters = this.converters(phase);
    if (phase.kind === "connect") {
      const execute = (opened) => opened.query({ text, rowMode, types });
      return new Operation({
        execute,
        rows: "of:rows",
        converters,
        connect: () => this.logIn(),
        close: (opened) => opened.end(),
      });
    }
    const args = parameters && this.arguments(phase, parameters);
    const asText = args && this.statement === "text";
    if (cursorRows && deliversRows(phase)) {
      const cursor = (argument) =>
        asText ? new Cursor(argument, [], { rowMode, types }) : new Cursor(text, argument ?? [], { rowMode, types });
      return new Operation({
        execute: (argument) => batchesOf(this.client, cursor(argument), cursorRows),
        args,
        rows: "batches",
        converters,
      });
    }
    if (asText)
      return new Operation({
        execute: (sql) => this.client.query({ text: sql, rowMode, types }),
        args,
        rows: "of:rows",
        converters,
      });
    const name = this.statement === "prepared" ? nameOf(phase) : undefined;
    const execute = (values) => this.client.query({ name, text, values, rowMode, types });
    return new Operation({ execute, args, rows: "of:rows", converters });
  }

  copy(command, text) {
    return new Promise((resolve, reject) => {
      const stream = this.client.query(copyFrom(command));
      stream.on("error", reject).on("finish", resolve);
      stream.end(text);
    });
  }

  async all(sql) {
    return (await this.client.query({ text: sql, rowMode, types })).rows;
  }

  run(statement) {
    return this.client.query(statement);
  }

  cancel() {
    const other = new pg.Client({ ...this.address, ssl: this.ssl });
    other.cancel(this.client, this.client.activeQuery);
  }

  async facts() {
    return { ...(await super.facts()), driver_version: versionOf("pg") };
  }

  close() {
    return this.client.end();
  }
}
