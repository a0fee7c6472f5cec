// MariaDB and MySQL through MySQL2: `query` (the driver puts the values into the SQL) and `execute` (prepared).

import { isIP } from "node:net";
import mysql from "mysql2/promise";
import { Unsupported } from "../core/failure.js";
import { Operation } from "../core/operation.js";
import { versionOf } from "../core/packages.js";
import { deliversRows } from "../core/phase.js";
import { MysqlAdapter } from "../families/mysql/adapter.js";

// Its own Date has no microseconds, its own number no 64 bits, and its JSON is no text.
const EXACT = { supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, jsonStrings: true };
const SETTINGS = ["connectTimeout", "enableKeepAlive", "keepAliveInitialDelay"];

export default class Mysql2 extends MysqlAdapter {
  static pools = ["mysql2"];
  bulkWays = ["multi-row"];

  get poolSettings() {
    return { ...this.address, ...EXACT, rowsAsArray: true, charset: "utf8mb4", ...this.driverSettings(SETTINGS) };
  }

  seat(lent) {
    this.connection = lent;
  }

  /** The driver leaves out Node's hook for the host's name: it has a word of its own. */
  get address() {
    const { ssl, ...address } = super.address;
    const verifyIdentity = this.options.tls === "verify-full";
    if (verifyIdentity && isIP(address.host))
      throw new Unsupported("MySQL2 checks for the name localhost where the host is an address: use the host's name");
    return { ...address, ssl: ssl && { ...ssl, verifyIdentity } };
  }

  async logIn() {
    const connection = await mysql.createConnection(this.poolSettings);
    connection.connection.on("error", () => {}); // a lost connection: the next query says so
    return connection;
  }

  prepare(phase, parameters) {
    const { sql } = phase;
    const converters = this.converters(phase);
    if (phase.kind === "connect") {
      const execute = (opened) => opened.query(sql);
      return new Operation({
        execute,
        rows: "of:0",
        converters,
        connect: () => this.logIn(),
        close: (opened) => opened.end(),
      });
    }
    const args = parameters && this.arguments(phase, parameters);
    const way = this.statement === "prepared" ? "execute" : "query";
    const call = args && this.statement === "text" ? (text) => [text] : (values) => [sql, values];
    if (this.singleRow && deliversRows(phase)) {
      const execute = (argument) => this.connection.connection[way](...call(argument)).stream();
      return new Operation({ execute, args, rows: "each", converters });
    }
    const execute = (argument) => this.connection[way](...call(argument));
    return new Operation({ execute, args, rows: "of:0", converters });
  }

  bulk(phase) {
    const names = phase.parameterColumns.map((column) => column.name).join(", ");
    const sql = `INSERT INTO ${phase.table} (${names}) VALUES ?`;
    return new Operation({ execute: (rows) => this.connection.query(sql, [this.values(phase, rows)]) });
  }

  async rows(sql) {
    return (await this.connection.query(sql))[0];
  }

  async facts() {
    return { ...(await super.facts()), driver_version: versionOf("mysql2") };
  }
}
