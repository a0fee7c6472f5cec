"""A module of Rowpath as a process of its own beside an agent; whoever asks gets what it writes into its folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from rowpath.hosts import node
from rowpath.machine import processes

LOOK_S = 0.3  # for the program's end, in one look
MOST_BYTES = 1 << 20  # of a file, in one look
ERRORS = "errors"  # the file of what it writes to stderr


class Program:
    """The program, in a private folder that is its working directory."""

    def __init__(self, module: str, given: bytes, files: Mapping[str, bytes]) -> None:
        """`given`: its stdin, where secrets may be. `files`: by name, in its folder before it begins."""
        self._folder = Path(tempfile.mkdtemp(prefix="rowpath-program-", dir=node.session_folder()))
        for name, data in files.items():
            file = self._folder / name
            file.parent.mkdir(mode=0o700, exist_ok=True)
            file.write_bytes(data)
        source = Path(__file__).parents[2]
        places = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
        with (self._folder / ERRORS).open("wb") as errors:
            self._process = processes.start(
                [sys.executable, "-P", "-m", module],
                environment={"PYTHONPATH": places, "PYTHONNOUSERSITE": "1"},
                directory=self._folder,
                stdin=subprocess.PIPE,
                stderr=errors,
            )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as stream:
            stream.write(given)

    def look(self, globs: Iterable[str], seen: Mapping[str, int]) -> tuple[dict[str, bytes], int | None]:
        """What files hold after what was seen of them, in bytes; the program's status once it has ended.

        A status without anything new: that was all.
        """
        processes.wait(self._process, LOOK_S)
        status = self._process.poll()  # before reading: then nothing follows
        found = {}
        for file in sorted({file for each in globs for file in self._folder.glob(each)}):
            name = str(file.relative_to(self._folder))
            if file.is_file() and file.stat().st_size > seen.get(name, 0):
                with file.open("rb") as stream:
                    stream.seek(seen.get(name, 0))
                    found[name] = stream.read(MOST_BYTES)
        return found, status

    def interrupt(self) -> None:
        """Have it end in order, as Ctrl-C does; harmless when it has ended."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """End it with all that it started, and remove its folder."""
        processes.stop(self._process)
        shutil.rmtree(self._folder, ignore_errors=True)
