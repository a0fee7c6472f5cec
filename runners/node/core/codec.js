// The codec's bytes of values (docs/codec.md).
//
// No value is an error here: one of another kind than its column takes the nearest form, and what has none is foreign.

import { Column } from "./column.js";
import { printable } from "./failure.js";
import { Interval, Moment, WrittenDay, ZonedTime, daysOf, toDate, toMoment, toTime, toZonedTime } from "./iso.js";

const DAY_MS = 86_400_000;
const DAY_S = 86_400;
const SECOND_NS = 1_000_000_000;
const MOST_DIGITS = 200_000; // of a decimal: more than any engine has, and less than memory
const FOREIGN_BYTES = 100;
const EXACT = 2 ** 53;
const DECIMAL = /^([+-]?)(\d*)(?:[.](\d*))?(?:[eE]([+-]?\d+))?$/;
const NO_NUMBER = /^([+-]?)(nan|inf(?:inity)?)$/i;
const NAN = Buffer.from("000000000000f87f", "hex");
const [N, F, L, S, B, D, T, TS, TZ, I, U, A, O, X] = [..."NFLSBdtTZIUAOX"].map((each) => each.charCodeAt(0));
const [BITS, TIME_TZ, NO_DAY, STRUCT, MAP, ROWS, LOWER, FOREIGN] = [..."byYKMRa?"].map((each) => each.charCodeAt(0));

/** What is said of a column's values beside their hashes. */
export class Findings {
  finestNs = 0;
  bounds = false;
  foreign = 0;
  reason = "";

  /** One more time with these nanoseconds; whole seconds do not matter. */
  time(ns) {
    const unit = ns % 1000 ? 1 : ns % 1_000_000 ? 1000 : ns % SECOND_NS ? 1_000_000 : SECOND_NS;
    if (!this.finestNs || unit < this.finestNs) this.finestNs = unit;
  }
}

/** Bytes that grow, and what was found in the values that they are of. */
export class Bytes {
  constructor() {
    this.buffer = Buffer.allocUnsafe(4096);
    this.length = 0;
    this.findings = new Findings();
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
    if (!text.isWellFormed()) return this.binary(tag, withSurrogates(text));
    const size = Buffer.byteLength(text);
    const at = this.#sized(tag, size); // before the buffer is read: it may be a larger one then
    this.buffer.write(text, at, size, "utf8");
  }

  /** A tag, a length and bytes. */
  binary(tag, bytes) {
    const at = this.#sized(tag, bytes.length);
    this.buffer.set(bytes, at);
  }

  /** A tag and a number of values. */
  count(tag, count) {
    this.tag(tag);
    const at = this.room(4);
    this.buffer.writeUInt32LE(count, at);
  }

  int32(value) {
    if (!Number.isInteger(value)) throw new RangeError(`${value} is no integer`); // it would be written as 0
    const at = this.room(4);
    this.buffer.writeInt32LE(value, at);
  }

  int64(value) {
    const at = this.room(8);
    this.buffer.writeBigInt64LE(value, at);
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

/** UTF-8 in which a surrogate without its other half is three bytes. */
function withSurrogates(text) {
  const part = (sign) => {
    const code = sign.codePointAt(0);
    const alone = code >= 0xd800 && code <= 0xdfff;
    return alone
      ? Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)])
      : Buffer.from(sign);
  };
  return Buffer.concat([...text].map(part));
}

/** A value of a column of any type that has a type of its own: JavaScript's would not say which. */
export class Typed {
  constructor(type, value) {
    this.type = type;
    this.value = value;
  }
}

