// One operation of a phase, as an adapter makes it ready.

/**
 * How to do one operation: what an adapter's `prepare` returns.
 *
 * `execute(args[i])` does operation i. `rows` says where its rows are, arrays of values: `here` (it gives an iterable),
 * `awaited` (a promise of one), `of:NAME` (a promise of an object that has one by this name), `batches` (an asynchronous
 * iterable of arrays of rows) or `each` (an asynchronous iterable of rows). For kind `connect` execute takes the
 * connection that `connect()` opened and `close` will close. `converters` has one entry per column: a function for a
 * value that arrives in another type than its natural one, else null. Nothing is awaited of a synchronous driver.
 * `pipelines`: rows are `awaited`, and what execute is called for before the first await goes out before any answer.
 */
export class Operation {
  constructor(given) {
    const { execute, args, rows = "awaited", converters = [], prepareNs = 0, connect = null, close = null } = given;
    this.execute = execute;
    this.args = args?.length ? args : [undefined];
    this.rows = rows;
    this.converters = converters;
    this.prepareNs = prepareNs;
    this.connect = connect;
    this.close = close;
    this.pipelines = given.pipelines ?? false;
  }

  /** Whether its driver answers before it returns. */
  get synchronous() {
    return this.rows === "here";
  }

  /** An operation that does this one for every argument of a batch. */
  batches(batches) {
    const { execute, rows, prepareNs } = this;
    const each = (batch) => {
      for (const argument of batch) execute(argument);
    };
    const eachAwaited = async (batch) => {
      for (const argument of batch) await execute(argument);
    };
    return new Operation({ execute: this.synchronous ? each : eachAwaited, args: batches, rows, prepareNs });
  }
}
