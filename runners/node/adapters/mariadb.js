// MariaDB and MySQL through MariaDB Connector/Node.js: `query` and prepared statements.

import mariadb from "mariadb";
import { Operation } from "../core/operation.js";
import { versionOf } from "../core/packages.js";
import { deliversRows } from "../core/phase.js";
import { MysqlAdapter } from "../families/mysql/adapter.js";

// Its own Date has no microseconds, and its JSON is no text.
const EXACT = { dateStrings: true, autoJsonMap: false, jsonStrings: true };
const SETTINGS = ["connectTimeout", "socketTimeout", "keepAliveDelay"]; // milliseconds

export default class Mariadb extends MysqlAdapter {
  bulkWays = ["batch"];

  async logIn() {
    const connection = await mariadb.createConnection({
      ...this.address,
      ...EXACT,
      rowsAsArray: true,
      charset: "utf8mb4",
      ...this.driverSettings(SETTINGS),
    });
    connection.on("error", () => {}); // a lost connection: the next query says so
    return connection;
  }

  async prepare(phase, parameters) {
    const { connection } = this;
    const { sql } = phase;
    const converters = this.converters(phase);
    if (phase.kind === "connect") {
      const execute = (opened) => opened.query(sql);
      return new Operation({ execute, converters, connect: () => this.logIn(), close: (opened) => opened.end() });
    }
    const args = parameters && this.arguments(phase, parameters);
    if (args && this.statement === "text")
      return this.#operation((text) => [text], "query", connection, args, phase, converters);
    if (this.statement !== "prepared")
      return this.#operation((values) => [sql, values], "query", connection, args, phase, converters);
    const started = performance.now();
    const prepared = await connection.prepare(sql);
    const prepareNs = Math.round((performance.now() - started) * 1e6);
    const operation = this.#operation((values) => [values], "execute", prepared, args, phase, converters);
    return Object.assign(operation, { prepareNs });
  }

  #operation(call, way, on, args, phase, converters) {
    const stream = this.singleRow && deliversRows(phase);
    const method = stream ? `${way}Stream` : way;
    const execute = (argument) => on[method](...call(argument));
    return new Operation({ execute, args, rows: stream ? "each" : "awaited", converters, pipelines: !stream });
  }

  bulk(phase) {
    const { connection } = this;
    const execute = async (rows) => {
      await connection.beginTransaction();
      try {
        await connection.batch(phase.sql, this.values(phase, rows));
      } catch (error) {
        await connection.rollback();
        throw error;
      }
      await connection.commit();
    };
    return new Operation({ execute });
  }

  rows(sql) {
    return this.connection.query(sql);
  }

  async facts() {
    return { ...(await super.facts()), driver_version: versionOf("mariadb") };
  }
}
