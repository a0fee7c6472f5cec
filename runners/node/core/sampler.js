// A sample's loop: one function is generated per phase, so that nothing is decided inside the clock.
//
// The timed loop stands twice, for speed: here, and in group_client.js, where each operation is written down before the
// next begins. Generated for an asynchronous query of a timestamp that arrives as text and an integer, an operation is:
//
//     const found = await execute(args[index]);
//     for (const row of found) {
//       let v0 = row[0], v1 = row[1];
//       v0 = convert0(v0);
//       sum += v0.second; sum += v1;
//       rows++;
//     }

import { clock } from "./clock.js";
import { nameOfType } from "./codec.js";
import { Digest } from "./digest.js";
import { threadCpuNs } from "./native.js";
import { deliversRows } from "./phase.js";
import { COUNT_LOAN, lending } from "./pool.js";
import * as touch from "./touch.js";

export const FAILURES_LIMIT = 100;

const BLOCK = ({ operation, done, async, mend, count }) => `
return ${async} function block(position, durationNs, limit) {
  const last = args.length - 1;
  let index = position % (last + 1);
  let operations = 0, failed = 0, failure = null, rows = 0, sum = 0, total = 0n;
  let executing = 0, fetching = 0, connecting = 0, low = Infinity, high = 0;
  let borrowed = 0, worked = 0, borrowing = 0, returning = 0;
  const cpu = threadCpuNs();
  const started = clock();
  let now = started;
  const end = now + durationNs;
  for (;;) {
    try {
      ${operation}
      operations++;
    } catch (error) {
      failed++;
      failure ??= error;
      ${mend}
      if (failed === ${FAILURES_LIMIT}) limit = -1;
    }
    index = index === last ? 0 : index + 1;
    const then = clock();
    ${count}
    const took = then - now;
    now = then;
    if (took < low) low = took;
    if (took > high) high = took;
    if (${done} || limit === -1) break;
  }
  return {
    operations, failed, failure, rows, total: total + BigInt(sum), ns: now - started, cpuNs: threadCpuNs() - cpu,
    lowNs: low, highNs: high, executeNs: executing, firstRowNs: fetching, connectNs: connecting, endedNs: now,
    borrowNs: borrowing, returnNs: returning,
  };
};`;

const NOTHING_DONE = {
  operations: 0,
  failed: 0,
  failure: null,
  rows: 0,
  total: 0n,
  ns: 0,
  cpuNs: 0,
  lowNs: 0,
  highNs: 0,
  executeNs: 0,
  firstRowNs: 0,
  connectNs: 0,
  borrowNs: 0,
  returnNs: 0,
};

/** JavaScript that takes the rows which `call` gives; `stamp`: what to do before the first row's values are taken. */
function rowsOf(form, call, take, stamps) {
  const stamp = stamps ? "if (!stamped) { stamped = true; fetching += clock() - now; }" : "";
  const executed = stamps ? "executing += clock() - now;" : "";
  const none = stamps ? "if (!stamped) fetching += clock() - now;" : "";
  const [kind, property] = form.split(":");
  const found =
    { here: call, awaited: `await ${call}`, of: `(await ${call})[${JSON.stringify(property)}]` }[kind] ?? call;
  const loops = {
    batches: `for await (const batch of found) { ${stamp} for (const row of batch) { ${take} } }`,
    each: `for await (const row of found) { ${stamp} ${take} }`,
  };
  const loop = loops[kind] ?? `for (const row of found) { ${stamp} ${take} }`;
  return `${stamps ? "let stamped = false;" : ""} const found = ${found}; ${executed} ${loop} ${none}`;
}

/**
 * The loop of one phase on one connection; `transaction` has `begin`, `commit` and `rollback`, or is null. With `loans`
 * (`borrow`, `release` and `seat`) each operation has a connection of its own from a pool.
 */
