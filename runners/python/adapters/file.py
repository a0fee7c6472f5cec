"""A delimited text file, the straightforward way: open, split each line, convert."""

import re
from functools import partial
from pathlib import Path

from rowpath_runner.adapter import FROM_TEXT, Unsupported
from rowpath_runner.adapter import Adapter as Base
from rowpath_runner.loop import Work

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


class Adapter(Base):
    def connect(self):
        self.folder = Path(self.options["path"])
        next(self.folder.iterdir(), None)  # a folder that is not there is an error of connecting

    def prepare(self, phase, parameters):
        if not phase.scan:
            raise Unsupported("a delimited file delivers whole tables only")
        path = self.folder / f"{phase.table}.tbl"
        delimiter = self.options.get("delimiter", "|")
        return Work(partial(scan, path, delimiter), converters=[FROM_TEXT.get(c.type) for c in phase.columns])
