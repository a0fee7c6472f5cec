"""Writes what shells and `man` know of the command line, into share/, from its parsers: `make docs`.

The files lie as they are installed: completions for bash, zsh and fish (by shtab), and the manual page.
tests/unit/house/test_shell_files.py fails when one is not current.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import shtab

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from scripts import docs_tables  # noqa: E402

from rowpath import __version__  # noqa: E402
from rowpath.cli import arguments  # noqa: E402
from rowpath.cli.start import WANTED  # noqa: E402
from rowpath.planning import experiment_file  # noqa: E402

SHELLS = {
    "bash": "share/bash-completion/completions/rowpath",
    "zsh": "share/zsh/site-functions/_rowpath",
    "fish": "share/fish/vendor_completions.d/rowpath.fish",
}
MANUAL = "share/man/man1/rowpath.1"
WITH_EXPERIMENTS = ("run", "explain", "verify", "record")  # their first word may be the name of one


def parser() -> argparse.ArgumentParser:
    """All commands with their options; what a file, a directory or an experiment belongs to says so to shtab."""
    whole = arguments.build_parser(*arguments.COMMANDS)
    for command in (whole, *_commands(whole).values()):
        for action in command._actions:
            named = str(action.metavar or "")
            if re.search(r"\bDIR|\bBASE|\bHEAD", named):
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif re.search(r"FILE|TABLE\.toml", named):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            if action.dest == "words" and command.prog.split()[-1] in WITH_EXPERIMENTS:
                action.choices = experiment_file.names()
    return whole


def _commands(whole: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return next(dict(each.choices) for each in whole._actions if isinstance(each, argparse._SubParsersAction))


def completion(shell: str) -> str:
    """The script that a shell loads."""
    first, *others = shtab.complete(parser(), shell=shell).splitlines()
    # Much of it is text of shtab's own templates.
    return "".join(f"{line.rstrip()}\n" for line in (first, "# SPDX-License-Identifier: MPL-2.0", *others))


def manual() -> str:
    """The page as man(7) has it: what to do first, every command with its options, exit codes."""
    return "\n".join(_manual()) + "\n"


def _manual() -> Iterator[str]:
    yield f'.TH ROWPATH 1 "" "rowpath {__version__}" "User Commands"'
    yield from (".SH NAME", r"rowpath \- measures every path from a database to a program")
    yield from (".SH SYNOPSIS", r"\fBrowpath\fR \fICOMMAND\fR [\fIWORD\fR ...] [\fIOPTION\fR ...]")
    yield ".SH FIRST STEPS"
    for command, what in WANTED.items():
        yield from (".TP", rf"\fB{_roff(command)}\fR", _roff(what))
    yield ".SH COMMANDS"
    for name, options in arguments.commands().items():
        yield from (f".SS rowpath {name}", _roff(options.description or ""))
        for action in options._actions:
            if isinstance(action, argparse._HelpAction) or not (action.help or action.choices):
                continue
            form = re.sub(r"`", "", docs_tables.named(action))
            yield from (".TP", rf"\fB{_roff(form)}\fR", _roff(docs_tables.said(action, options)))
    yield ".SH EXIT STATUS"
    for line in textwrap.dedent(arguments.EXIT_CODES.partition("\n")[2]).splitlines():
        code, _, meaning = line.partition(" ")
        yield from (".TP", rf"\fB{code}\fR") if code else ()
        yield _roff(meaning.strip())


def _roff(text: str) -> str:
    """Text that troff prints as it is."""
    plain = text.replace("&lt;", "<").replace("\\|", "|").replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", plain)


def files() -> dict[str, str]:
    """Every file's text, by its place."""
    return {**{place: completion(shell) for shell, place in SHELLS.items()}, MANUAL: manual()}


def main() -> int:
    """Write the files that are not current, and name them."""
    for name, text in files().items():
        file = ROOT / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
