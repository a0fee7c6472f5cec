// The natural values of parameter files, from the codec's bytes (docs/codec.md).

import { closeSync, openSync, readSync } from "node:fs";
import { Failure, Misfit } from "./failure.js";
import { Interval, Moment } from "./iso.js";

const DAY_MS = 86_400_000;

/** Natural values from bytes. */
export class Decoder {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  row(columns) {
    return columns.map((column) => this.value(column));
  }

  value(column) {
    const tag = this.byte();
    if (tag === 0) return null;
    const read = DECODERS[String.fromCharCode(tag)];
    if (!read) throw new Misfit(`byte ${tag} begins no value`);
    return read(this, column);
  }

  text() {
    return this.sized().toString("utf8");
  }

  sized() {
    const size = this.bytes.readUInt32LE(this.#take(4));
    const at = this.#take(size);
    return this.bytes.subarray(at, at + size);
  }

  byte() {
    return this.bytes[this.#take(1)];
  }

  int32() {
    return this.bytes.readInt32LE(this.#take(4));
  }

  int64() {
    return this.bytes.readBigInt64LE(this.#take(8));
  }

  double() {
    return this.bytes.readDoubleLE(this.#take(8));
  }

  raw(count) {
    const at = this.#take(count);
    return this.bytes.subarray(at, at + count);
  }

  #take(count) {
    const at = this.at;
    this.at += count;
    return at;
  }
}

function decodedNumber(from, column) {
  const text = from.text();
  if (column.type === "decimal") return text;
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
}

function decodedMoment(from) {
  const seconds = Number(from.int64());
  return new Moment(seconds, from.int32());
}

function decodedUuid(from) {
  return from
    .raw(16)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const DECODERS = {
  N: decodedNumber,
  F: (from) => from.double(),
  L: (from) => from.byte() === 1,
  S: (from) => from.text(),
  B: (from) => Buffer.from(from.sized()),
  d: (from) => new Date(from.int32() * DAY_MS),
  t: (from) => Number(from.int64()),
  T: decodedMoment,
  Z: decodedMoment,
  I: (from) => new Interval(from.int32(), from.int32(), from.int64()),
  U: decodedUuid,
  A: (from, column) => Array.from({ length: from.int32() }, () => from.value(column)),
  O: () => "",
  X: (from) => (from.text() === "inf" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY),
};

function readAt(descriptor, position, size) {
  const bytes = Buffer.alloc(size);
  readSync(descriptor, bytes, 0, size, position);
  return bytes;
}

/** Rows [first, first + count) of a parameter file, as arrays of natural values. */
export function readParameters({ file, first, count }, columns) {
  const descriptor = openSync(file, "r");
  try {
    const head = readAt(descriptor, 0, 16);
    if (head.toString("latin1", 0, 8) !== "RPROWS1\n") throw new Failure("internal", `${file} is not a parameter file`);
    const rows = Number(head.readBigUInt64LE(8));
    if (first < 0 || count < 0 || first + count > rows) {
      throw new Failure("internal", `${file} has ${rows} rows, not [${first}, ${first + count})`);
    }
    const offsets = readAt(descriptor, 16 + 8 * first, 8 * (count + 1));
    const begin = Number(offsets.readBigUInt64LE(0));
    const decoder = new Decoder(readAt(descriptor, begin, Number(offsets.readBigUInt64LE(8 * count)) - begin));
    return Array.from({ length: count }, () => decoder.row(columns));
  } finally {
    closeSync(descriptor);
  }
}
