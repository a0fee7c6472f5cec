"""A language that its manifest's header describes whole: a command that builds its runner, one that starts it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from rowpath.errors import InternalError
from rowpath.machine import jobs, processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import Adapter, Command, DriverFacts, language, source_file

BUILD_TIMEOUT_S = 600


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether the programs that build and start the runner are here."""
    header = language(adapter.language)
    for program in (*header.build[:1], *_filled(header.run[:1], adapter)):
        if shutil.which(program) is None:
            return Availability(False, program, f"no program {program}", f"install {program}")
    return Availability(True, f"{header.title} {adapter.driver}")


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Run the header's `build` in its folder. Errors: InternalError with what it prints."""
    for header in map(language, {adapter.language for adapter, _version in adapters}):
        if not header.build:
            continue
        jobs.begins(f"running {' '.join(header.build)} in {header.folder}")
        done = processes.run(header.build, timeout_s=BUILD_TIMEOUT_S, directory=Path(header.folder))
        if done.returncode:
            text = f"the {header.title} runner does not build: {(done.stdout + done.stderr).strip()}"
            raise InternalError(text, f"cd {header.folder} && {' '.join(header.build)}")


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """The header's `run`, with what its words leave open."""
    return Command((*_filled(language(adapter.language).run, adapter), "--adapter", adapter.driver))


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """Only the version: the header names no package."""
    return DriverFacts(version)


def _filled(words: Iterable[str], adapter: Adapter) -> list[str]:
    known = {"folder": adapter.folder, "source": source_file(adapter), "driver": adapter.driver}
    return [word.format(**known) for word in words]
