// Natural values of what arrives as text.

import { Interval, orInfinite, toDate, toMoment, toTime, toZonedTime } from "../../core/iso.js";
import { toInteger } from "../../core/touch.js";

/** A converter that turns text into a natural value: a column for which it gets text is listed as converted. */
export function fromText(convert) {
  return Object.assign(convert, { fromText: true });
}

const UNITS = { Y: "years", M: "months", W: "weeks", D: "days" };
const NS = 1_000_000_000n;

/** Nanoseconds of seconds in plain notation. */
function secondsNs(text) {
  const [whole, fraction = ""] = text.replace("-", "").split(".");
  const ns = BigInt(whole) * NS + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
  return text.startsWith("-") ? -ns : ns;
}

/** An interval in ISO 8601; ±Infinity for an infinite one. */
export function toInterval(text) {
  if (!/^P(-?\d+[YMWD])*(T(-?\d+([.]\d+)?[HMS])+)?$/.test(text)) return orInfinite(text);
  const [days, clock = ""] = text.slice(1).split("T");
  const amounts = { years: 0, months: 0, weeks: 0, days: 0 };
  for (const [, amount, unit] of days.matchAll(/(-?\d+)([YMWD])/g)) amounts[UNITS[unit]] = Number(amount);
  let ns = 0n;
  for (const [, amount, unit] of clock.matchAll(/(-?[\d.]+)([HMS])/g)) {
    ns += secondsNs(amount) * { H: 3600n, M: 60n, S: 1n }[unit];
  }
  return new Interval(amounts.years * 12 + amounts.months, amounts.weeks * 7 + amounts.days, ns);
}

/** The natural converter of what some drivers deliver as text. */
export const FROM_TEXT = {
  date: fromText((text) => toDate(text)),
  time: fromText((text) => toTime(text)),
  timetz: fromText((text) => toZonedTime(text)),
  timestamp: fromText((text) => toMoment(text)),
  timestamptz: fromText((text) => toMoment(text)),
  interval: fromText((text) => toInterval(text)),
};

/** Integers of 64 bits, which most drivers deliver as text: a number where it is small, else a BigInt. */
export const WIDE_INTEGER = fromText((value) => (typeof value === "string" ? toInteger(value) : value));

/** Integers of at most 32 bits that an engine delivers with 64: constants and counts. */
export function narrowInteger(value) {
  if (typeof value === "number") return value;
  const number = typeof value === "bigint" || /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : value;
}
