// Answers, line by line, for tests/runners/node/test_codec.py: `hash HEX` with the XXH64 of the bytes; `value VECTOR` (as
// JSON, a value of codec_vectors.json) with the bytes, the digest and, of `verify` and of the loop, the touch of its
// value, which a parameter file must give in the same form; `result RESULT` with what `verify` replies of
// its rows; `delivered CASE` (a column, and JavaScript that gives a driver's value) with the bytes, both touches, the
// number of foreign values and the reason; `text TYPE TEXT` with the bytes of what the converter of the type makes of
// the text; `decimal TEXT` with its plain notation; `bucket N`.

import { createInterface } from "node:readline";
import { Bytes, encodeRow, plainDecimal, Typed } from "../core/codec.js";
import { Decoder } from "../core/decoder.js";
import { Column } from "../core/column.js";
import { hash } from "../core/digest.js";
import { Interval, Moment, WrittenDay, ZonedTime, toDate, toMoment, toTime, toZonedTime } from "../core/iso.js";
import { Operation } from "../core/operation.js";
import { Sampler } from "../core/sampler.js";
import { bucketOf } from "../core/shared_counters.js";
import { toInteger, touchText } from "../core/touch.js";
import { arrayConverter } from "../families/postgresql/arrays.js";
import { FROM_TEXT } from "../families/text/values.js";

function samplerOf(columns, rows, converters = []) {
  return new Sampler("query", columns, new Operation({ execute: () => rows, rows: "here", converters }));
}

async function answerOf(column, raw, converters = []) {
  const sampler = samplerOf([column], [[raw]], converters);
  const verified = await sampler.verify(0, 1, 1);
  const { total } = await sampler.byCount(0, 0, 1);
  const value = raw !== null && converters[0] ? converters[0](raw) : raw;
  const bytes = encodeRow(new Bytes(), [value], [column]).toString("hex");
  return { bytes, verified, touches: [verified.touch, touchText(total)] };
}

const FLOATS = { NaN: Number.NaN, inf: Number.POSITIVE_INFINITY, "-inf": Number.NEGATIVE_INFINITY };
const number = (text) => FLOATS[text] ?? Number(text);
const ownKinds = { hex: (text) => Buffer.from(text, "hex"), integer: BigInt, float: number };
const orInfinite = (read) => (value) => (value in FLOATS ? FLOATS[value] : read(value));
const NATURAL = {
  integer: BigInt,
  float32: number,
  float64: number,
  binary: (text) => Buffer.from(text, "hex"),
  date: orInfinite(toDate),
  time: toTime,
  timetz: toZonedTime,
  timestamp: orInfinite(toMoment),
  timestamptz: orInfinite(toMoment),
  interval: (value) => FLOATS[value] ?? new Interval(value[0], value[1], BigInt(value[2])),
  array: (value, column) => elementsOf(value, column),
  struct: (value, column) => value.map((each, i) => natural(each, column.fields[i])),
  rows: (value, column) => value.map((row) => row.map((each, i) => natural(each, column.fields[i]))),
};
NATURAL.map = NATURAL.rows;

function elementsOf(value, column) {
  const [element] = column.fields;
  const deeper = !["array", "struct", "map", "rows"].includes(element.type);
  return value.map((each) => natural(each, deeper && typeof each === "object" && each !== null ? column : element));
}

/** A vector's value as Node has it. */
function natural(value, column) {
  if (value === null) return null;
  if (value.lower !== undefined) return Object.assign(elementsOf(value.elements, column), { lower: value.lower });
  const [[kind, own] = []] = typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
  return kind ? ownKinds[kind](own) : (NATURAL[column.type] ?? ((each) => each))(value, column);
}

const columnOf = ({ type, column = {} }) => new Column({ name: "value", type, ...column });
const NAMES = { Buffer, Interval, Moment, Typed, WrittenDay, ZonedTime };

const ANSWERS = {
  hash: (rest) => touchText(hash(Buffer.from(rest, "hex"))),
  async value(rest) {
    const vector = JSON.parse(rest);
    const column = columnOf(vector);
    const { bytes, verified, touches } = await answerOf(column, natural(vector.value, column));
    if (vector.parameter !== false) {
      const decoded = await answerOf(column, new Decoder(Buffer.from(vector.bytes, "hex")).value(column));
      if (decoded.bytes !== bytes) return `decoded: ${decoded.bytes}`;
      if (column.type === "char") touches.splice(0, 2, ...decoded.touches); // its own may be padded
    }
    return [bytes, verified.digest, ...touches].join(" ");
  },
  async result(rest) {
    const { columns: specs, rows } = JSON.parse(rest);
    const columns = specs.map((spec) => new Column(spec));
    const values = rows.map((row) => row.map((value, i) => natural(value, columns[i])));
    return JSON.stringify(await samplerOf(columns, values).verify(0, 1, values.length));
  },
  async delivered(rest) {
    const { javascript, ...spec } = JSON.parse(rest);
    const raw = new Function(...Object.keys(NAMES), `return ${javascript}`)(...Object.values(NAMES));
    const column = columnOf(spec);
    const { bytes, verified, touches } = await answerOf(column, raw);
    const { foreign = 0, reason = "" } = verified.columns[0];
    return JSON.stringify({ bytes, touches, foreign, reason, digest: verified.digest });
  },
  async text(rest) {
    const [type] = rest.split(" ", 1);
    const column = new Column({ name: "value", type, bits: 64 });
    const convert = type === "array" ? arrayConverter(column, toInteger) : FROM_TEXT[type];
    return (await answerOf(column, rest.slice(type.length + 1), [convert])).bytes;
  },
  decimal: plainDecimal,
  bucket: (rest) => String(bucketOf(Number(rest))),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [kind] = line.split(" ", 1);
  try {
    console.log(await ANSWERS[kind](line.slice(kind.length + 1)));
  } catch (error) {
    console.log(`error ${error.kind ?? error.name}: ${error.stack.replaceAll("\n", " ")}`);
  }
}
