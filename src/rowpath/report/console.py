"""The console that everything is printed on: colour as requested, no signs that it cannot show."""

from __future__ import annotations

import io
import re
import sys
from typing import IO, TextIO, cast

from rich.console import Console
from typing_extensions import override

# Wide enough for every column: a log or a pipe has no edge.
WIDTH_WITHOUT_TERMINAL = 160

_BLANKS = re.compile(r" +((?:\x1b\[[0-9;]*m)*)\n")
# One sign for one sign, so that columns stay where they are.
_PLAIN = {
    ord(sign): plain
    for plain, signs in {
        "x": "×✗", "-": "–—·─−", ".": "…", ">": "→▸", "<": "←", "#": "≠█▉▊▇▆", "=": "▋▌▍━▅▄", "_": "▎▏▃▂▁", "/": "÷╭",
        "\\": "╰", "|": "│", "~": "±", "u": "µ", "+": "✓", "'": "‘’", '"': "“”",
    }.items()
    for sign in signs
}  # fmt: skip


class PlainStream(io.TextIOBase):
    """A stream without blanks at the ends of lines where it is no terminal, and in ASCII where it is not UTF-8."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._unicode = (stream.encoding or "utf-8").lower().startswith("utf")

    @property
    @override
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding or "utf-8"

    @override
    def write(self, text: str) -> int:
        shown = text if self._stream.isatty() else _BLANKS.sub(r"\1\n", text)
        if not self._unicode:
            shown = shown.translate(_PLAIN).encode("ascii", "replace").decode()
        self._stream.write(shown)
        return len(text)

    @override
    def flush(self) -> None:
        self._stream.flush()

    @override
    def isatty(self) -> bool:
        return self._stream.isatty()

    @override
    def fileno(self) -> int:
        return self._stream.fileno()


def make_console(color: str = "auto", to_stderr: bool = False, width: int = WIDTH_WITHOUT_TERMINAL) -> Console:
    """A console that obeys `--color auto|always|never` and NO_COLOR; `width`: where there is no terminal."""
    stream = sys.stderr if to_stderr else sys.stdout
    return Console(
        file=cast("IO[str]", PlainStream(stream)),
        width=None if stream.isatty() else width,
        force_terminal=True if color == "always" else None,
        no_color=True if color == "never" else False if color == "always" else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
