"""What `rowpath adapter test` tests: adapters by their driver's name, or a program that is a runner."""

from __future__ import annotations

import shutil
from pathlib import Path

from rowpath.checks.conformance.paths import Reach, Wanted, planned
from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import check_coordinates
from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter
from rowpath.toml_file import suggest

GENERAL = ("engine", "deployment", "language", "driver", "version")


def paths_of(words: list[str], wanted: Wanted, reach: Reach) -> tuple[PlannedPath, ...]:
    """The paths to test: of every adapter of that driver's name, or of the program that the words are.

    A program's coordinates are those of the manifest entry that `driver=` names; without one, just those given
    (`engine=` is then needed). UsageError when neither fits, or when no path has the coordinates.
    """
    adapters = [adapter for adapter in manifest.every_adapter() if [adapter.driver] == words]
    if not adapters:
        adapters = [_program(words, wanted)]
    check_coordinates({key: values for key, values in wanted.items() if key in ("engine", "language", "deployment")})
    found = [
        each
        for adapter in adapters
        if "language" not in wanted or adapter.language in wanted["language"]
        for each in planned(adapter, reach, {key: wanted[key] for key in wanted if key not in ("language", "driver")})
    ]
    if not found:
        given = " ".join(f"{key}={','.join(values)}" for key, values in wanted.items())
        raise UsageError(f"{' '.join(words)} has no path with {given or 'a known engine'}", "rowpath list paths")
    return tuple(found)


def _program(words: list[str], wanted: Wanted) -> Adapter:
    known = list(dict.fromkeys(adapter.driver for adapter in manifest.every_adapter()))
    if not words or shutil.which(words[0]) is None:
        what = f"'{words[0]}' is neither an adapter nor a program" if words else "which adapter?"
        raise UsageError(what, suggest(words[0], tuple(known)) if words else "rowpath adapter test NAME")
    if len(wanted.get("driver", ())) > 1 or len(wanted.get("engine", ())) > 1:
        raise UsageError("a program is tested as one driver on one engine", "driver=NAME engine=NAME, one value each")
    driver = wanted.get("driver", (Path(words[0]).name,))[0]
    like = next((adapter for adapter in manifest.every_adapter() if adapter.driver == driver), None)
    if like is not None:
        return manifest.external(like, driver, words)
    described = manifest.external(_described(driver, wanted), driver, words)
    manifest.add(described)
    return described


def _described(driver: str, wanted: Wanted) -> Adapter:
    """An adapter that no manifest describes: all that is known of it are the coordinates given."""
    engine = wanted.get("engine", ("",))[0]
    if engine not in ENGINES:
        hint = f"engine={'|'.join(ENGINES)}, or driver=NAME of an entry (--adapters FILE)"
        raise UsageError(f"no manifest describes '{driver}', so its engine is not known", hint)
    return Adapter(
        driver=driver,
        source="",
        engines=(engine,),
        deployments=wanted.get("deployment", ENGINES[engine].deployments[:1]),
        versions=wanted.get("version", ("bundled",)),
        phases=("query", "execute", "connect"),
        coordinates={key: values for key, values in wanted.items() if key not in GENERAL},
        language=wanted.get("language", ("external",))[0],
    )
