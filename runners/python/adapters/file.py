"""A delimited text file, the straightforward way: open, split each line, convert; or, with quotes, the module csv."""

import importlib
import re
from functools import partial

from core.adapter import Unsupported
from core.operation import Operation
from families.files.adapter import FileAdapter, access_of, aggregates, layout, record_start
from families.text.values import FROM_TEXT

ESCAPED = re.compile(r"\\(.)")
CHARACTERS = {"n": "\n", "r": "\r"}


def plain(field):
    """A field without its escapes; None for \\N."""
    if field == "\\N":
        return None
    return ESCAPED.sub(lambda match: CHARACTERS.get(match[1], match[1]), field) if "\\" in field else field


def split_escaped(line, delimiter):
    """The fields of a line that has backslashes: a delimiter after an odd number of them is part of the value."""
    fields, open_field = [], ""
    for piece in line.split(delimiter):
        open_field += piece
        if (len(piece) - len(piece.rstrip("\\"))) % 2:
            open_field += delimiter
        else:
            fields.append(plain(open_field))
            open_field = ""
    return fields


def scan(path, dialect, _):
    delimiter = dialect.delimiter
    with dialect.opened(path) as file:
        for ended in file:
            line = ended.rstrip("\n")
            yield split_escaped(line, delimiter) if "\\" in line else line.split(delimiter)


def segment(path, dialect, part):
    begin, end = part
    delimiter = dialect.delimiter
    with path.open("rb") as file:
        at = record_start(file, begin)
        file.seek(at)
        for ended in file:
            if at >= end:
                break
            at += len(ended)
            line = ended.decode().rstrip("\n")
            yield split_escaped(line, delimiter) if "\\" in line else line.split(delimiter)


def records(path, dialect, width, _):
    """The records of a file as RFC 4180 has them, an empty field as an empty text."""
    with dialect.opened(path) as file:
        yield from sized(dialect.records(file), dialect.header, width)


def segment_records(path, dialect, width, part):
    """Those that begin in a part of a file without quotes."""
    with path.open("rb") as file:
        at = record_start(file, part[0])
        file.seek(at)
        yield from sized(dialect.records(lines_until(file, at, part[1])), dialect.header and not at, width)


def lines_until(file, at, end):
    for line in file:
        if at >= end:
            break
        at += len(line)
        yield line.decode("utf-8-sig" if at == len(line) else "utf-8")


def sized(read, header, width):
    """The records without the header; a blank line is one only where there is one column."""
    if header:
        next(read, None)
    for record in read:
        if len(record) == width:
            yield record
        elif record:
            raise ValueError(f"a record of {len(record)} fields, not {width}, ends in line {read.line_num}")
        elif width == 1:
            yield [""]


def empty_as_null(convert):
    """A converter of a column in which an empty field is NULL."""
    return (lambda text: convert(text) if text else None) if convert else lambda text: text or None


def truth(text):
    return text[0] in "tT"


def aggregate(read, folds, part):
    """One row: each of `folds` is (index of the field, its converter, what joins two values), or None to count."""
    rows, kept = 0, [None] * len(folds)
    for row in read(part):
        rows += 1
        for i, (index, convert, join) in enumerate(folds):
            if join and row[index] is not None:
                value = convert(row[index])
                if value is not None:
                    kept[i] = value if kept[i] is None else join(kept[i], value)
    return [[value if join else rows for value, (*_, join) in zip(kept, folds, strict=True)]]


JOIN = {"sum": lambda total, value: total + value, "min": min, "max": max, "count": None}


class Adapter(FileAdapter):
    def prepare(self, phase, parameters):
        access, path, dialect = access_of(phase), self.file(phase), self.dialect
        if dialect.own:
            read = partial(segment if access == "segment" else scan, path, dialect)
        else:
            self.refuse_both_kinds(path, layout(phase))
            if access == "segment":
                dialect.refuse_parts()
            read = partial(segment_records if access == "segment" else records, path, dialect, len(layout(phase)))
        if access == "aggregate":
            columns = [column.name for column in layout(phase)]
            converters = self.converters(layout(phase))
            folds = []
            for function, name, _ in aggregates(phase):
                index = columns.index(name) if name else 0
                folds.append((index, converters[index] or str, JOIN[function]))
            return Operation(partial(aggregate, read, folds))
        return Operation(read, parameters, self.converters(phase.columns))

    def converters(self, columns):
        """From text to a column's own type, one each; None where it is text that stays as it is."""
        if self.dialect.own:
            return [FROM_TEXT.get(column.type) for column in columns]
        found = [truth if column.type == "boolean" else FROM_TEXT.get(column.type) for column in columns]
        pairs = zip(columns, found, strict=True)
        return [empty_as_null(convert) if self.nulls_in(column) else convert for column, convert in pairs]

    def refuse_both_kinds(self, path, columns):
        """Unsupported where a column may have both NULL and the empty text, which the module csv reads alike."""
        both = self.dialect.null == "unquoted" and any(c.nullable and c.type not in FROM_TEXT for c in columns)
        if both and self.dialect.has_quoted_empty(path):
            raise Unsupported("Python's csv cannot tell an empty field from a quoted one")

    def nulls_in(self, column):
        return column.nullable and self.dialect.null != "never"

    def describe(self, sql):
        describe = importlib.import_module("families.arrow_files.describe")  # scanning needs no pyarrow
        return describe.fitting(describe.of_delimited(self.folder, sql, self.dialect))
