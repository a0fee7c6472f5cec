// The interface of an adapter: one class, the default export of one small file per driver under adapters/.

import { Unsupported } from "./failure.js";

/** One driver. Every method may raise the driver's own errors, and may return a promise. */
export class Adapter {
  /** How several clients run at once: `tasks` of an asynchronous driver on one event loop, else `threads`. */
  static concurrency = "tasks";
  /** Why the driver has no `cancel` or no `timeout`: a synchronous one could not be stopped while it is tried. */
  static lacks = {};
  /** The pools, each a file of `pools/`, that lend connections of this driver. */
  static pools = [];
  /** The driver's bulk ways of storing rows, the quickest first. */
  bulkWays = [];

  constructor(options) {
    this.options = options;
  }

  /** An option of `open`; Unsupported when it is missing. */
  need(name) {
    if (this.options[name] === undefined) throw new Unsupported(`the option '${name}' is missing`);
    return this.options[name];
  }

  /** What `driver_settings` names for the driver; Unsupported for a name not among `known`, if given. */
  driverSettings(known) {
    const lines = (this.options.driver_settings ?? "").split("\n").filter(Boolean);
    return Object.fromEntries(
      lines.map((line) => {
        const [, name, value] = /^([^=]*)=?(.*)$/s.exec(line);
        if (known && !known.includes(name)) throw new Unsupported(`unknown setting '${name}'`);
        return [name, /^(true|false|\d+)$/.test(value) ? JSON.parse(value) : value];
      }),
    );
  }

  /** Connects and logs in: the part of `open` that is timed. Returns notes on the connection (`delivers`). */
  connect() {
    return {};
  }

  /** What a pool opens its connections with. */
  get poolSettings() {
    return {};
  }

  /** Works on this connection, which a pool has lent, until the next one. */
  seat() {
    throw new Unsupported("this driver has no pool");
  }

  /** The process that serves this connection, or null. */
  serverPid() {
    return null;
  }

  /** The `Operation` of the phase; `parameters` is an array of rows of natural values, or null. */
  prepare() {
    throw new Unsupported("this driver serves no such phase");
  }

  /** `{ begin, commit, rollback }`, called around each operation inside the clock; null in autocommit. */
  transaction(phase) {
    if (!phase.transaction) return null;
    const [begin, commit, rollback] = ["BEGIN", "COMMIT", "ROLLBACK"].map((sql) => () => this.run(sql));
    return { begin, commit, rollback };
  }

  /** An `Operation` that stores an array of rows in the phase's table, committed, by one of `bulkWays`. */
  bulk(_phase, way) {
    throw new Unsupported(`this driver has no bulk way '${way}'`);
  }

  /** Stops what the connection is executing, the driver's own way. */
  cancel() {
    throw new Unsupported("this driver has no way to stop a statement");
  }

  /** Lets no statement run longer, the driver's own way. */
  setTimeout() {
    throw new Unsupported("this driver has no statement timeout");
  }

  /** The columns that a query delivers, as the protocol's objects. */
  describe() {
    throw new Unsupported("this driver says nothing of a query's columns that is not known better elsewhere");
  }

  /** Executes one statement and commits it. */
  run() {
    throw new Unsupported("this driver executes no SQL");
  }

  /** `driver_version`, `engine_version`, `build`, `libraries`, `settings`, as read from the live connection. */
  facts() {
    return {};
  }

  /** Closes the connection. */
  close() {}

  /** The driver's own code of one of its errors. */
  code(error) {
    return error.code ?? error.name ?? "";
  }
}
