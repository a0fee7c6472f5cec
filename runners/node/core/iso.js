// Natural values of dates, times and intervals. Date has milliseconds only: a Moment has the nanoseconds beside them.
//
// The readers take SQL's text. They give back as it is what they cannot read: no text of a driver's is an error.

const DAY_S = 86_400;
const DAY_MS = 86_400_000;
const SECOND_NS = 1_000_000_000;
const DATE_LIMIT_MS = 8.64e15; // what a Date can hold, on both sides of 1970
const CYCLE_YEARS = 400;
const CYCLE_DAYS = 146_097;
const CYCLE_BEGIN = 2000;
const SHAPE =
  /^(-?\d{4,})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:[.](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?(?::?\d\d)?)?)?( BC)?$/;
const TIME = /^(-?)(\d{2,}):(\d\d)(?::(\d\d)(?:[.](\d{1,9}))?)?$/;
const ZONED_TIME = /^(.+?)(Z|[+-]\d\d(?::?\d\d)?(?::?\d\d)?)$/;

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

/** A day as written, and nanoseconds of it: one that no calendar has, such as 0000-00-00, or that no Date holds. */
export class WrittenDay {
  constructor(year, month, day, nanoseconds = 0) {
    this.year = year;
    this.month = month;
    this.day = day;
    this.nanoseconds = nanoseconds;
  }

  /** As a Date has it. */
  getUTCDate() {
    return this.day;
  }

  get second() {
    return Math.trunc(this.nanoseconds / SECOND_NS) % 60;
  }
}

/** Nanoseconds since midnight, and seconds east of UTC. */
export class ZonedTime {
  constructor(nanoseconds, offset) {
    this.nanoseconds = nanoseconds;
    this.offset = offset;
  }

  get second() {
    return Math.trunc(this.nanoseconds / SECOND_NS) % 60;
  }
}

/** Months, days and nanoseconds, a BigInt: none of them follows from another. */
export class Interval {
  constructor(months, days, nanoseconds) {
    this.months = months;
    this.days = days;
    this.nanoseconds = nanoseconds;
  }
}

/** Days since 1970-01-01, proleptic Gregorian, the year 0 being 1 BC; null where no calendar has the day. */
export function daysOf(year, month, day) {
  const yearOfCycle = ((year % CYCLE_YEARS) + CYCLE_YEARS) % CYCLE_YEARS;
  const ms = Date.UTC(CYCLE_BEGIN + yearOfCycle, month - 1, day);
  const found = new Date(ms);
  if (found.getUTCDate() !== day || found.getUTCMonth() + 1 !== month) return null;
  return ms / DAY_MS + ((year - CYCLE_BEGIN - yearOfCycle) / CYCLE_YEARS) * CYCLE_DAYS;
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

/** ±Infinity for the words of an infinite date or time; any other value as it is. */
export function orInfinite(text) {
  if (text === "infinity") return Number.POSITIVE_INFINITY;
  return text === "-infinity" ? Number.NEGATIVE_INFINITY : text;
}

/** The year, month and day that a pattern found. */
function dayIn([, years, month, day, , , , , , before]) {
  return [before ? 1 - Number(years) : Number(years), Number(month), Number(day)];
}

/** A date of SQL's text: a Date at midnight of UTC, a WrittenDay or, of an infinite one, ±Infinity. */
export function toDate(text) {
  const found = typeof text === "string" && SHAPE.exec(text);
  if (!found) return orInfinite(text);
  const day = dayIn(found);
  const days = daysOf(...day);
  return days === null || Math.abs(days * DAY_MS) > DATE_LIMIT_MS ? new WrittenDay(...day) : new Date(days * DAY_MS);
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
  if (day > 28 && daysOf(year, month, day) === null) return null;
  return new Moment(Date.UTC(year, month - 1, day) / 1000 + (hour * 60 + minute) * 60 + second, ns);
}

/** A timestamp of SQL's text, with or without a time zone: a Moment, a WrittenDay or, of an infinite one, ±Infinity. */
export function toMoment(text) {
  const usual = usualMoment(text);
  if (usual) return usual;
  const found = typeof text === "string" && SHAPE.exec(text);
  if (!found) return orInfinite(text);
  const [, , , , hour = "0", minute = "0", second = "0", fraction, zone] = found;
  const day = dayIn(found);
  const days = daysOf(...day);
  const clock = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  if (days === null) return new WrittenDay(...day, clock * SECOND_NS + fractionNs(fraction));
  return new Moment(days * DAY_S + clock - offsetSeconds(zone), fractionNs(fraction));
}

/** A time of SQL's text as nanoseconds since midnight: of any length, and negative ones too. */
export function toTime(text) {
  const found = TIME.exec(text);
  if (!found) return text;
  const seconds = (Number(found[2]) * 60 + Number(found[3])) * 60 + Number(found[4] ?? 0);
  const ns = seconds * 1e9 + fractionNs(found[5]);
  return found[1] ? -ns : ns;
}

/** A time with its distance from UTC, of SQL's text. */
export function toZonedTime(text) {
  const [, clock, zone] = ZONED_TIME.exec(text) ?? [];
  const ns = toTime(clock);
  return typeof ns === "number" ? new ZonedTime(ns, offsetSeconds(zone)) : text;
}
