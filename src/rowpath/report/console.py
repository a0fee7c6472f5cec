"""The console that everything is printed on: colour as requested, no signs that it cannot show."""

from __future__ import annotations

import re
import sys
from typing import IO, Any, TextIO, cast

from rich.console import Console

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


class PlainStream:
    """A stream without blanks at the ends of lines where it is no terminal, and in ASCII where it is not UTF-8."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._unicode = (stream.encoding or "utf-8").lower().startswith("utf")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text so that the stream can show it."""
        shown = text if self._stream.isatty() else _BLANKS.sub(r"\1\n", text)
        if not self._unicode:
            shown = shown.translate(_PLAIN).encode("ascii", "replace").decode()
        self._stream.write(shown)
        return len(text)


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
