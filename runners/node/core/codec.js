// The codec's bytes of values (docs/codec.md), and the natural values of parameter files.

import { closeSync, openSync, readSync } from "node:fs";
import { Failure, Misfit, Unsupported } from "./failure.js";
import { Moment } from "./iso.js";

const DAY_MS = 86_400_000;
const DECIMAL = /^([+-]?)(\d*)(?:[.](\d*))?(?:[eE]([+-]?\d+))?$/;
const NAN = Buffer.from("000000000000f87f", "hex");
const [N, F, L, S, B, D, T, TS, TZ, I, U, A, O, X] = [..."NFLSBdtTZIUAOX"].map((each) => each.charCodeAt(0));

/** Bytes that grow. */
export class Bytes {
  constructor() {
    this.buffer = Buffer.allocUnsafe(4096);
    this.length = 0;
  }

  /** Room for so many more bytes; returns where they begin. */
  room(count) {
    const at = this.length;
    this.length += count;
    if (this.length > this.buffer.length) {
      const larger = Buffer.allocUnsafe(2 * this.length);
      this.buffer.copy(larger, 0, 0, at);
      this.buffer = larger;
    }
    return at;
  }

  tag(tag) {
    const at = this.room(1);
    this.buffer[at] = tag;
  }

  /** A tag, a length and text. */
  text(tag, text) {
    const size = Buffer.byteLength(text);
    const at = this.#sized(tag, size); // before the buffer is read: it may be a larger one then
    this.buffer.write(text, at, size, "utf8");
  }

  /** A tag, a length and bytes. */
  binary(tag, bytes) {
    const at = this.#sized(tag, bytes.length);
    this.buffer.set(bytes, at);
  }

  #sized(tag, size) {
    this.tag(tag);
    const at = this.room(4 + size);
    this.buffer.writeUInt32LE(size, at);
    return at + 4;
  }

  written() {
    return this.buffer.subarray(0, this.length);
  }
}

function misfit(value, column) {
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  return new Misfit(`column ${column.name}: ${shown} (${nameOfType(value)}) is no ${column.type}`);
}

function expect(condition, value, column) {
  if (!condition) throw misfit(value, column);
}

/** What JavaScript calls the type of a value. */
export function nameOfType(value) {
  return typeof value === "object" && value !== null ? value.constructor.name : typeof value;
}

function integer(out, value, column) {
  expect(typeof value === "bigint" || Number.isInteger(value), value, column);
  const wide = BigInt(value);
  const limit = 1n << BigInt(column.bits - 1);
  expect(wide >= -limit && wide < (column.bits < 64 ? limit : 2n * limit), value, column);
  out.text(N, wide.toString());
}

/** Plain decimal notation of a decimal's text. */
export function plainDecimal(text) {
  const [, sign, whole, fraction = "", exponent = "0"] = DECIMAL.exec(text);
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const front = point > 0 ? digits.slice(0, point).padEnd(point, "0") : "";
  const back = (point < 0 ? "0".repeat(-point) + digits : digits.slice(Math.max(point, 0))).replace(/0+$/, "");
  const plain = (front.replace(/^0+/, "") || "0") + (back && `.${back}`);
  return sign === "-" && plain !== "0" ? `-${plain}` : plain;
}

function decimal(out, value, column) {
  const text = typeof value === "string" ? value.trim() : String(value);
  if (/^-?(nan|inf(inity)?)$/i.test(text)) throw new Unsupported(`column ${column.name}: ${text} is no decimal number`);
  expect(["string", "number", "bigint"].includes(typeof value) && /\d/.test(text) && DECIMAL.test(text), value, column);
  out.text(N, plainDecimal(text));
}

function float(out, value, column) {
  expect(typeof value === "number", value, column);
  out.tag(F);
  const at = out.room(8);
  if (Number.isNaN(value)) out.buffer.set(NAN, at);
  else out.buffer.writeDoubleLE((column.type === "float32" ? Math.fround(value) : value) + 0, at);
}

function boolean(out, value, column) {
  expect(value === true || value === false || value === 0 || value === 1, value, column);
  out.tag(L);
  out.tag(value ? 1 : 0);
}

