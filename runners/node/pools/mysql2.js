// MySQL2's pool, with promises. `execute` prepares a statement once on each of its connections.
//
// It asks nothing when it lends a connection, and resets none that comes back (`resetOnRelease`): validation=none.

import mysql from "mysql2/promise";

export default class Mysql2Pool {
  constructor(settings, size) {
    this.size = size;
    this.pool = mysql.createPool({ ...settings, connectionLimit: size });
    this.core = this.pool.pool;
    this.core.on("connection", (connection) => connection.on("error", () => {})); // a lost one: the next query says so
  }

  borrow() {
    return this.pool.getConnection();
  }

  release(connection) {
    connection.release();
  }

  /** Its documentation names no counts: these are its own lists. */
  get free() {
    return this.core._freeConnections.length > 0;
  }

  get inUse() {
    return this.core._allConnections.length - this.core._freeConnections.length;
  }

  get open() {
    return this.core._allConnections.length;
  }

  close() {
    return this.pool.end();
  }
}
