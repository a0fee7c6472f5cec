"""Which path of head is which of base, and what else they do not share: a second difference leaves no answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from rowpath import text
from rowpath.analysis.comparison.model import Difference
from rowpath.analysis.comparison.side import Run, Side, Where
from rowpath.journal.records import PathRecord, RunRecord
from rowpath.model.choices import QUESTIONS, REFUSED
from rowpath.model.grouping import grouped
from rowpath.model.path import WITHOUT

# Coordinates in which two paths may differ and still be one path's two sides.
PAIRED_OVER = {"version": "driver", "engine_version": "engine", "durability": "durability", "placement": "placement"}
# Tried in this order: the same path, another version, then also what is refused unless asked for.
STEPS = ((), ("version", "engine_version"), tuple(PAIRED_OVER))
WORDS = {"driver": "driver version", "engine": "engine version", "rowpath": "Rowpath", "rows": "delivered rows"}
DIGITS = 12  # of a fingerprint, to tell two builds apart
MEMORY_TOLERANCE = 0.05  # the kernel's own share changes from boot to boot


@dataclass(frozen=True)
class Pairs:
    """Pairs of (base, head), and the paths that the other side does not have."""

    pairs: tuple[tuple[PathRecord, PathRecord], ...]
    only_base: tuple[PathRecord, ...]
    only_head: tuple[PathRecord, ...]


def pair(base: Side, head: Side) -> Pairs:
    """Equal paths, then those that differ only in what sides may differ in, where just one of each side is left."""
    left, right = dict(base.paths), dict(head.paths)
    paired: dict[str, tuple[PathRecord, PathRecord]] = {}
    for without in STEPS:
        of_left, of_right = _by_key(left.values(), without), _by_key(right.values(), without)
        for key in of_left.keys() & of_right.keys():
            if len(of_left[key]) == len(of_right[key]) == 1:
                one, other = of_left[key][0], of_right[key][0]
                paired[one.path_id] = (one, other)
                del left[one.path_id], right[other.path_id]
    ordered = tuple(paired[path_id] for path_id in base.paths if path_id in paired)
    return Pairs(ordered, tuple(left.values()), tuple(right.values()))


def _by_key(paths: Iterable[PathRecord], without: tuple[str, ...]) -> dict[str, list[PathRecord]]:
    def key(path: PathRecord) -> str:
        shown = sorted(item for item in path.coordinates.items() if item not in WITHOUT.items())
        return ",".join(f"{name}={value}" for name, value in shown if name not in without)

    return grouped(paths, key)


def of_runs(base: Run, head: Run) -> list[Difference]:
    """What the machines and the ways of measuring differ in."""
    one, other = base.head, head.head
    differing = [
        *_differing("machine", _machine(one.environment), _machine(other.environment)),
        *_differing("system", system(one.environment), system(other.environment)),
        *_differing("rowpath", one.rowpath, other.rowpath),
        *_differing("measure", _measure(one), _measure(other)),
        *_differing("scale", f"{one.experiment.scale:g}", f"{other.experiment.scale:g}"),
    ]
    sizes = memory_kib(one.environment), memory_kib(other.environment)
    another = any(difference.name == "machine" for difference in differing)
    if not another and all(sizes) and abs(sizes[0] - sizes[1]) > MEMORY_TOLERANCE * max(sizes):
        differing.append(Difference("machine", *(text.size(1024 * size) for size in sizes)))
    return differing


def _differing(name: str, base: str, head: str) -> Iterator[Difference]:
    """The difference, where both sides state the fact."""
    if base and head and base != head:
        yield Difference(name, base, head)


def of_paths(base: Side, head: Side, base_path: PathRecord, head_path: PathRecord, where: Where) -> list[Difference]:
    """What a pair of paths differs in in one phase, beside its runs."""
    differing = [
        Difference(name, base_path.get(key), head_path.get(key))
        for key, name in PAIRED_OVER.items()
        if base_path.get(key) != head_path.get(key)
    ]
    builds = (path.driver_digest and f"build {path.driver_digest[:DIGITS]}" for path in (base_path, head_path))
    differing = differing or [*_differing("driver", *builds)]
    facts = base.facts(base_path.path_id), head.facts(head_path.path_id)
    if not any(difference.name in ("driver", "engine") for difference in differing):
        # A driver brings its libraries, an embedded engine its driver: one thing, not two.
        differing += [*_reported(*facts)][:1]
    differing += _differing("runtime", *(without_places(reported.get("runtime", "")) for reported in facts))
    if not _same_data((*base.runs, *head.runs), where):
        differing.append(Difference("data", "another definition", "of tables or phase"))
    delivered = base.digests(base_path.path_id, where), head.digests(head_path.path_id, where)
    return [*differing, *_differing("rows", *(" ".join(sorted(digests)) for digests in delivered))]


def refusal(differences: Iterable[Difference], despite: tuple[str, ...]) -> str:
    """Why a path with these differences is not compared; empty when it is."""
    left = [difference for difference in differences if difference.name not in despite]
    barred = "; ".join(in_words(difference) for difference in left if difference.name in REFUSED)
    return barred or (f"{len(left)} things differ: {'; '.join(map(in_words, left))}" if len(left) > 1 else "")


def waivers(differences: Iterable[Difference], despite: tuple[str, ...]) -> list[str]:
    """The words that `--despite` needs for these differences: the driver's or engine's version stays the question."""
    left = [difference.name for difference in differences if difference.name not in despite]
    questions = sorted((name for name in left if name in QUESTIONS), key=QUESTIONS.index)
    return [*(name for name in left if name in REFUSED), *questions[1:]]


def in_words(difference: Difference) -> str:
    """`driver version 3.2.1 → 3.2.3`."""
    return f"{WORDS.get(difference.name, difference.name)} {difference.base} → {difference.head}"


def _reported(base: dict[str, Any], head: dict[str, Any]) -> Iterator[Difference]:
    """What drivers and engines report of themselves, behind a version such as `system`."""
    for name in ("driver", "engine"):
        yield from _differing(name, *(without_places(facts.get(f"{name}_version", "")) for facts in (base, head)))
    libraries = [facts.get("libraries") or {} for facts in (base, head)]
    one, other = (", ".join(f"{name} {of[name]}" for name in sorted(of)) or "none" for of in libraries)
    if one != other and base and head:
        yield Difference("library", one, other)


def _machine(environment: Mapping[str, Any]) -> str:
    keys = ("processor", "cpus", "cores_used", "virtualised")
    if not any(key in environment for key in keys):
        return ""
    cores = ",".join(map(str, environment.get("cores_used") or ()))
    virtual = ", virtual" if environment.get("virtualised") else ""
    return f"{environment.get('processor') or '?'}, {environment.get('cpus')} CPUs (used: {cores or '?'}){virtual}"


def memory_kib(environment: Mapping[str, Any]) -> int:
    """The memory that a run states; 0 where it states none."""
    size = str(environment.get("memory_kib") or "")
    return int(size) if size.isdigit() else 0


def system(environment: Mapping[str, Any]) -> str:
    """Distribution and kernel of a run."""
    return ", ".join(str(environment[key]) for key in ("distribution", "kernel") if environment.get(key))


def _measure(head: RunRecord) -> str:
    measure = head.experiment.measure
    restarts = ", servers restarted" if head.options.get("restart_servers") else ""
    return f"blocks of {measure.block_ms:g} ms after {measure.lead_in_ms:g} ms{restarts}"


def _same_data(runs: Iterable[Run], where: Where) -> bool:
    """Whether everything is the same that decides which rows there are and what is requested."""
    workloads = [workload for run in runs if (workload := run.head.workloads.get(where[0])) is not None]
    phases = ([phase for phase in workload.phases if phase.name == where[1]] for workload in workloads)
    definitions = ((workload.tables, own) for workload, own in zip(workloads, phases, strict=True))
    return len({msgspec.json.encode(definition, order="sorted") for definition in definitions}) < 2


def without_places(version: Any) -> str:
    """A version without the places of its files, which are not the same in two runs."""
    return " ".join(word for word in str(version).split() if "/" not in word)
