"""A delimited text file, the straightforward way: open, split each line, convert."""

import importlib
import re
from functools import partial

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


def scan(path, delimiter, _):
    with path.open(encoding="utf-8", newline="\n") as file:
        for ended in file:
            line = ended.rstrip("\n")
            yield split_escaped(line, delimiter) if "\\" in line else line.split(delimiter)


def segment(path, delimiter, part):
    begin, end = part
    with path.open("rb") as file:
        at = record_start(file, begin)
        file.seek(at)
        for ended in file:
            if at >= end:
                break
            at += len(ended)
            line = ended.decode().rstrip("\n")
            yield split_escaped(line, delimiter) if "\\" in line else line.split(delimiter)


def aggregate(path, delimiter, folds, _):
    """One row: each of `folds` is (index of the field, its converter, what joins two values), or None to count."""
    rows, kept = 0, [None] * len(folds)
    for row in scan(path, delimiter, _):
        rows += 1
        for i, (index, convert, join) in enumerate(folds):
            if join and row[index] is not None:
                value = convert(row[index])
                kept[i] = value if kept[i] is None else join(kept[i], value)
    return [[value if join else rows for value, (*_, join) in zip(kept, folds, strict=True)]]


JOIN = {"sum": lambda total, value: total + value, "min": min, "max": max, "count": None}


class Adapter(FileAdapter):
    def prepare(self, phase, parameters):
        access, path = access_of(phase), self.file(phase)
        if access == "aggregate":
            columns = [column.name for column in layout(phase)]
            converters = [FROM_TEXT.get(column.type, str) for column in layout(phase)]
            folds = []
            for function, name, _ in aggregates(phase):
                index = columns.index(name) if name else 0
                folds.append((index, converters[index], JOIN[function]))
            return Operation(partial(aggregate, path, self.delimiter, folds))
        read = partial(segment if access == "segment" else scan, path, self.delimiter)
        return Operation(read, parameters, [FROM_TEXT.get(c.type) for c in phase.columns])

    def describe(self, sql):
        describe = importlib.import_module("families.arrow_files.describe")  # scanning needs no pyarrow
        return describe.of_delimited(self.folder, sql, self.options.get("delimiter", "|"))
