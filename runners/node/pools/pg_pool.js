// The pool that comes with node-postgres. A named statement is prepared once on each of its connections.
//
// It asks nothing when it lends a connection (`verify` is called for new ones only): validation=none.

import pg from "pg";

// By itself it closes a connection that was idle for ten seconds.
const LASTING = { idleTimeoutMillis: 0 };

export default class PgPool {
  constructor(settings, size, shipped) {
    this.size = size;
    this.pool = new pg.Pool({ ...settings, max: size, ...(shipped ? {} : LASTING) });
    this.pool.on("error", () => {}); // an idle connection was lost: it opens another
    this.pool.on("connect", (client) => client.on("error", () => {})); // one that is lent: the next query says so
  }

  borrow() {
    return this.pool.connect();
  }

  release(client) {
    client.release();
  }

  get free() {
    return this.pool.idleCount > this.pool.waitingCount;
  }

  get inUse() {
    return this.pool.totalCount - this.pool.idleCount;
  }

  get open() {
    return this.pool.totalCount;
  }

  close() {
    return this.pool.end();
  }
}
