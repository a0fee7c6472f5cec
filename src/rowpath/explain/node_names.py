"""Names of JavaScript functions that Node has compiled, by address: from the log that V8 writes where we say."""

from __future__ import annotations

import bisect
import codecs
import re
from collections.abc import Iterable
from pathlib import Path, PurePath

# Interpreted functions get code of their own, so that each has a frame with an address.
OPTIONS = ("--log-code", "--no-logfile-per-isolate", "--interpreted-frames-native-stack")
PLACE = re.compile(r"^(.*?) ?(?:file://)?(\S*?):(\d+):\d+$")


def options(log: Path) -> tuple[str, ...]:
    """What Node is started with to write it."""
    return (*OPTIONS, f"--logfile={log}")


class NodeNames:
    """What lies where, by the lines of V8's log; the last that was put at an address counts."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._code: dict[int, tuple[int, str]] = {}  # begin → size, name
        for line in lines:
            fields = line.rstrip("\n").split(",")
            if fields[0] == "code-creation" and len(fields) > 6:
                self._code[int(fields[4], 16)] = (int(fields[5]), _name(fields[6]))
            elif fields[0] == "code-move" and int(fields[1], 16) in self._code:
                self._code[int(fields[2], 16)] = self._code.pop(int(fields[1], 16))
        self._begins = sorted(self._code)

    @classmethod
    def read(cls, log: Path) -> NodeNames:
        """Read the names from a log; a log that was not written has none."""
        if not log.is_file():
            return cls(())
        with log.open(encoding="utf-8", errors="replace") as lines:
            return cls(lines)

    def __call__(self, address: int) -> str:
        """The function at an address; empty where none is known."""
        at = bisect.bisect_right(self._begins, address) - 1
        if at < 0:
            return ""
        begin = self._begins[at]
        size, name = self._code[begin]
        return name if address < begin + size else ""


def _name(text: str) -> str:
    """`query (pg/lib/client.js:542)` of `query /x/node_modules/pg/lib/client.js:542:13`."""
    if "\\" in text:
        text = codecs.decode(text.encode("latin-1", "replace"), "unicode_escape")
    match = PLACE.match(text)
    if match is None:
        return text
    path = PurePath(match[2])
    inside = (
        path.parts[len(path.parts) - path.parts[::-1].index("node_modules") :] if "node_modules" in path.parts else ()
    )
    file = "/".join(inside) if inside else match[2] if match[2].startswith("node:") else path.name
    return f"{match[1] or '(anonymous)'} ({file}:{match[3]})"
