// The touch sum (docs/codec.md): what each value of a row adds to it.
//
// Numbers are summed as doubles, which are exact below 2^53; the loop moves them into `total`, a BigInt, in time. What
// is generated here takes usual values. Any other throws or leaves a sum that is no integer: then `unusualRow` takes the whole row.

import { noNumber, numeral, plainDecimal } from "./codec.js";

export const SUM_LIMIT = 2 ** 51;
const NUMBER_DIGITS = 14; // of 60 columns the sum of a row stays exact
const NUMBER_LIMIT = 10 ** NUMBER_DIGITS;
const FLOAT_LIMIT = 2 ** 53;
const NULL = 1n;
const NO_INTEGER = 3n;
const OTHER_KIND = 5n;

/** A 64-bit integer of SQL's text: a number where it is small, else a BigInt; any other text as it is. */
export function toInteger(text) {
  if (text.length <= NUMBER_DIGITS) {
    const number = +text;
    return Number.isNaN(number) ? text : number;
  }
  return /^[+-]?\d+$/.test(text) ? BigInt(text) : text;
}

/** The integral part of a decimal, which is text in JavaScript: a number where it is small, else a BigInt. */
export function integralPart(text) {
  const point = text.indexOf(".");
  const whole = point < 0 ? text : text.slice(0, point);
  if (whole.length > NUMBER_DIGITS) return BigInt(whole);
  const number = +whole;
  return number > -NUMBER_LIMIT && number < NUMBER_LIMIT ? number : unusualDecimal(text);
}

/** A float truncated towards zero: a number where it is small, else a BigInt; 3 where no integer is near. */
export function truncated(value) {
  if (typeof value === "bigint") return value;
  if (value > -NUMBER_LIMIT && value < NUMBER_LIMIT) return Math.trunc(value) || (value === null ? 1 : 0);
  return Math.abs(value) < FLOAT_LIMIT ? BigInt(Math.trunc(value)) : 3;
}

const ADDED = {
  integer: (v) => v,
  decimal: (v) => `(typeof ${v} === "string" ? integralPart(${v}) : truncated(${v}))`,
  float32: (v) => `truncated(${v})`,
  float64: (v) => `truncated(${v})`,
  boolean: (v) => `(${v} ? 1 : ${v} === null ? 1 : 0)`,
  date: (v) => `(typeof ${v} === "number" ? 5 : ${v}.getUTCDate())`,
  time: (v) => `(Math.abs(Math.trunc(${v} / 1e9)) % 60 || (${v} === null ? 1 : 0))`,
  timestamp: (v) => `(typeof ${v} === "number" ? 5 : +${v}.second)`,
};
ADDED.timestamptz = ADDED.timestamp;
ADDED.timetz = ADDED.timestamp;
for (const type of ["char", "varchar", "text", "json", "binary"]) ADDED[type] = (v) => `+${v}.length`;
const MAY_BE_LARGE = new Set(["decimal", "float32", "float64"]);

/** JavaScript that adds the value in variable `v` to `sum`, or what is large to `total`; `first` names a variable. */
export function touchStatement(column, v, first) {
  const added = (ADDED[column.type] ?? (() => `(${v} === null ? 1 : 5)`))(v);
  const add =
    MAY_BE_LARGE.has(column.type) || column.type === "integer"
      ? `const ${first} = ${added}; if (typeof ${first} === "number") sum += ${first};
         else if (typeof ${first} === "bigint") total += ${first}; else sum = NaN;`
      : `sum += ${added};`;
  return column.nullable ? `if (${v} === null) sum += 1; else { ${add} }` : add;
}

/** JavaScript that keeps `sum` exact, and has an unusual row, or one of very large numbers, taken by `unusual`. */
export const KEEP_EXACT = `
if (Math.floor(sum) !== sum || sum > ${SUM_LIMIT} || sum < -${SUM_LIMIT}) {
  if (Number.isSafeInteger(sum)) { total += BigInt(sum); sum = 0; }
  else { total = totalBeforeRow + unusual(row); sum = sumBeforeRow; }
}`;

function unusualDecimal(value) {
  const text = numeral(value);
  if (text === null) return OTHER_KIND;
  return noNumber(text) ? NO_INTEGER : BigInt(plainDecimal(text).split(".")[0]);
}

const wholeNumber = (value) => (Number.isInteger(value) || typeof value === "bigint" ? BigInt(value) : OTHER_KIND);
const length = (value) => (typeof value === "string" || value instanceof Uint8Array ? value.length : null);
const secondOf = (value) => (value instanceof Date ? value.getUTCSeconds() : value.second);

/** What a value of any kind adds, by its column's type. */
const UNUSUAL = {
  decimal: unusualDecimal,
  float32: (value) => (typeof value === "number" ? BigInt(truncated(value)) : unusualDecimal(value)),
  boolean: (value) => (typeof value === "boolean" ? Number(value) : value),
  date: (value) => value.getUTCDate(),
  time: (value) => Math.abs(Math.trunc(value / 1e9)) % 60,
  timetz: secondOf,
  timestamp: secondOf,
  timestamptz: secondOf,
  integer: unusualDecimal,
  char: length,
  varchar: length,
  text: length,
  json: length,
  binary: length,
};
UNUSUAL.float64 = UNUSUAL.float32;

function unusualValue(value, { type }) {
  if (value === null) return NULL;
  try {
    return wholeNumber(UNUSUAL[type]?.(value));
  } catch {
    return OTHER_KIND;
  }
}

/** A function that gives what a row adds in which a value is of another kind than its column, or has no number. */
export function unusualRow(columns, converters) {
  const converted = (value, convert) => {
    try {
      return value !== null && convert ? convert(value) : value;
    } catch {
      return value;
    }
  };
  return (row) => columns.reduce((sum, column, i) => sum + unusualValue(converted(row[i], converters[i]), column), 0n);
}

/** The sum as the protocol writes it: 16 hexadecimal digits. */
export function touchText(total) {
  return BigInt.asUintN(64, total).toString(16).padStart(16, "0");
}
