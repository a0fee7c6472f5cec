"""Dates, times, intervals and arrays as engines write them, also those that Python has no value for.

Sources: ISO 8601; SQL:2016 (intervals); what engines write beyond them: `BC`, `infinity`, `{1,NULL}`, `[0:1]={1,2}`.
"""

import re
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

EPOCH_DAY = 719163
SECOND_NS = 1_000_000_000
DAYS_OF_400_YEARS = 146097
INFINITE = {"infinity": float("inf"), "-infinity": float("-inf"), "inf": float("inf"), "-inf": float("-inf")}


class Days(int):
    """A date beyond Python's, as days since 1970-01-01."""

    @property
    def day(self):
        """The day of the month."""
        return self._within()[1].day

    def _within(self):
        """The cycle of 400 years, and the date in the first one."""
        cycle, within = divmod(self + EPOCH_DAY - 1, DAYS_OF_400_YEARS)
        return cycle, date.fromordinal(within + 1)

    def __str__(self):
        cycle, within = self._within()
        year = within.year + 400 * cycle
        text = f"{year if year > 0 else 1 - year:04}-{within:%m-%d}"
        return text if year > 0 else f"{text} BC"


class Nanoseconds(int):
    """A time of day, or an instant since 1970-01-01 00:00, that Python's own types would cut or refuse."""

    @property
    def second(self):
        """The second of the minute."""
        return self // SECOND_NS % 60


class Bounded(list):
    """An array whose lower bound is not 1."""

    def __init__(self, lower, elements):
        super().__init__(elements)
        self.lower = lower


class Moment(NamedTuple):
    """What a text spells: a date (None: it has none), a time (None: none) and a distance from UTC, each as written."""

    day: tuple | None
    time_ns: int | None
    offset_s: int

    def days(self):
        """Days since 1970-01-01; None of a day that no calendar has."""
        return days_of(*self.day)


WRITTEN = re.compile(
    r"(?:([+-]?\d{4,})-(\d\d)-(\d\d)( \(BC\))?)?(?(1)(?:[ T]|$|(?= ?[(B])))?"
    r"(?:(-?)(\d{1,}):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9})\d*)?)?)?"
    r"\s?(Z|[+-]\d\d(?::?\d\d){0,2})?( ?BC)?"
)


def moment(text):
    """The `Moment` that a text spells in ISO 8601. Errors: ValueError."""
    found = WRITTEN.fullmatch(text)
    if not found or not (found[1] or found[6]):
        raise ValueError(f"{text!r} is no date and no time")
    year, month, day, before, sign, hour, minute, second, fraction, offset, behind = found.groups()
    time_ns, offset_s = None, 0
    if hour:
        seconds = (int(hour) * 60 + int(minute)) * 60 + int(second or 0)
        time_ns = seconds * SECOND_NS + int((fraction or "").ljust(9, "0"))
        time_ns = -time_ns if sign else time_ns
    if offset and offset != "Z":
        digits = offset[1:].replace(":", "").ljust(6, "0")
        offset_s = (int(digits[:2]) * 60 + int(digits[2:4])) * 60 + int(digits[4:])
        offset_s = -offset_s if offset[0] == "-" else offset_s
    written = (1 - int(year) if before or behind else int(year), int(month), int(day)) if year else None
    return Moment(written, time_ns, offset_s)


def days_of(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar, the year 0 being 1 BC; None of no day at all."""
    cycle, year = divmod(year, 400)
    try:
        within = date(year + 400, month, day).toordinal()  # Python has no year 0
    except ValueError:
        return None
    return within - EPOCH_DAY + (cycle - 1) * DAYS_OF_400_YEARS


def interval(text):
    """(months, days, nanoseconds) of ISO 8601 or of `1 year 2 mons -3 days 04:05:06.7`; a float: infinite."""
    if text.lower() in INFINITE:
        return INFINITE[text.lower()]
    return _designated(text) if text.startswith("P") else _in_words(text)


def _designated(text):
    days, _, clock = text[1:].partition("T")
    amounts = {"Y": 0, "M": 0, "W": 0, "D": 0, "h": 0, "m": 0, "s": 0}
    for part, units in ((days, "YMWD"), (clock, "HMS")):
        number = ""
        for character in part:
            if character in units:
                amounts[character if units == "YMWD" else character.lower()] = Decimal(number)
                number = ""
            else:
                number += character
    seconds = amounts["h"] * 3600 + amounts["m"] * 60 + amounts["s"]
    return int(amounts["Y"] * 12 + amounts["M"]), int(amounts["W"] * 7 + amounts["D"]), int(seconds * SECOND_NS)


def _in_words(text):
    months = days = nanoseconds = 0
    words = iter(text.split())
    for word in words:
        if ":" in word:
            nanoseconds = moment(word.removeprefix("+")).time_ns
            continue
        amount, unit = int(word), next(words)
        if unit.startswith("year"):
            months += 12 * amount
        elif unit.startswith("mon"):
            months += amount
        elif unit.startswith("day"):
            days += amount
        else:
            raise ValueError(f"{text!r} is no interval")
    return months, days, nanoseconds


BOUNDS = re.compile(r"((?:\[-?\d+:-?\d+\])+)=")
LOWER = re.compile(r"\[(-?\d+):")
ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^{},"]+)', re.DOTALL)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def array(text):
    """The texts of an array in braces and None, nested as its dimensions. Errors: ValueError."""
    lowers, at = [], 0
    if found := BOUNDS.match(text):
        lowers, at = list(map(int, LOWER.findall(found[1]))), found.end()
    elements, at = _elements(text, at, lowers)
    if at != len(text):
        raise ValueError(f"{text!r} is no array")
    return elements


def _elements(text, at, lowers):
    if text[at : at + 1] != "{":
        raise ValueError(f"{text!r} is no array")
    found, at = [], at + 1
    while text[at : at + 1] != "}":
        if found:
            if text[at : at + 1] != ",":
                raise ValueError(f"{text!r} is no array")
            at += 1
        if text[at : at + 1] == "{":
            element, at = _elements(text, at, lowers[1:])
        else:
            match = ELEMENT.match(text, at)
            if not match:
                raise ValueError(f"{text!r} is no array")
            quoted, plain = match.groups()
            element, at = (
                (None if plain == "NULL" else plain) if quoted is None else ESCAPED.sub(r"\1", quoted),
                match.end(),
            )
        found.append(element)
    return (Bounded(lowers[0], found) if lowers and lowers[0] != 1 else found), at + 1


def instant(value):
    """Nanoseconds since 1970-01-01 00:00 of a date or datetime of Python's, in UTC where it has a zone."""
    if isinstance(value, datetime):
        zone = value.utcoffset()
        offset_s = zone.days * 86400 + zone.seconds if zone is not None else 0
        seconds = ((value.hour * 60 + value.minute) * 60 + value.second) - offset_s
        below_ns = value.microsecond * 1000 + getattr(value, "nanosecond", 0)  # a subclass may have them too
    else:
        seconds = below_ns = 0
    return ((value.toordinal() - EPOCH_DAY) * 86400 + seconds) * SECOND_NS + below_ns
