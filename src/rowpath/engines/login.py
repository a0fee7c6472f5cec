"""Who logs in where: from URLs, the environment and the files of client programs."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path


@dataclass(frozen=True)
class Login:
    """Where a server is and who logs in; empty is what is not known yet. A password of None was not given."""

    host: str
    port: int
    user: str
    password: str | None = field(repr=False)
    database: str
    socket: str
    notes: tuple[str, ...] = ()

    def moved_to_socket(self) -> Login:
        """The login with its host, which is a path, as the socket."""
        return replace(self, host="", socket=self.host)


def private_text(file: Path, forbidden: int) -> tuple[str, tuple[str, ...]]:
    """The text of a file that holds passwords, and a note when it is ignored; empty when there is none.

    `forbidden`: bits of its mode that make it one that others may use.
    """
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & forbidden:
            return "", (f"{file} is ignored: other users can access it (mode {mode:o}); chmod 600 {file}",)
        return file.read_text(encoding="utf-8", errors="surrogateescape"), ()
    except FileNotFoundError:
        return "", ()
    except OSError as error:
        return "", (f"{file} is ignored: {error.strerror}",)


def home(environment: Mapping[str, str]) -> Path:
    """The user's directory."""
    return Path(environment.get("HOME") or Path.home())


def port_of(text: str) -> int:
    """0 where the text is no port."""
    return int(text) if text.isdigit() and 0 < int(text) < 65536 else 0
