"""How a user's delimited text file is written: found from the file, and checked to its end before anything is timed.

Source: RFC 4180, "Common Format and MIME Type for CSV Files"; what it leaves open is in docs/probe.md.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from typing_extensions import override

from rowpath.errors import UsageError

MOST_BYTES = 256 << 20  # of a file that are looked at, as when its columns are described
HEAD_BYTES = BLOCK_BYTES = 1 << 20
LONG_RECORD = 1 << 18  # in characters; libraries must be told of such
MARK = b"\xef\xbb\xbf"
TAB = "\t"
DELIMITERS = (",", ";", TAB, "|")
SIGN_NAMES = {"tab": TAB, r"\t": TAB, "off": "", "no": "", "none": ""}
YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
NULLS = ("empty", "unquoted", "never")
UTF16 = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
# A number, a date or a time, perhaps with a currency or %, or a truth value: no name of a column.
VALUE = re.compile(r"\s*[-+]?[$€£]?\.?\d[\d.,:/ TZE+-]*[%€£$]?\s*|true|false", re.I)
OTHER_COMMA = re.compile(r"(?<!\d),|,(?!\d)")


@dataclass(frozen=True)
class Dialect:
    """How the records of a file are written. `null`: which empty fields are NULL: `empty`, `unquoted` or `never`."""

    delimiter: str
    quote: str  # empty: there is none
    header: bool
    null: str = "empty"
    line_end: str = "lf"  # lf, crlf, mixed
    mark: bool = False  # a byte-order mark stands before it
    longest_record: int = 0  # bytes, at most; 0: none is long
    fields: int = 0  # of a record

    def options(self) -> dict[str, str]:
        """The options with which readers open the file."""
        return {
            "delimiter": self.delimiter,
            "quote": self.quote or "off",
            "header": "yes" if self.header else "no",
            "null": self.null,
            "line_end": self.line_end,
            "longest_record": str(self.longest_record),
        }

    @override
    def __str__(self) -> str:
        """In a line, for people."""
        words = [
            "one column"
            if self.fields == 1
            else f"delimiter {'tab' if self.delimiter == TAB else repr(self.delimiter)}",
            "header" if self.header else "no header",
            ("quotes" if self.quote == '"' else f"quotes {self.quote}") if self.quote else "no quotes",
            {"lf": "LF", "crlf": "CRLF", "mixed": "LF and CRLF"}[self.line_end],
            *(["byte-order mark"] if self.mark else []),
        ]
        return ", ".join((*words, "UTF-8"))


def dialect_of(file: Path, given: Mapping[str, str], usual: str) -> tuple[Dialect, tuple[str, ...]]:
    """The dialect of a file, and notes for the user, the first of which says what was found.

    `given`: options of its URL, which are not looked for. `usual`: its suffix's delimiter. Errors: UsageError.
    """
    try:
        with file.open("rb") as opened:
            found = _of_head(file, opened, given, usual)
            checked = _Check(file, opened, found)
            checked.go_through()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", f"ls -l {shlex.quote(str(file))}") from error
    notes: tuple[str, ...] = ()
    null = given.get("null") or checked.null
    if null not in NULLS:
        raise UsageError(f"null={null}: expected {', '.join(NULLS)}", f"file://{file}?null=unquoted")
    if "null" not in given and found.quote:
        if null == "never":
            notes = ("quoted empty fields are empty texts, not NULL (?null=empty makes them NULL)",)
        elif checked.kinds >= {"quoted", "unquoted"} or not checked.whole:
            words = "empty fields are NULL, quoted ones too, because Python's csv cannot tell them apart"
            notes = (f"{words} (?null=unquoted: a quoted one is an empty text, without Python's csv)",)
    quote = found.quote if "quote" in given or checked.quoted or not checked.whole else ""
    longest, width = checked.longest_record, checked.width
    dialect = Dialect(found.delimiter, quote, found.header, null, checked.line_end, found.mark, longest, width)
    beyond = "" if checked.whole else f"; only its first {MOST_BYTES >> 20} MiB were looked at"
    return dialect, (f"{file.name}: {dialect}{beyond}", *notes)


def _of_head(file: Path, opened: BinaryIO, given: Mapping[str, str], usual: str) -> Dialect:
    """What the first megabyte shows, with quotes if there may be any. Errors: UsageError."""
    data = opened.read(HEAD_BYTES) + opened.readline()
    _refuse_other_encodings(file, data)
    mark = data.startswith(MARK)
    head = data.removeprefix(MARK).decode(errors="replace")
    if not head.strip("\r\n"):
        raise UsageError(f"{file} is empty: it has no row", "name a file with rows")
    quote = _sign(given, "quote") if "quote" in given else '"'
    order = dict.fromkeys((usual, *DELIMITERS)) if usual else dict.fromkeys(DELIMITERS)
    delimiters = [_sign(given, "delimiter")] if "delimiter" in given else list(order)
    for delimiter in delimiters:
        if not delimiter or delimiter == quote:
            raise UsageError(f"delimiter={delimiter!r}: expected a sign that is no quote", f"file://{file}?delimiter=;")
    decimal_comma = "," in head and not OTHER_COMMA.search(head)
    best = max((_Look(head, sign, quote) for sign in delimiters), key=lambda look: look.rank(decimal_comma))
    header = given.get("header", "").lower()
    if header and header not in YES_NO:
        raise UsageError(f"header={header}: expected yes or no", f"file://{file}?header=yes")
    has_header = YES_NO[header] if header else _has_header(best.records)
    return Dialect(best.delimiter, best.quote, has_header, mark=mark)


def _sign(given: Mapping[str, str], option: str) -> str:
    """The sign that an option of the URL gives; empty for none. Errors: UsageError."""
    word = given[option]
    sign = SIGN_NAMES.get(word.lower(), word)
    if len(sign) > 1 or not sign.isascii() or sign in ("\n", "\r", "\0"):
        raise UsageError(f"{option}={word!r}: expected one ASCII sign", f"{option}=; or {option}=tab, percent-encoded")
    return sign


def _refuse_other_encodings(file: Path, data: bytes) -> None:
    name = next((name for mark, name in UTF16.items() if data.startswith(mark)), "")
    even, odd = data[: 1 << 12 : 2], data[1 : 1 << 12 : 2]
    if not name and max(even.count(0), odd.count(0)) > len(odd) / 2 > 1:
        name = "UTF-16LE" if odd.count(0) > even.count(0) else "UTF-16BE"
    if name:
        raise UsageError(f"{file} is {name}: only UTF-8 is read", _converting(file, name))


def _converting(file: Path, encoding: str) -> str:
    return f"iconv -f {encoding} -t UTF-8 {shlex.quote(str(file))} > {shlex.quote(f'utf8-{file.name}')}"


class _Look:
    """The first records, as one delimiter and quote make them of the head."""

    def __init__(self, head: str, delimiter: str, quote: str) -> None:
        self.delimiter, self.quote = delimiter, quote
        self.records: list[list[str]] = []
        self._sound = True
        try:
            self.records.extend(filter(None, _reader(io.StringIO(head, newline="\n"), delimiter, quote)))
        except csv.Error as error:
            self._sound = "unexpected end" in str(error)  # of a head that ends inside a quote
        self._counts = Counter(map(len, self.records))
        self._fields = self._counts.most_common(1)[0][0] if self._counts else 1

    def rank(self, decimal_comma: bool) -> tuple[float, ...]:
        """The better look has the greater one."""
        share = self._counts[self._fields] / max(1, len(self.records))
        several = len(self.records[0]) > 1 if self.records else False
        several = several or (self._fields > 1 and share >= 0.5)
        stray = sum(
            value.count('"') % 2 for record in self.records for value in record
        )  # of another delimiter's quotes
        sound = several and share == 1 and self._sound
        return (
            several,
            sound,
            -stray if sound else 0,
            not (decimal_comma and self.delimiter == ","),
            share,
            self._fields,
        )


def _has_header(records: list[list[str]]) -> bool:
    """Whether the first record names the columns: it has no number, date or time, and nothing of it comes again."""
    first, *others = records or [[]]
    if not any(first) or any(VALUE.fullmatch(value) for value in first if value):
        return False
    return not any(value and value == name for record in others for name, value in zip(first, record, strict=False))


def _reader(lines: Iterator[str], delimiter: str, quote: str) -> Iterator[list[str]]:
    csv.field_size_limit(sys.maxsize)
    if quote:
        return csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=True)
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, quotechar=None, strict=True)


@dataclass
class _Check:
    """Every record of a file, up to MOST_BYTES: its number of fields, its quotes, its encoding."""

    file: Path
    opened: BinaryIO
    dialect: Dialect
    width: int = 0  # fields of a record
    whole: bool = False  # the file was read to its end
    kinds: set[str] = field(default_factory=set)  # of empty fields: quoted, unquoted
    longest_record: int = 0
    quoted: bool = False  # it has quoted fields
    _ends: set[str] = field(default_factory=set)  # of records: the last two signs
    _line: int = 1  # the first of the record
    _taken: list[str] = field(default_factory=list)  # the record's lines
    _fields: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        quote, delimiter = re.escape(self.dialect.quote or '"'), re.escape(self.dialect.delimiter)
        text = rf"{quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{delimiter}]*"
        self._fields = re.compile(rf"(?:^|{delimiter})({text})", re.S)

    @property
    def null(self) -> str:
        """Which empty fields are NULL, so that every library can tell."""
        return "never" if self.whole and self.kinds == {"quoted"} else "empty"

    @property
    def line_end(self) -> str:
        """How records end."""
        crlf = "\r\n" in self._ends
        return "mixed" if crlf and any(end[-1] == "\n" for end in self._ends - {"\r\n"}) else "crlf" if crlf else "lf"

    def go_through(self) -> None:
        """Read it. Errors: UsageError, with the line."""
        try:
            self._records_of_one_width()
        except csv.Error as error:
            if self.whole or "unexpected end" not in str(error):  # else the record is cut, not the quote missing
                raise self._refused(str(error)) from None

    def _records_of_one_width(self) -> None:
        dialect, taken, ends = self.dialect, self._taken, self._ends
        width = blank = 0
        begins_quoted = re.compile(rf"(?:^|{re.escape(dialect.delimiter)}){re.escape(dialect.quote)}").search
        for record in _reader(self._lines(), dialect.delimiter, dialect.quote):
            if not record and width != 1:
                blank = blank or self._line
            elif not record:  # an empty field
                self.kinds.add("unquoted")
            elif blank and width > 1:
                raise self._wrong(f"line {blank} is blank", "remove the line")
            elif len(record) != width:
                if width:
                    what = f"line {self._line} has {_several(len(record))}, the first record has {width}"
                    raise self._wrong(what, f"fix the line, or say how it is written: {self._url('delimiter=;')}")
                width = self.width = len(record)
            ends.add(taken[-1][-2:])
            if (len(taken) > 1 or len(taken[0]) > LONG_RECORD) and sum(map(len, taken)) > LONG_RECORD:
                self.longest_record = max(self.longest_record, sum(len(line.encode()) for line in taken))
            if dialect.quote:
                if not self.quoted and any(map(begins_quoted, taken)):
                    self.quoted = True
                if len(self.kinds) < 2 and "" in record:
                    self._note_empty(taken)
            elif "" in record:
                self.kinds.add("unquoted")
            self._line += len(taken)
            taken.clear()

    def _note_empty(self, taken: list[str]) -> None:
        for value in self._fields.findall("".join(taken).rstrip("\r\n")):
            if not value.strip(self.dialect.quote) and len(value) in (0, 2):
                self.kinds.add("quoted" if value else "unquoted")

    def _lines(self) -> Iterator[str]:
        """Each line, decoded; a carriage return ends none, so that the reader sees one that stands alone."""
        self.opened.seek(len(MARK) if self.dialect.mark else 0)
        number = 1
        while self.opened.tell() < MOST_BYTES:
            block = self.opened.read(BLOCK_BYTES) + self.opened.readline()
            if not block:
                self.whole = True
                return
            try:
                text = block.decode()
            except UnicodeDecodeError as error:
                line, byte = number + block.count(b"\n", 0, error.start), block[error.start]
                what = f"line {line} has the byte 0x{byte:02X}, which is not UTF-8"
                hint = f"if it is Windows-1252 or Latin-1: {_converting(self.file, 'WINDOWS-1252')}"
                raise self._wrong(what, hint) from None
            for line_text in io.StringIO(text, newline="\n"):
                self._taken.append(line_text)
                yield line_text
            number += block.count(b"\n")
        self.whole = not self.opened.read(1)

    def _refused(self, words: str) -> UsageError:
        """What the reader's own words mean."""
        without = f"if its quotes mean nothing: {self._url('quote=off')}"
        if "new-line" in words:
            remedy = f"tr '\\r' '\\n' < {shlex.quote(str(self.file))} > {shlex.quote(f'lf-{self.file.name}')}"
            return self._wrong(f"line {self._line} has a carriage return without a line feed", remedy)
        if "unexpected end" in words:
            return self._wrong(f"a quote that is open in line {self._line} is never closed", without)
        if "expected after" in words:
            return self._wrong(f"line {self._line + len(self._taken) - 1}: text follows a closing quote", without)
        return self._wrong(f"line {self._line}: {words}", without)

    def _wrong(self, what: str, hint: str) -> UsageError:
        return UsageError(f"{self.file}: {what}", hint)

    def _url(self, options: str) -> str:
        return f"rowpath probe 'file://{self.file}?{options}'"


def _several(count: int) -> str:
    return f"{count} field{'s' * (count != 1)}"
