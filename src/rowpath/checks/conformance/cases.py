"""The cases of conformance, one TOML file each under cases/, and the workloads that they name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from rowpath.model.workload import Workload
from rowpath.workloads.workload_file import load_workload

FOLDER = Path(__file__).parent / "cases"


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One phase and its result; what it leaves out follows from the controller's generators."""

    title: str
    workload: str
    phase: str
    verify: dict[str, int] = {}
    sample: dict[str, int] = {}
    rows: int | None = None
    digest: str = ""
    failed: int = 0
    error: dict[str, str] = {}  # its kind (by engine where one differs), a word of its text
    beside: tuple[str, ...] = ()  # coordinates that touch it: it also runs on paths that differ only in those
    name: str = ""


@cache
def cases() -> tuple[Case, ...]:
    """All of them, by file name."""
    return tuple(
        msgspec.structs.replace(msgspec.toml.decode(file.read_bytes(), type=Case), name=file.stem)
        for file in sorted(FOLDER.glob("*.toml"))
    )


def case_named(name: str) -> Case:
    """The case in `NAME.toml`."""
    return next(case for case in cases() if case.name == name)


@cache
def workload_of(case_workload: str) -> Workload:
    """The workload that a case names: one of Rowpath's, or a file beside the case."""
    return load_workload(FOLDER / case_workload if "/" in case_workload else case_workload)


@cache
def workloads() -> dict[str, Workload]:
    """Every workload that a case names."""
    return {found.name: found for found in map(workload_of, dict.fromkeys(case.workload for case in cases()))}


def phase_name(case: Case) -> str:
    """`workload.phase`."""
    return f"{workload_of(case.workload).name}.{case.phase}"