/** What JavaScript calls the type of a value. */
export function nameOfType(value) {
  return typeof value === "object" && value !== null ? (value.constructor?.name ?? "object") : typeof value;
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

/** The text of a number of any kind, in any notation; null of what spells none. */
export function numeral(value) {
  if (typeof value === "bigint" || typeof value === "boolean") return BigInt(value).toString();
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return null;
  const text = value.trim();
  if (NO_NUMBER.test(text)) return text;
  const [, , whole, fraction = "", exponent = "0"] = DECIMAL.exec(text) ?? [];
  return (whole || fraction) && Math.abs(exponent) < MOST_DIGITS ? text : null;
}

/** Of what is no number: `nan`, `inf`, `-inf`; null of a number. */
export function noNumber(text) {
  const [, sign, name] = NO_NUMBER.exec(text) ?? [];
  if (!name) return null;
  return /^n/i.test(name) ? "nan" : sign === "-" ? "-inf" : "inf";
}

// An encoder returns false where its column's type has no form for the value; what it wrote by then is taken back.

function integer(out, value) {
  const text = numeral(value);
  if (text === null || noNumber(text)) return false;
  return out.text(N, plainDecimal(text));
}

function decimal(out, value) {
  const text = numeral(value);
  return text === null ? false : out.text(N, noNumber(text) ?? plainDecimal(text));
}

function floatOf(value) {
  if (typeof value === "number") return value;
  const text = numeral(value);
  if (text === null) return null;
  const none = noNumber(text);
  if (none) return none === "nan" ? Number.NaN : none === "inf" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return Number(text);
}

function float(out, value, column) {
  const number = floatOf(value);
  if (number === null) return false;
  out.tag(F);
  const at = out.room(8);
  if (Number.isNaN(number)) out.buffer.set(NAN, at);
  else out.buffer.writeDoubleLE((column.type === "float32" ? Math.fround(number) : number) + 0, at);
}

const TRUTHS = new Map([
  ...[true, 1, 1n, "t", "true", "1"].map((each) => [each, 1]),
  ...[false, 0, 0n, "f", "false", "0"].map((each) => [each, 0]),
]);

function boolean(out, value) {
  const truth = TRUTHS.get(typeof value === "string" ? value.toLowerCase() : value);
  if (truth === undefined) return false;
  out.tag(L);
  out.tag(truth);
}

/** Text, or its bytes where the driver hands over bytes; null of what has no text. */
function textOf(value) {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  if (["number", "bigint", "boolean"].includes(typeof value)) return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(","); // a set
  return value instanceof Moment ? String(value) : null;
}

const withoutBlanks = (text) => text.replace(/ +$/, "");

function char(out, value) {
  const text = textOf(value);
  if (!(text instanceof Uint8Array)) return text === null ? false : out.text(S, withoutBlanks(text));
  return out.binary(S, Buffer.from(withoutBlanks(Buffer.from(text).toString("latin1")), "latin1"));
}

function string(out, value) {
  const text = textOf(value);
  if (text === null) return false;
  return text instanceof Uint8Array ? out.binary(S, text) : out.text(S, text);
}

function json(out, value) {
  return string(out, typeof value === "object" && !(value instanceof Uint8Array) ? JSON.stringify(value) : value);
}

function binary(out, value) {
  if (typeof value === "string") return out.text(B, value);
  return value instanceof Uint8Array ? out.binary(B, value) : false;
}

/** Bits as text: of bytes, or of a number, the lowest ones, as many as are declared. */
function bitsText(value, length) {
  if (typeof value === "string") return /^[01]*$/.test(value) ? value : null;
  let number = value;
  if (value instanceof Uint8Array) number = BigInt(`0x${Buffer.from(value).toString("hex") || "0"}`);
  else if (typeof value !== "bigint" && typeof value !== "boolean" && !Number.isSafeInteger(value)) return null;
  const count = length || (value instanceof Uint8Array ? 8 * value.length : 1);
  return count ? BigInt.asUintN(count, BigInt(number)).toString(2).padStart(count, "0") : "";
}

function bits(out, value, column) {
  const text = bitsText(value, column.length);
  if (text === null) return false;
  const count = Math.ceil(text.length / 8);
  out.count(BITS, text.length);
  const at = out.room(count);
  for (let i = 0; i < count; i++) out.buffer[at + i] = Number.parseInt(text.slice(8 * i, 8 * i + 8).padEnd(8, "0"), 2);
}

function infinite(out, value) {
  if (value !== Number.POSITIVE_INFINITY && value !== Number.NEGATIVE_INFINITY) return false;
  out.text(X, value > 0 ? "inf" : "-inf");
  return true;
}

/** Nanoseconds, a BigInt, in the column's unit. */
function cut(out, ns, column) {
  const unit = column.unitNs;
  out.findings.time(Number(ns % BigInt(SECOND_NS)));
  if (unit === 1n) return ns;
  const sum = ns + (column.rounded ? unit / 2n : 0n);
  return sum - (((sum % unit) + unit) % unit);
}

function noDay(out, { year, month, day }, ns) {
  out.tag(NO_DAY);
  out.int32(year);
  out.tag(month);
  out.tag(day);
  out.int64(ns);
}

/** Days since 1970 of a date of any kind: null where no calendar has it, NaN of what is none. */
function daysSince1970(day) {
  if (day instanceof Date) return Math.floor(day.getTime() / DAY_MS);
  if (day instanceof WrittenDay) return daysOf(day.year, day.month, day.day);
  return day instanceof Moment ? Math.floor(day.seconds / DAY_S) : Number.NaN;
}

function date(out, value) {
  const day = typeof value === "string" ? toDate(value) : value;
  if (infinite(out, day)) return;
  const days = daysSince1970(day);
  if (days === null) return noDay(out, day, 0n);
  if (Number.isNaN(days)) return false;
  out.tag(D);
  out.int32(days);
}

/** Nanoseconds of a time of day, a BigInt; null of what is none. */
function nanosecondsOf(value) {
  const ns = typeof value === "string" ? toTime(value) : value;
  return typeof ns === "bigint" || Number.isSafeInteger(ns) ? BigInt(ns) : null;
}

function time(out, value, column) {
  const ns = nanosecondsOf(value);
  if (ns === null) return false;
  out.tag(T);
  out.int64(cut(out, ns, column));
}

function zonedTime(out, value, column) {
  const zoned = typeof value === "string" ? toZonedTime(value) : value;
  if (!(zoned instanceof ZonedTime)) return false;
  out.tag(TIME_TZ);
  out.int64(cut(out, BigInt(zoned.nanoseconds), column));
  out.int32(zoned.offset);
}

const moment = (tag) => (out, value, column) => {
  let at = typeof value === "string" ? toMoment(value) : value;
  if (infinite(out, at)) return;
  if (at instanceof Date) {
    const seconds = Math.floor(at.getTime() / 1000);
    at = new Moment(seconds, (at.getTime() - seconds * 1000) * 1_000_000);
  }
  if (at instanceof WrittenDay) return noDay(out, at, cut(out, BigInt(at.nanoseconds), column));
  if (!(at instanceof Moment)) return false;
  let { seconds, nanoseconds } = at;
  if (column.unitNs === 1n) out.findings.time(nanoseconds);
  else nanoseconds = Number(cut(out, BigInt(nanoseconds), column));
  if (nanoseconds === SECOND_NS) [seconds, nanoseconds] = [seconds + 1, 0];
  out.tag(tag);
  out.int64(BigInt(seconds));
  const place = out.room(4);
  out.buffer.writeUInt32LE(nanoseconds, place);
};

function interval(out, value, column) {
  if (infinite(out, value)) return;
  if (!(value instanceof Interval)) return false;
  out.tag(I);
  out.int32(value.months);
  out.int32(value.days);
  out.int64(cut(out, BigInt(value.nanoseconds), column));
}

function uuid(out, value) {
  const hex = value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value).replace(/[-{}]/g, "");
  if (!/^[0-9a-f]{32}$/i.test(hex)) return false;
  out.tag(U);
  const at = out.room(16);
  out.buffer.write(hex, at, "hex");
}

