// Values as text, and inside the SQL (statement=text).

import { dateText, timeText } from "../../core/iso.js";
import { splitPlaceholders } from "./placeholders.js";

/** An interval in ISO 8601. */
export function intervalText({ months, days, nanoseconds }) {
  const ns = BigInt(nanoseconds);
  const sign = ns < 0n ? "-" : "";
  const [whole, fraction] = [(ns < 0n ? -ns : ns) / 1_000_000_000n, (ns < 0n ? -ns : ns) % 1_000_000_000n];
  return `P${months}M${days}DT${sign}${whole}.${String(fraction).padStart(9, "0")}S`;
}

/** The text of a value that may be infinite, then a number. */
const orInfinity = (text) => (value) =>
  typeof value === "number" ? (value > 0 ? "infinity" : "-infinity") : text(value);

function arrayText(value) {
  return Array.isArray(value) ? `{${value.map(arrayText).join(",")}}` : String(value ?? "NULL");
}

const TEXTS = {
  date: orInfinity(dateText),
  time: timeText,
  timestamp: orInfinity(String),
  timestamptz: orInfinity((value) => `${value}+00`),
  interval: orInfinity(intervalText),
  array: arrayText,
};

/** What a driver takes of a value that JavaScript has no type for, or none of its own: its text. */
export function asParameter(value, column) {
  return value === null || !TEXTS[column.type] ? value : TEXTS[column.type](value);
}

/** A row of parameters as drivers take it. */
export function asParameters(row, columns) {
  return row.map((value, i) => asParameter(value, columns[i]));
}

/** A value as it stands inside SQL, for engines that keep to the standard and know `\x` of bytes. */
export function literal(value, column) {
  if (value === null) return "NULL";
  if (typeof value === "boolean") return String(value);
  if (Number.isFinite(value) || typeof value === "bigint")
    return column.type === "time" ? `'${timeText(value)}'` : String(value);
  if (value instanceof Uint8Array) return `'\\x${value.toString("hex")}'`;
  return `'${String(asParameter(value, column)).replaceAll("'", "''")}'`;
}

/** The SQL with its `?` placeholders replaced by the literals of a row. */
export function withLiterals(sql, row, columns, write = literal) {
  const [first, ...rest] = splitPlaceholders(sql);
  return first + rest.map((part, i) => write(row[i], columns[i]) + part).join("");
}
