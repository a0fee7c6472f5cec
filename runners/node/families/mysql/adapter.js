// What the drivers of MariaDB and MySQL have in common: where the server is, values, cancelling, facts.

import { Adapter } from "../../core/adapter.js";
import { certificates } from "../../core/certificates.js";
import { Unsupported } from "../../core/failure.js";
import { asParameter, withLiterals } from "../sql/literals.js";
import { FROM_TEXT, narrowInteger, WIDE_INTEGER } from "../text/values.js";

const SHOWN = (
  "version version_comment autocommit time_zone sql_mode tx_isolation transaction_isolation default_storage_engine " +
  "innodb_flush_log_at_trx_commit sync_binlog character_set_client collation_connection collation_database log_bin " +
  "max_allowed_packet"
).split(" ");
const ESCAPED = { "\\": "\\\\", "'": "\\'", "\0": "\\0" };

/** A value as it stands inside the SQL of MariaDB and MySQL. */
function literal(value, column) {
  if (value === null) return "NULL";
  if (value instanceof Uint8Array) return `X'${value.toString("hex")}'`;
  const given = ready(value, column);
  if (typeof given !== "string") return String(given);
  return column.type === "decimal" ? given : `'${given.replace(/[\\'\0]/g, (sign) => ESCAPED[sign])}'`;
}

/** A parameter as the server takes it: the session's time zone is UTC. */
function ready(value, column) {
  if (column.type === "decimal" && value !== null && !/\d/.test(value))
    throw new Unsupported(`column ${column.name}: no decimal ${value} here`);
  if (typeof value === "boolean") return Number(value);
  return column.type === "timestamptz" && value !== null ? String(value) : asParameter(value, column);
}

/** What these drivers have in common; `logIn()` connects, `rows(sql)` gives a query's rows as arrays. */
export class MysqlAdapter extends Adapter {
  get statement() {
    return this.options.statement ?? "bound";
  }

  get singleRow() {
    return this.options.result === "single-row";
  }

  /** Where the server is, who logs in, whether encrypted or compressed, by the names that both drivers use. */
  get address() {
    const { transport, socket, host, port, user, password, database, tls = "off" } = this.options;
    const where = transport === "unix" ? { socketPath: socket } : { host, port: Number(port) };
    const ssl = tls === "off" ? false : certificates(this.options);
    return { ...where, user, password: password ?? "", database, ssl, compress: this.compresses };
  }

  get compresses() {
    return this.options.compression === "zlib";
  }

  async connect() {
    this.connection = await this.logIn();
    this.number = this.connection.threadId;
  }

  /** What is executed for each row of parameters: SQL that holds the values, or the values. */
  arguments(phase, parameters) {
    const columns = phase.parameterColumns;
    if (this.statement === "text") return parameters.map((row) => withLiterals(phase.sql, row, columns, literal));
    return this.values(phase, parameters);
  }

  values(phase, rows) {
    return rows.map((row) => row.map((value, i) => ready(value, phase.parameterColumns[i])));
  }

  converters(phase) {
    return phase.columns.map((column) => {
      if (column.type === "integer") return column.bits > 32 ? WIDE_INTEGER : narrowInteger;
      return FROM_TEXT[column.type] ?? null;
    });
  }

  transaction(phase) {
    if (!phase.transaction) return null;
    const begin = () => this.connection.beginTransaction();
    return { begin, commit: () => this.connection.commit(), rollback: () => this.connection.rollback() };
  }

  async run(statement) {
    await this.connection.query(statement);
  }

  async one(sql) {
    return (await this.rows(sql))[0][0];
  }

  /** KILL QUERY, from a connection of its own. */
  async cancel() {
    const other = await this.logIn();
    await other.query(`KILL QUERY ${this.number}`);
    await other.end();
  }

  async setTimeout(milliseconds) {
    const mariadb = String(await this.one("SELECT VERSION()")).includes("MariaDB");
    await this.run(
      mariadb
        ? `SET SESSION max_statement_time = ${milliseconds / 1000}`
        : `SET SESSION max_execution_time = ${milliseconds}`,
    );
  }

  async facts() {
    const names = SHOWN.map((name) => `'${name}'`).join(", ");
    const shown = Object.fromEntries(await this.rows(`SHOW VARIABLES WHERE Variable_name IN (${names})`));
    const [[, cipher] = []] = await this.rows("SHOW STATUS LIKE 'Ssl_cipher'");
    const { version_comment: build, ...settings } = shown;
    Object.assign(settings, {
      autocommit: settings.autocommit.toLowerCase(),
      tls: cipher ? `on (${cipher})` : "off",
      binding: this.statement === "text" ? "none: the values stand in the SQL" : this.binding,
    });
    if (this.compresses) {
      const [[, compression]] = await this.rows("SHOW STATUS LIKE 'Compression'");
      settings.compression = compression.toLowerCase();
    }
    return { engine_version: shown.version, build, settings };
  }

  get binding() {
    return this.statement === "prepared" ? "server: prepared once" : "client: the driver puts the values into the SQL";
  }

  close() {
    return this.connection.end();
  }

  code(error) {
    return error.errno ?? error.code ?? error.name;
  }
}
