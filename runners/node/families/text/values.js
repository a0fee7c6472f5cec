// Natural values of what arrives as text.

import { Misfit } from "../../core/failure.js";
import { toDate, toMoment, toTime } from "../../core/iso.js";
import { toInteger } from "../../core/touch.js";

/** A converter that turns text into a natural value: it is listed as such. */
export function fromText(convert) {
  return Object.assign(convert, { fromText: true });
}

function toElements(text) {
  if (text.includes("{", 1)) return [[]]; // of more dimensions: the codec says so
  return text === "{}"
    ? []
    : text
        .slice(1, -1)
        .split(",")
        .map((each) => (each === "NULL" ? null : toInteger(each)));
}

const UNITS = { Y: "years", M: "months", W: "weeks", D: "days" };
const NS = 1_000_000_000n;

/** Nanoseconds of seconds in plain notation. */
function secondsNs(text) {
  const [whole, fraction = ""] = text.replace("-", "").split(".");
  const ns = BigInt(whole) * NS + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
  return text.startsWith("-") ? -ns : ns;
}

/** An interval in ISO 8601 as `[months, days, nanoseconds]`. */
export function toInterval(text) {
  if (!/^P[-\dYMWDTHS.]+$/.test(text)) throw new Misfit(`${JSON.stringify(text)} is no interval`);
  const [days, clock = ""] = text.slice(1).split("T");
  const amounts = { years: 0, months: 0, weeks: 0, days: 0 };
  for (const [, amount, unit] of days.matchAll(/(-?\d+)([YMWD])/g)) amounts[UNITS[unit]] = Number(amount);
  let ns = 0n;
  for (const [, amount, unit] of clock.matchAll(/(-?[\d.]+)([HMS])/g)) {
    ns += secondsNs(amount) * { H: 3600n, M: 60n, S: 1n }[unit];
  }
  return [amounts.years * 12 + amounts.months, amounts.weeks * 7 + amounts.days, ns];
}

/** The natural converter of what some drivers deliver as text. */
export const FROM_TEXT = {
  date: fromText((text) => toDate(text)),
  time: fromText((text) => toTime(text)),
  timestamp: fromText((text) => toMoment(text)),
  timestamptz: fromText((text) => toMoment(text)),
  interval: fromText((text) => toInterval(text)),
  array: fromText((text) => toElements(text)),
};

/** Integers of 64 bits, which most drivers deliver as text: a number where it is small, else a BigInt. */
export const WIDE_INTEGER = fromText((value) => (typeof value === "string" ? toInteger(value) : value));

/** Integers of at most 32 bits that an engine delivers with 64: MySQL's constants and counts. */
export function narrowInteger(value) {
  return typeof value === "number" ? value : Number(value);
}
