"""What two sides do not have in common: one difference is the question, a second one leaves no answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from rowpath import text
from rowpath.analysis.comparison.model import Difference
from rowpath.analysis.comparison.side import Run, Side, Where
from rowpath.journal.records import PathRecord, RunRecord
from rowpath.model.choices import QUESTIONS, REFUSED
from rowpath.model.workload import Workload

# Coordinates in which two paths may differ and still be one path's two sides.
PAIRED_OVER = {"version": "driver", "engine_version": "engine", "durability": "durability", "placement": "placement"}
WORDS = {"driver": "driver version", "engine": "engine version", "rowpath": "Rowpath", "rows": "delivered rows"}
DIGITS = 12  # of a fingerprint, to tell two builds apart
MEMORY_TOLERANCE = 0.05  # the kernel's own share changes from boot to boot


def of_runs(base: Run, head: Run) -> list[Difference]:
    """What the machines and the ways of measuring differ in."""
    found = [
        ("machine", _machine(base.head.environment), _machine(head.head.environment)),
        ("system", _system(base.head.environment), _system(head.head.environment)),
        ("rowpath", base.head.rowpath, head.head.rowpath),
        ("measure", _measure(base.head), _measure(head.head)),
        ("scale", f"{base.head.experiment.scale:g}", f"{head.head.experiment.scale:g}"),
    ]
    differing = [Difference(name, one, other) for name, one, other in found if one and other and one != other]
    sizes = [_memory_kib(run.head.environment) for run in (base, head)]
    another = any(difference.name == "machine" for difference in differing)
    if not another and all(sizes) and abs(sizes[0] - sizes[1]) > MEMORY_TOLERANCE * max(sizes):
        differing.append(Difference("machine", *(text.size(1024 * size) for size in sizes)))
    return differing


def of_paths(base: Side, head: Side, base_path: PathRecord, head_path: PathRecord, where: Where) -> list[Difference]:
    """What a pair of paths differs in in one phase, beside its runs."""
    found = list(_coordinates(base_path, head_path))
    builds = base_path.driver_digest[:DIGITS], head_path.driver_digest[:DIGITS]
    if not found and all(builds) and builds[0] != builds[1]:
        found.append(Difference("driver", *(f"build {build}" for build in builds)))
    facts = base.facts(base_path.path_id), head.facts(head_path.path_id)
    reported = list(_reported(*facts))
    if not any(difference.name in ("driver", "engine") for difference in found):
        found += reported[:1]  # a driver brings its libraries, an embedded engine its driver: one thing, not two
    one, other = (_without_places(each.get("runtime", "")) for each in facts)
    if one and other and one != other:
        found.append(Difference("runtime", one, other))
    if not _same_data(base, head, where):
        found.append(Difference("data", "another definition", "of tables or phase"))
    digests = base.digests(base_path.path_id, where), head.digests(head_path.path_id, where)
    if digests[0] and digests[1] and digests[0] != digests[1]:
        found.append(Difference("rows", *(" ".join(sorted(each)) for each in digests)))
    return found


def refusal(differences: list[Difference], despite: tuple[str, ...]) -> str:
    """Why a path with these differences is not compared; empty when it is."""
    left = [difference for difference in differences if difference.name not in despite]
    barred = [difference for difference in left if difference.name in REFUSED]
    if barred:
        return "; ".join(map(in_words, barred))
    if len(left) > 1:
        return f"{len(left)} things differ: {'; '.join(map(in_words, left))}"
    return ""


def waivers(differences: list[Difference], despite: tuple[str, ...]) -> list[str]:
    """The words that `--despite` needs for these differences: the driver's or engine's version stays the question."""
    left = [difference.name for difference in differences if difference.name not in despite]
    barred = [name for name in left if name in REFUSED]
    questions = sorted((name for name in left if name in QUESTIONS), key=QUESTIONS.index)
    return [*barred, *questions[1:]]


def in_words(difference: Difference) -> str:
    """`driver version 3.2.1 → 3.2.3`."""
    return f"{WORDS.get(difference.name, difference.name)} {difference.base} → {difference.head}"


def _coordinates(base: PathRecord, head: PathRecord) -> Iterator[Difference]:
    for key, name in PAIRED_OVER.items():
        one, other = base.get(key), head.get(key)
        if one != other:
            yield Difference(name, one, other)


def _reported(base: dict[str, Any], head: dict[str, Any]) -> Iterator[Difference]:
    """What drivers and engines report of themselves, behind a version such as `system`."""
    for name in ("driver", "engine"):
        one, other = (_without_places(facts.get(f"{name}_version", "")) for facts in (base, head))
        if one and other and one != other:
            yield Difference(name, one, other)
    one, other = (_named(facts.get("libraries") or {}) for facts in (base, head))
    if one != other and base and head:
        yield Difference("library", one, other)


def _machine(environment: dict[str, Any]) -> str:
    keys = ("processor", "cpus", "cores_used", "virtualised")
    if not any(key in environment for key in keys):
        return ""
    cores = ",".join(map(str, environment.get("cores_used") or ()))
    virtual = ", virtual" if environment.get("virtualised") else ""
    return f"{environment.get('processor') or '?'}, {environment.get('cpus')} CPUs (used: {cores or '?'}){virtual}"


def _memory_kib(environment: dict[str, Any]) -> int:
    size = str(environment.get("memory_kib") or "")
    return int(size) if size.isdigit() else 0


def _system(environment: dict[str, Any]) -> str:
    return ", ".join(str(environment[key]) for key in ("distribution", "kernel") if environment.get(key))


def _measure(head: RunRecord) -> str:
    measure = head.experiment.measure
    restarts = ", servers restarted" if head.options.get("restart_servers") else ""
    return f"blocks of {measure.block_ms:g} ms after {measure.lead_in_ms:g} ms{restarts}"


def _same_data(base: Side, head: Side, where: Where) -> bool:
    definitions = {
        _definition(run.head.workloads.get(where[0]), where[1])
        for side in (base, head)
        for run in side.runs
        if where[0] in run.head.workloads
    }
    return len(definitions) < 2


def _definition(workload: Workload | None, phase: str) -> bytes:
    """Everything that decides which rows there are and what is asked for."""
    if workload is None:
        return b""
    found = [each for each in workload.phases if each.name == phase]
    return msgspec.json.encode((workload.tables, found), order="sorted")


def _without_places(version: Any) -> str:
    """A version without the places of its files, which are not the same in two runs."""
    return " ".join(word for word in str(version).split() if "/" not in word)


def _named(libraries: dict[str, Any]) -> str:
    return ", ".join(f"{name} {libraries[name]}" for name in sorted(libraries)) or "none"
