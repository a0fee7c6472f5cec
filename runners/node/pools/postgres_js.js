// Postgres.js, whose client is a pool; `reserve` borrows. With `prepare` it keeps statements on each connection.
//
// It asks nothing when it lends a connection: validation=none. It does not tell how many are lent or open: loans
// are counted, and connections that close. Once one closed it lends no more, as it may never lend that one again.

import postgres from "postgres";
import { Failure } from "../core/failure.js";

const FATAL = ["FATAL", "PANIC"];
const BROKEN = /^(CONNECTION_|E[A-Z]+$)/; // its own codes and the system's

export default class PostgresJsPool {
  constructor(settings, size, shipped) {
    this.size = size;
    this.taken = 0; // lent, or to be lent as soon as one is free
    this.lost = null;
    this.open = size; // at first, as all are borrowed once
    // A new connection that fetches no types never comes to `reserve` (its issue 751), nor does one that is opened again
    // (1195): by itself it does that after half an hour or more.
    const lasting = shipped ? {} : { max_lifetime: null };
    const onclose = () => {
      this.open--;
      this.#lose();
    };
    this.sql = postgres({ ...settings, ...lasting, onclose, fetch_types: true, max: size });
    // Each `reserve` makes a function of every type that a program named, for writing values: of ours, which are for
    // reading and known by now, that took longer than all else.
    this.sql.options.types = {};
  }

  #lose() {
    this.lost ??= new Failure("connect", "a connection of the pool was closed", "CONNECTION_CLOSED");
    for (const refuse of [...this.waiting]) refuse(this.lost);
  }

  /** Whether no connection is lent any more; it never answers what is sent on one after such an error. */
  loses({ severity, code }) {
    if (FATAL.includes(severity) || BROKEN.test(code)) this.#lose();
    return this.lost !== null;
  }

  borrow() {
    if (this.lost) throw this.lost;
    this.taken++;
    return this.sql.reserve();
  }

  release(sql) {
    if (this.lost) return;
    this.taken--;
    sql.release();
  }

  get free() {
    return this.taken < this.size;
  }

  get inUse() {
    return this.lent;
  }

  close() {
    return this.sql.end({ timeout: 1 });
  }
}