export class Sampler {
  constructor(kind, columns, operation, stamps = false, transaction = null, loans = null) {
    this.columns = columns;
    this.operation = operation;
    this.transaction = transaction;
    this.loans = loans;
    this.converters = columns.map((_, i) => operation.converters[i] ?? null);
    this.async = operation.synchronous ? "" : "async";
    this.wait = operation.synchronous ? "" : "await ";
    const unusual = touch.unusualRow(columns, this.converters);
    this.scope = { clock, threadCpuNs, unusual, ...touch, ...operation, ...transaction, ...loans };
    for (const [i, convert] of this.converters.entries()) if (convert) this.scope[`convert${i}`] = convert;
    this.code = this.#operationCode(kind, stamps);
    this.codeWithoutStamps = this.#operationCode(kind, false);
    this.byTime = this.#block("now >= end");
    this.byCount = this.#block("operations + failed === limit");
    this.rowsOfOne = this.#function(
      `return async function rowsOfOne(index, taken) { const rows = []; ${this.#collect(kind)} };`,
    );
  }

  /** A function made of JavaScript in which the operation's names are known, and `names`. */
  made(source, names = {}) {
    return this.#function(source, names);
  }

  /** JavaScript that undoes a failed operation. */
  get mend() {
    return this.loans ? "worked = 0;" : this.#rollback;
  }

  /** JavaScript that counts what a pool took of an operation. */
  get count() {
    return this.loans ? COUNT_LOAN : "";
  }

  /** What fails there too adds nothing. */
  get #rollback() {
    return this.transaction ? `try { ${this.wait}rollback(); } catch {}` : "";
  }

  /** One client's sample: its lead-in, `meet` (the start with the other clients), and its block. */
  async sample(share, meet = null) {
    const cpu = threadCpuNs();
    let led = 0;
    if (share.leadInNs) {
      const leadIn = await this.byTime(share.position, share.leadInNs, 0);
      led = leadIn.operations + leadIn.failed;
    }
    const first = share.position + led;
    if (meet) await meet();
    let block = NOTHING_DONE;
    if (share.limit === null) block = await this.byTime(first, share.durationNs, 0);
    else if (share.limit) block = await this.byCount(first, 0, share.limit);
    return { endedNs: clock(), ...block, first, led, windowCpuNs: threadCpuNs() - cpu };
  }

  /** Digest and touch of operations [first, first + count): the same execute, the same conversions, untimed. */
  async verify(first, count, most, keep = "") {
    const digest = new Digest(this.columns, most, keep);
    const seen = { rows: 0, sum: 0n, delivered: this.columns.map(() => "null"), texts: new Set() };
    try {
      for await (const raw of this.answers(first, count)) this.#verifyOne(raw, digest, seen);
    } finally {
      digest.close();
    }
    const converted = this.columns.filter((_, i) => seen.texts.has(i)).map((column) => column.name);
    const reply = { ...digest.reply(), touch: touch.touchText(seen.sum), rows: seen.rows, operations: count };
    return { ...reply, delivered: seen.delivered, converted };
  }

  /** The rows of operations [first, first + count), by operation. */
  async *answers(first, count) {
    for (let position = first; position < first + count; position++) {
      yield await this.rowsOfOne(position % this.operation.args.length);
    }
  }

  #verifyOne(raw, digest, seen) {
    for (const row of raw) {
      for (let i = 0; i < this.columns.length; i++) {
        const value = row[i] ?? null;
        if (value !== null && seen.delivered[i] === "null") seen.delivered[i] = nameOfType(value);
        if (typeof value === "string" && this.converters[i]?.fromText) seen.texts.add(i);
      }
      digest.add(row.map((value, i) => (value !== null && this.converters[i] ? this.#converted(value, i) : value)));
      seen.sum += this.#touched(row);
      seen.rows++;
    }
  }

  /** The value as the driver handed it over where the converter knows no such one. */
  #converted(value, i) {
    try {
      return this.converters[i](value);
    } catch {
      return value;
    }
  }

  #touched(row) {
    this.touchOne ??= this.#function(
      `return (row) => { let rows = 0, sum = 0, total = 0n; ${this.take()} return total + BigInt(sum); };`,
    );
    return this.touchOne(row);
  }

  #block(done) {
    const { code: operation, async, mend, count } = this;
    return this.#function(BLOCK({ operation, done, async, mend, count }));
  }

  #function(source, names = {}) {
    const scope = { ...this.scope, ...names };
    return new Function(...Object.keys(scope), `"use strict"; ${source}`)(...Object.values(scope));
  }

  #operationCode(kind, stamps) {
    if (kind === "connect") return this.#connectCode(this.take());
    const { rows } = this.operation;
    const call = "execute(args[index])";
    const code = deliversRows({ kind, columns: this.columns })
      ? rowsOf(rows, call, this.take(), stamps)
      : `${this.wait}${call};`;
    return this.#onLoan(this.#inTransaction(code));
  }

  #onLoan(code) {
    return this.loans ? lending(code, this.#rollback) : code;
  }

  #connectCode(take) {
    const rows = rowsOf(this.operation.rows, "execute(connection)", take, false);
    return `const connection = ${this.wait}connect(); connecting += clock() - now; ${rows} ${this.wait}close(connection);`;
  }

  #inTransaction(code) {
    return this.transaction ? `${this.wait}begin(); ${code} ${this.wait}commit();` : code;
  }

  /** The rows of one operation, begun and ended as in the clock. */
  #collect(kind) {
    const { rows } = this.operation;
    const keep = "rows.push(row);";
    if (kind === "connect") return `let connecting = 0, now = 0; ${this.#connectCode(keep)} return rows;`;
    const call = "execute(args[index])";
    const code = deliversRows({ kind, columns: this.columns })
      ? rowsOf(rows, call, keep, false)
      : `${this.wait}${call};`;
    const whole = this.#onLoan(this.#inTransaction(code));
    return `let borrowed, worked; try { ${whole} } catch (error) { ${this.mend} throw error; } return rows;`;
  }

  /** JavaScript that takes the values of `row`. */
  take() {
    const { columns, converters } = this;
    const parts = columns.map((column, i) => {
      const convert = converters[i]
        ? `${column.nullable ? `if (v${i} !== null) ` : ""}v${i} = convert${i}(v${i});`
        : "";
      return `let v${i} = row[${i}]; ${convert} ${touch.touchStatement(column, `v${i}`, `t${i}`)}`;
    });
    return `const sumBeforeRow = sum, totalBeforeRow = total;
      try { ${parts.join("\n")} } catch { sum = NaN; } rows++; ${touch.KEEP_EXACT}`;
  }
}