const NESTED = new Set(["array", "struct", "map", "rows"]);

function array(out, value, column) {
  if (!Array.isArray(value)) return false;
  const [element] = column.fields;
  const { lower = 1 } = value;
  if (lower !== 1) {
    out.findings.bounds = true;
    if (column.bounds) {
      out.tag(LOWER);
      out.int32(lower);
    }
  }
  out.count(A, value.length);
  // A further dimension is no other type: an element that is itself an array.
  for (const each of value) encodeValue(out, each, Array.isArray(each) && !NESTED.has(element.type) ? column : element);
}

function struct(out, value, column) {
  if (typeof value !== "object") return false;
  const members = Array.isArray(value) ? value : Object.values(value);
  out.count(STRUCT, column.fields.length);
  for (let i = 0; i < column.fields.length; i++) encodeValue(out, members[i], column.fields[i]);
}

function map(out, value, column) {
  if (!Array.isArray(value) && !(value instanceof Map)) return false;
  const [key, inner] = column.fields;
  const entries = [...value];
  out.count(MAP, entries.length);
  const begin = out.length;
  const sorted = entries
    .map(([name, each]) => {
      out.length = begin;
      encodeValue(out, name, key);
      encodeValue(out, each, inner);
      return Buffer.from(out.buffer.subarray(begin, out.length));
    })
    .sort(Buffer.compare);
  out.length = begin;
  for (const entry of sorted) {
    const at = out.room(entry.length); // before the buffer is read: it may be a larger one then
    out.buffer.set(entry, at);
  }
}