function char(out, value, column) {
  expect(typeof value === "string", value, column);
  const bare = value.replace(/ +$/, "");
  expect(!column.length || [...bare].length <= column.length, value, column);
  out.text(S, bare);
}

function string(out, value, column) {
  expect(typeof value === "string", value, column);
  out.text(S, value);
}

function binary(out, value, column) {
  expect(value instanceof Uint8Array, value, column);
  out.binary(B, value);
}

function infinite(out, value) {
  if (value !== Number.POSITIVE_INFINITY && value !== Number.NEGATIVE_INFINITY) return false;
  out.text(X, value > 0 ? "inf" : "-inf");
  return true;
}

function date(out, value, column) {
  if (infinite(out, value)) return;
  expect(value instanceof Date, value, column);
  out.tag(D);
  const at = out.room(4);
  out.buffer.writeInt32LE(value.getTime() / DAY_MS, at);
}

function time(out, value, column) {
  expect(typeof value === "number", value, column);
  out.tag(T);
  const at = out.room(8);
  out.buffer.writeBigUInt64LE(BigInt(value), at);
}

const moment = (tag) => (out, value, column) => {
  if (infinite(out, value)) return;
  expect(value instanceof Moment, value, column);
  out.tag(tag);
  const at = out.room(12);
  out.buffer.writeBigInt64LE(BigInt(value.seconds), at);
  out.buffer.writeUInt32LE(value.nanoseconds, at + 8);
};

function interval(out, value, column) {
  expect(Array.isArray(value) && value.length === 3, value, column);
  out.tag(I);
  const at = out.room(16);
  out.buffer.writeInt32LE(value[0], at);
  out.buffer.writeInt32LE(value[1], at + 4);
  out.buffer.writeBigInt64LE(BigInt(value[2]), at + 8);
}

function uuid(out, value, column) {
  expect(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value), value, column);
  out.tag(U);
  const at = out.room(16);
  out.buffer.write(value.replaceAll("-", ""), at, "hex");
}

function array(out, value, column) {
  expect(Array.isArray(value), value, column);
  if (value.some(Array.isArray)) throw new Unsupported(`column ${column.name}: an array of more than one dimension`);
  out.tag(A);
  const at = out.room(4);
  out.buffer.writeUInt32LE(value.length, at);
  for (const element of value) element === null ? out.tag(0) : integer(out, element, column);
}

const ENCODERS = {
  integer,
  decimal,
  float32: float,
  float64: float,
  boolean,
  char,
  varchar: string,
  text: string,
  json: string,
  binary,
  date,
  time,
  timestamp: moment(TS),
  timestamptz: moment(TZ),
  interval,
  uuid,
  array,
  opaque: (out) => out.tag(O),
};

/** Writes the bytes of a row of natural values. Misfit for a value, or a NULL, that its column cannot have. */
export function encodeRow(out, row, columns) {
  if (row.length !== columns.length) {
    throw new Misfit(`a row has ${row.length} columns where ${columns.length} are declared`);
  }
  out.length = 0;
  for (let i = 0; i < columns.length; i++) encodeValue(out, row[i], columns[i]);
  return out.written();
}

function encodeValue(out, value, column) {
  if (value !== null && value !== undefined) return ENCODERS[column.type](out, value, column);
  if (!column.nullable) throw new Misfit(`column ${column.name}: NULL where none is allowed`);
  return out.tag(0);
}

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
    const tag = this.bytes[this.#take(1)];
    if (tag === 0) return null;
    const read = DECODERS[tag];
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
  [N]: decodedNumber,
  [F]: (from) => from.double(),
  [L]: (from) => from.byte() === 1,
  [S]: (from) => from.text(),
  [B]: (from) => Buffer.from(from.sized()),
  [D]: (from) => new Date(from.int32() * DAY_MS),
  [T]: (from) => Number(from.int64()),
  [TS]: decodedMoment,
  [TZ]: decodedMoment,
  [I]: (from) => [from.int32(), from.int32(), from.int64()],
  [U]: decodedUuid,
  [A]: (from, column) => Array.from({ length: from.int32() }, () => from.value(column)),
  [O]: () => "",
  [X]: (from) => (from.text() === "inf" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY),
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
