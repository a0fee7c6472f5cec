// Natural values of dates and times. Date has milliseconds only: a Moment has the nanoseconds beside them.

import { Misfit, Unsupported } from "./failure.js";

const DAY_NS = 86_400_000_000_000;
const SHAPE =
  /^(\d{4,})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:[.](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?(?::?\d\d)?)?)?( BC)?$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:[.](\d{1,9}))?)?$/;
const CYCLE_MS = 146_097 * 86_400_000; // 400 years: Date.UTC takes the years 0 to 99 for others

/** An instant, or a date with its time of day as if UTC: whole seconds since 1970, and nanoseconds. */
export class Moment {
  constructor(seconds, nanoseconds) {
    this.seconds = seconds;
    this.nanoseconds = nanoseconds;
  }

  /** The second of the minute. */
  get second() {
    return ((this.seconds % 60) + 60) % 60;
  }

  /** ISO 8601 with a blank, as SQL has it. */
  toString() {
    const date = new Date(this.seconds * 1000);
    const clock = date.toISOString().split("T")[1].slice(0, 8);
    const fraction = this.nanoseconds ? `.${String(this.nanoseconds).padStart(9, "0").replace(/0+$/, "")}` : "";
    return `${dateText(date)} ${clock}${fraction}`;
  }
}

/** A date as ISO 8601. */
export function dateText(date) {
  return date
    .toISOString()
    .split("T")[0]
    .replace(/^\+0*(?=\d{5})/, "");
}

/** Nanoseconds since midnight as ISO 8601. */
export function timeText(ns) {
  return new Moment(Math.floor(ns / 1e9), ns % 1e9).toString().split(" ")[1];
}

function fractionNs(digits) {
  return digits ? Number(digits.padEnd(9, "0")) : 0;
}

function offsetSeconds(zone) {
  if (!zone || zone === "Z") return 0;
  const [hours, minutes = 0, seconds = 0] = zone.slice(1).match(/\d\d/g).map(Number);
  return (zone[0] === "-" ? -1 : 1) * ((hours * 60 + minutes) * 60 + seconds);
}

function matched(text, shape) {
  const found = shape.exec(text);
  if (found) return found;
  if (text === "infinity") return Number.POSITIVE_INFINITY;
  if (text === "-infinity") return Number.NEGATIVE_INFINITY;
  throw new Misfit(`${JSON.stringify(text)} is no date or time`);
}

function dayMs(text, year, month, day) {
  const ms = Date.UTC(year + 400, month - 1, day) - CYCLE_MS;
  const found = new Date(ms);
  if (found.getUTCMonth() + 1 !== month || found.getUTCDate() !== day) {
    if (!month || !day) throw new Unsupported(`${text} is no date or time of JavaScript's`);
    throw new Misfit(`${JSON.stringify(text)} is no date or time`);
  }
  return ms;
}

const number = (text, at, digits) => {
  let value = 0;
  for (let i = at; i < at + digits; i++) value = value * 10 + text.charCodeAt(i) - 48;
  return value;
};

/** A date of SQL's text as a Date at midnight of UTC; ±Infinity for an infinite one. */
export function toDate(text) {
  const found = matched(text, SHAPE);
  if (typeof found === "number") return found;
  const year = found[9] ? 1 - Number(found[1]) : Number(found[1]);
  return new Date(dayMs(text, year, Number(found[2]), Number(found[3])));
}

const BLANK = 32;
const HYPHEN = 45;
const POINT = 46;
const COLON = 58;

/** Two digits; NaN, which no comparison holds for, where there are none. */
const pair = (text, at) => {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
};

/** Nanoseconds of the fraction behind the seconds; NaN where there is something else. */
function fractionAt(text, at) {
  if (text.length === at) return 0;
  if (text.charCodeAt(at) !== POINT || text.length === at + 1 || text.length > at + 10) return Number.NaN;
  let ns = 0;
  for (let i = at + 1, unit = 1e8; i < text.length; i++, unit /= 10) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    ns += digit * unit;
  }
  return ns;
}

/** `2000-11-07 01:02:03.456789`, as nearly all timestamps are, by its places: a pattern takes several times as long. */
function usualMoment(text) {
  if (typeof text !== "string" || text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN) return null;
  if (text.charCodeAt(10) !== BLANK || text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return null;
  const year = pair(text, 0) * 100 + pair(text, 2);
  const month = pair(text, 5);
  const day = pair(text, 8);
  const [hour, minute, second] = [pair(text, 11), pair(text, 14), pair(text, 17)];
  const ns = fractionAt(text, 19);
  const isRight = year >= 100 && month >= 1 && month <= 12 && day >= 1 && hour <= 23 && minute <= 59 && second <= 59;
  if (!isRight || !(ns >= 0)) return null;
  const ms = day <= 28 ? Date.UTC(year, month - 1, day) : dayMs(text, year, month, day);
  return new Moment(ms / 1000 + (hour * 60 + minute) * 60 + second, ns);
}

/** A timestamp of SQL's text, with or without a time zone, as a Moment; ±Infinity for an infinite one. */
export function toMoment(text) {
  const usual = usualMoment(text);
  if (usual) return usual;
  const found = matched(text, SHAPE);
  if (typeof found === "number") return found;
  const [, years, month, day, hour = "0", minute = "0", second = "0", fraction, zone, before] = found;
  const year = before ? 1 - Number(years) : Number(years);
  if (hour > 23 || minute > 59 || second > 59) throw new Misfit(`${JSON.stringify(text)} is no date or time`);
  const days = dayMs(text, year, Number(month), Number(day)) / 1000;
  const clock = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  return new Moment(days + clock - offsetSeconds(zone), fractionNs(fraction));
}

/** A time of SQL's text as nanoseconds since midnight; Unsupported for 24:00 and longer ones. */
export function toTime(text) {
  const found = TIME.exec(text);
  if (!found) {
    if (/^-?\d+:\d\d(:\d\d)?([.]\d+)?$/.test(text)) throw new Unsupported(`${text} is no time of a day`);
    throw new Misfit(`${JSON.stringify(text)} is no time`);
  }
  const ns = ((number(text, 0, 2) * 60 + number(text, 3, 2)) * 60 + Number(found[3] ?? 0)) * 1e9 + fractionNs(found[4]);
  if (ns >= DAY_NS) throw new Unsupported(`${text} is no time of a day`);
  if (found[2] > 59 || found[3] > 59) throw new Misfit(`${JSON.stringify(text)} is no time`);
  return ns;
}
