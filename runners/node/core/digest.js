// The digest of the rows that `verify` met, and the file in which they are kept when asked for.

import { closeSync, openSync, writeSync } from "node:fs";
import xxhash from "xxhash-wasm";
import { Bytes, Findings, encodeRow } from "./codec.js";
import { Failure } from "./failure.js";
import { touchText } from "./touch.js";

const { h64Raw } = await xxhash();

/** XXH64 with seed 0. */
export const hash = h64Raw;

function opened(file) {
  try {
    return openSync(file, "w");
  } catch (error) {
    throw new Failure("internal", `${file}: ${error.message}`);
  }
}

const ORDER = 0x9e3779b97f4a7c15n;

/** Sums of hashes modulo 2^64, without and with regard to their order. */
class Sums {
  #sums = new BigUint64Array(2); // which wraps by itself

  add(hashed) {
    this.#sums[0] += hashed;
    this.#sums[1] = BigInt.asUintN(64, this.#sums[1] * ORDER + hashed);
  }

  get digest() {
    return touchText(this.#sums[0]);
  }

  get order() {
    return touchText(this.#sums[1]);
  }
}

/** Of the first `most` rows added, and of each of their columns; the bytes of each row go to the file `keep`, if any. */
export class Digest {
  constructor(columns, most, keep = "") {
    this.columns = columns;
    this.most = most;
    this.rows = 0;
    this.sums = new Sums();
    this.columnSums = columns.map(() => new Sums());
    this.findings = columns.map(() => new Findings());
    this.ends = [];
    this.bytes = new Bytes();
    this.descriptor = keep ? opened(keep) : null;
  }

  /** One more row of natural values. */
  add(row) {
    if (this.rows === this.most) return;
    const bytes = encodeRow(this.bytes, row, this.columns, this.findings, this.ends);
    this.rows++;
    this.sums.add(hash(bytes));
    let begin = 0;
    for (let i = 0; i < this.columns.length; i++) {
      this.columnSums[i].add(hash(bytes.subarray(begin, this.ends[i])));
      begin = this.ends[i];
    }
    if (this.descriptor !== null) this.#keep(bytes);
  }

  #keep(bytes) {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    writeSync(this.descriptor, size);
    writeSync(this.descriptor, bytes);
  }

  /** `rows:hex16`. */
  text() {
    return `${this.rows}:${this.sums.digest}`;
  }

  /** What `verify` replies of the rows and of each column; a field with its default is absent. */
  reply() {
    const columns = this.columns.map((_, i) => {
      const { digest, order } = this.columnSums[i];
      const { finestNs, bounds, foreign, reason } = this.findings[i];
      const found = { ...(finestNs && { finest_ns: finestNs }), ...(bounds && { bounds }) };
      return { digest, order, ...found, ...(foreign && { foreign, reason }) };
    });
    return { digest: this.text(), order: this.sums.order, columns };
  }

  close() {
    if (this.descriptor !== null) closeSync(this.descriptor);
  }
}
