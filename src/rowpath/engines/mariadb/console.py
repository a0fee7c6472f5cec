"""A superuser's connection to a server of the MySQL family: its own client program, kept alive over a pipe."""

from __future__ import annotations

import os
import secrets
import select
import subprocess
import time
from pathlib import Path

from rowpath.errors import RowpathError, TimedOut
from rowpath.machine import processes


def script(statements: list[str]) -> str:
    """Statements as the server and its client program read them."""
    return "".join(f"{statement};\n" for statement in statements)


class Console:
    """One connection of the superuser; its login is in a private file, never on a command line."""

    def __init__(self, client: Path, login: Path) -> None:
        self._client = client
        self._login = login
        self._process: processes.Process | None = None

    def ask(self, statements: str, timeout_s: float = 60.0) -> list[list[str]]:
        """Execute statements, each ended by `;`; the rows of all their results, values as text.

        Errors: RowpathError with the server's message, TimedOut. The next one begins with a fresh connection then.
        """
        if self._process is None or self._process.poll() is not None:
            self._open()
        mark = secrets.token_hex(12)
        try:
            lines = self._exchange(f"{statements}\nSELECT '{mark}';\n".encode(), mark, timeout_s)
        except BaseException:
            self.close()
            raise
        return [line.split("\t") for line in lines]

    def close(self) -> None:
        """End the client; harmless when it has ended."""
        if self._process is not None:
            processes.stop(self._process, processes.AT_ONCE)
            self._process = None

    def _open(self) -> None:
        self.close()
        self._process = processes.start(
            [
                self._client,
                f"--defaults-file={self._login}",
                "--batch",
                "--skip-column-names",
                "--unbuffered",
                "--skip-reconnect",
                "--local-infile=1",
                "--max-allowed-packet=64M",
            ],
            environment={"LC_ALL": "C.UTF-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def _exchange(self, text: bytes, mark: str, timeout_s: float) -> list[str]:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        deadline = time.monotonic() + timeout_s
        try:
            process.stdin.write(text)
            process.stdin.flush()
        except BrokenPipeError:
            pass  # its last output is read below
        output, end = b"", f"{mark}\n".encode()
        while not output.endswith(end):
            readable, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                raise TimedOut(f"the server did not answer within {timeout_s:g} s", "try again on a quieter machine")
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                words = output.decode(errors="replace").strip()
                raise RowpathError(f"the server refused: {words[-500:]}", "read the server's log")
            output += piece
        return output[: -len(end)].decode(errors="replace").split("\n")[:-1]
