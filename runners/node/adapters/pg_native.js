// PostgreSQL through pg-native: libpq, asynchronous, text results.

import { types as parsers } from "pg";
import Client from "pg-native";
import { Failure } from "../core/failure.js";
import { Operation } from "../core/operation.js";
import { versionOf } from "../core/packages.js";
import { parsersBeside, PostgresqlAdapter, SESSION_OPTIONS } from "../families/postgresql/adapter.js";

const types = parsersBeside(parsers);
let statements = 0; // a name is for one SQL text

/** What libpq connects with; the password is in no place that another process sees. */
function connectionString(settings) {
  const quoted = (value) => `'${String(value).replace(/[\\']/g, "\\$&")}'`;
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${name}=${quoted(value)}`).join(" ");
}

/** Bytes as PostgreSQL reads them: the driver hands every value over as text. */
function asText(value) {
  return value instanceof Uint8Array ? `\\x${value.toString("hex")}` : value;
}

/** An error of the client with libpq's code of it. */
function coded(client, error) {
  if (client.getTransactionStatus() === null) return new Failure("connect", error.message); // the connection is lost
  return Object.assign(error, { code: client.pq.resultErrorFields()?.sqlState });
}

/** A promise of what a method calls back with. */
function asked(client, method, ...args) {
  return new Promise((resolve, reject) => {
    client.lost = reject;
    client[method](...args, (error, rows) => (error ? reject(coded(client, error)) : resolve(rows)));
  });
}

/** A stream for a COPY's text. Only the synchronous way begins one: the other waits for its end. */
function copyStream(client, command) {
  try {
    client.querySync(command);
  } catch (error) {
    throw coded(client, error);
  }
  const stream = client.getCopyStream();
  client.pq.setNonBlocking(false); // else what does not fit into the socket's buffer stays in libpq's
  return stream;
}

export default class PgNative extends PostgresqlAdapter {
  async connect() {
    this.client = await this.logIn();
  }

  async logIn() {
    const { database: dbname, ...address } = this.address;
    const client = new Client({ arrayMode: true, types });
    client.on("error", (error) => client.lost(new Failure("connect", error.message))); // no query is called back
    await new Promise((resolve, reject) => {
      client.lost = reject;
      const session = { ...(this.plain ? {} : { options: SESSION_OPTIONS }), client_encoding: "UTF8" }; // the text that Node reads
      // libpq itself refuses a name that it does not know.
      const settings = { ...address, dbname, sslmode: "disable", ...session, ...this.driverSettings() };
      client.connect(connectionString(settings), (error) => (error ? reject(error) : resolve()));
    });
    return client;
  }

  async serverPid() {
    return Number(await this.one("SELECT pg_backend_pid()"));
  }

  async prepare(phase, parameters) {
    const { client } = this;
    const sql = this.placed(phase);
    const converters = this.converters(phase);
    if (phase.kind === "connect") {
      const execute = (opened) => asked(opened, "query", sql);
      return new Operation({ execute, converters, connect: () => this.logIn(), close: (opened) => opened.end() });
    }
    const given = parameters && this.arguments(phase, parameters);
    if (given && this.statement === "text")
      return new Operation({ execute: (text) => asked(client, "query", text), args: given, converters });
    const args = given?.map((row) => row.map(asText)) ?? [[]];
    if (this.statement === "bound")
      return new Operation({ execute: (values) => asked(client, "query", sql, values), args, converters });
    const name = `s${++statements}`;
    const started = performance.now();
    await asked(client, "prepare", name, sql, phase.parameterColumns.length);
    const prepareNs = Math.round((performance.now() - started) * 1e6);
    return new Operation({ execute: (values) => asked(client, "execute", name, values), args, converters, prepareNs });
  }

  copy(command, text) {
    const { client } = this;
    return new Promise((resolve, reject) => {
      const stream = copyStream(client, command);
      client.lost = reject;
      stream.on("error", reject);
      stream.write(Buffer.from(text));
      stream.end((error) => (error ? reject(coded(client, error)) : resolve()));
    });
  }

  all(sql) {
    return asked(this.client, "query", sql);
  }

  run(statement) {
    return asked(this.client, "query", statement);
  }

  cancel() {
    return new Promise((resolve, reject) => {
      this.client.cancel((error) => (error ? reject(error) : resolve()));
    });
  }

  async facts() {
    return { ...(await super.facts()), driver_version: versionOf("pg-native") };
  }

  close() {
    this.client.end();
  }
}
