// Postgres.js, whose client is a pool; `reserve` borrows. With `prepare` it keeps statements on each connection.
//
// It asks nothing when it lends a connection: validation=none. It does not tell how many are lent or open: loans
// are counted, and connections that close.

import postgres from "postgres";

export default class PostgresJsPool {
  constructor(settings, size, shipped) {
    this.size = size;
    this.open = size; // at first, as all are borrowed once
    // A new connection that fetches no types never comes to `reserve` (its issue 751), nor does one that is opened again
    // (1195): by itself it does that after half an hour or more.
    const lasting = shipped ? {} : { max_lifetime: null };
    const onclose = () => this.open--;
    this.sql = postgres({ ...settings, ...lasting, onclose, fetch_types: true, max: size });
  }

  borrow() {
    return this.sql.reserve();
  }

  release(sql) {
    sql.release();
  }

  get inUse() {
    return this.lent;
  }

  close() {
    return this.sql.end({ timeout: 1 });
  }
}
