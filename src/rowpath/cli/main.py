"""The command line: one module per command, imported when it runs; every error becomes a message and an exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from pathlib import Path

from rowpath.cli.arguments import function, parse
from rowpath.errors import RowpathError
from rowpath.machine import disk_space

INTERRUPT_AGAIN_S = 0.05


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, _interrupt)
    sys.unraisablehook = _not_raised
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale that lacks a character must not end a run
    try:
        options = parse(arguments)
        if getattr(options, "adapters", None):
            from rowpath.engines import join_file
            from rowpath.runners.manifest import add_external, engine_files

            for file in engine_files(options.adapters):
                join_file(file)
            add_external(options.adapters)
        code: int = function(options.command, "run")(options)
        return code
    except RowpathError as error:
        print(error.shown(), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("\nerror: interrupted\n\nhint: the results so far are kept: rowpath run --resume DIR", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of stdout has gone (head, less): nothing more to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if disk_space.is_full(error):
            full = disk_space.error(Path(getattr(error, "filename", None) or Path.cwd()), str(error))
            print(full.shown(), file=sys.stderr)
            return full.exit_code
        traceback.print_exc()
        print(f"error: {type(error).__name__}: {error}\n\nhint: report it with the lines above", file=sys.stderr)
        return 4


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _not_raised(lost: sys.UnraisableHookArgs) -> None:
    """An interruption that arrived where none can be raised (while a process is forked) comes again a moment later."""
    if lost.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, INTERRUPT_AGAIN_S)
    else:
        sys.__unraisablehook__(lost)
