// The touch sum (docs/codec.md): what each value of a row adds to it.
//
// Numbers are summed as doubles, which are exact below 2^53; the loop moves them into `total`, a BigInt, in time.

export const SUM_LIMIT = 2 ** 51;
const NUMBER_DIGITS = 14; // of 60 columns the sum of a row stays exact
const NUMBER_LIMIT = 10 ** NUMBER_DIGITS;
const FLOAT_LIMIT = 2 ** 53;

/** A 64-bit integer of SQL's text: a number where it is small, else a BigInt. */
export function toInteger(text) {
  return text.length <= NUMBER_DIGITS ? +text : BigInt(text);
}

/** The integral part of a decimal, which is text in JavaScript: a number where it is small, else a BigInt. */
export function integralPart(text) {
  const point = text.indexOf(".");
  const whole = point < 0 ? text : text.slice(0, point);
  return whole.length <= NUMBER_DIGITS ? +whole || 0 : BigInt(whole === "-" ? 0 : whole);
}

/** A float truncated towards zero: a number where it is small, else a BigInt; 3 where no integer is near. */
export function truncated(value) {
  if (typeof value === "bigint") return value;
  if (value > -NUMBER_LIMIT && value < NUMBER_LIMIT) return Math.trunc(value);
  return Math.abs(value) < FLOAT_LIMIT ? BigInt(Math.trunc(value)) : 3;
}

const ADDED = {
  integer: (v) => v,
  decimal: (v) => `(typeof ${v} === "string" ? integralPart(${v}) : truncated(${v}))`,
  float32: (v) => `truncated(${v})`,
  float64: (v) => `truncated(${v})`,
  boolean: (v) => `(${v} ? 1 : 0)`,
  date: (v) => `(typeof ${v} === "number" ? 5 : ${v}.getUTCDate())`,
  time: (v) => `(Math.floor(${v} / 1e9) % 60)`,
  timestamp: (v) => `(typeof ${v} === "number" ? 5 : ${v}.second)`,
};
ADDED.timestamptz = ADDED.timestamp;
for (const type of ["char", "varchar", "text", "json", "binary"]) ADDED[type] = (v) => `${v}.length`;
const MAY_BE_LARGE = new Set(["decimal", "float32", "float64"]);

/** JavaScript that adds the value in variable `v` to `sum`, or what is large to `total`; `first` names a variable. */
export function touchStatement(column, v, first) {
  const added = (ADDED[column.type] ?? (() => "5"))(v);
  const large = MAY_BE_LARGE.has(column.type) || (column.type === "integer" && column.bits > 32);
  const add = large
    ? `const ${first} = ${added}; if (typeof ${first} === "number") sum += ${first}; else total += BigInt(${first});`
    : `sum += ${added};`;
  return column.nullable ? `if (${v} === null) sum += 1; else { ${add} }` : add;
}

/** JavaScript that keeps `sum` exact. */
export const KEEP_EXACT = `if (sum > ${SUM_LIMIT} || sum < -${SUM_LIMIT}) { total += BigInt(sum); sum = 0; }`;

/** The sum as the protocol writes it: 16 hexadecimal digits. */
export function touchText(total) {
  return BigInt.asUintN(64, total).toString(16).padStart(16, "0");
}
