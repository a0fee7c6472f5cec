// Postgres.js, whose client is a pool; `reserve` borrows. With `prepare` it keeps statements on each connection.
//
// It asks nothing when it lends a connection: validation=none. It does not tell how many are lent or open: ours
// are counted, and what each connection tells when it opens and closes.

import postgres from "postgres";

export default class PostgresJsPool {
  constructor(settings, size, shipped) {
    this.size = size;
    this.open = 0;
    const onparameter = (name) => {
      if (name === "server_version") this.open++; // which a server tells once
    };
    // A new connection that fetches no types never comes to `reserve` (its issue 751), nor does one that is opened again
    // (1195): by itself it does that after half an hour or more.
    const lasting = shipped ? {} : { max_lifetime: null };
    const counted = { onparameter, onclose: () => this.open-- };
    this.sql = postgres({ ...settings, ...lasting, ...counted, fetch_types: true, max: size });
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
