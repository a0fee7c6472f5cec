// The digest of the rows that `verify` met, and the file in which they are kept when asked for.

import { closeSync, openSync, writeSync } from "node:fs";
import xxhash from "xxhash-wasm";
import { Bytes, encodeRow } from "./codec.js";
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

/** Of the first `most` rows added; the codec's bytes of each go to the file `keep`, if any. */
export class Digest {
  constructor(columns, most, keep = "") {
    this.columns = columns;
    this.most = most;
    this.rows = 0;
    this.hashes = 0n;
    this.bytes = new Bytes();
    this.descriptor = keep ? opened(keep) : null;
  }

  /** One more row of natural values. Errors: as the codec's. */
  add(row) {
    if (this.rows === this.most) return;
    const bytes = encodeRow(this.bytes, row, this.columns);
    this.rows++;
    this.hashes = BigInt.asUintN(64, this.hashes + hash(bytes));
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
    return `${this.rows}:${touchText(this.hashes)}`;
  }

  close() {
    if (this.descriptor !== null) closeSync(this.descriptor);
  }
}