function rows(out, value, column) {
  if (!Array.isArray(value)) return false;
  out.count(ROWS, value.length);
  for (const row of value) column.fields.forEach((field, i) => encodeValue(out, row[i], field));
}

const KINDS = [
  [Uint8Array, "binary"],
  [Date, "date"],
  [WrittenDay, "date"],
  [Moment, "timestamp"],
  [ZonedTime, "timetz"],
  [Interval, "interval"],
  [Array, "array"],
  [Object, "struct"],
];

/** The type of a value that has none declared. */
function kindOf(value) {
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < EXACT ? "integer" : "float64";
  if (typeof value === "object") return KINDS.find(([kind]) => value instanceof kind)?.[1] ?? "text";
  return { bigint: "integer", boolean: "boolean" }[typeof value] ?? "text";
}

function any(out, value, column) {
  const { type, value: own } = value instanceof Typed ? value : { type: kindOf(value), value };
  const members = { array: 1, map: 2, struct: Object.keys(own ?? {}).length }[type] ?? 0;
  const fields = Array.from({ length: members }, () => ({ type: "any", nullable: true }));
  return encodeValue(out, own, new Column({ type, fields }, column));
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
  json,
  binary,
  bits,
  date,
  time,
  timetz: zonedTime,
  timestamp: moment(TS),
  timestamptz: moment(TZ),
  interval,
  uuid,
  array,
  struct,
  map,
  rows,
  any,
  opaque: (out) => out.tag(O),
};

/** What a value says of itself. */
function ownText(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  const text = String(value);
  return text.startsWith("[object ") ? (JSON.stringify(value) ?? text) : text;
}

function foreign(out, value, column, problem) {
  const { findings } = out;
  let text = nameOfType(value);
  try {
    text = ownText(value);
  } catch {} // of an object that has no text: its class is what can be said
  findings.foreign++;
  findings.reason ||= printable(`${JSON.stringify(text)} (${nameOfType(value)}) is no ${column.type}${problem}`);
  const bytes = new Uint8Array(FOREIGN_BYTES);
  const { written } = new TextEncoder().encodeInto(text, bytes);
  out.binary(FOREIGN, bytes.subarray(0, written));
}

function encodeValue(out, value, column) {
  if (value === null) return out.tag(0);
  const begin = out.length;
  let problem = "";
  try {
    if (ENCODERS[column.type](out, value, column) !== false) return;
  } catch (error) {
    problem = `: ${error.message}`;
  }
  out.length = begin;
  foreign(out, value, column, problem);
}

const SURPLUS = new Column({ type: "any" });

/**
 * Writes the bytes of a row of natural values. `findings` has one entry per column, `ends` gets where each value ends.
 * Of a row with more values than declared every one is written; one that is not there is `undefined`, and foreign.
 */
export function encodeRow(out, row, columns, findings = [], ends = []) {
  out.length = 0;
  for (let i = 0; i < columns.length; i++) {
    out.findings = findings[i] ?? out.findings;
    encodeValue(out, row[i], columns[i]);
    ends[i] = out.length;
  }
  out.findings = new Findings(); // of no column
  for (let i = columns.length; i < row.length; i++) encodeValue(out, row[i], SURPLUS);
  return out.written();
}
