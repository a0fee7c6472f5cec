"""What can run here, what cannot, why, and the command that would enable it; what makes this machine noisy."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Literal

from rowpath.cli.options import WILL_RUN, add_shared

if WILL_RUN:
    from rich.table import Table
    from rich.text import Text

    from rowpath.engines import ENGINES
    from rowpath.machine import counters, describe
    from rowpath.model.availability import Availability
    from rowpath.report.console import make_console
    from rowpath.runners import driver_facts
    from rowpath.runners.manifest import Adapter, availability, every_adapter

State = Literal["ok", "missing", "noisy", "unknown"]
MARKS: dict[State, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "missing": ("✗", "red"),
    "noisy": ("!", "yellow"),
    "unknown": ("?", "dim"),
}


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `doctor`."""
    add_shared(parser, "--adapters", "--color")


@dataclass(frozen=True)
class Diagnosis:
    """One line of the doctor: `what` is its subject, `found` what is so, `remedy` the command that would change it."""

    section: Literal["engines", "paths", "collectors", "noise"]
    what: str
    state: State
    found: str
    remedy: str = ""


def diagnose() -> list[Diagnosis]:
    """Every check, in the order in which they are shown; starts and fetches nothing."""
    engines, paths = [], []
    for name, engine in ENGINES.items():
        here = engine.availability()
        state: State = "ok" if here.ok else "missing"
        engines.append(Diagnosis("engines", name, state, here.reason or here.what, here.remedy))
        paths += [_path(name, here, adapter) for adapter in every_adapter() if name in adapter.engines]
    for one in driver_facts.absent():
        what = f"{one.language} · {one.driver}"
        paths.append(Diagnosis("paths", what, "missing", f"{one.reason}; instead: {one.instead}"))
    collectors = [
        Diagnosis("collectors", resource, "missing" if method.startswith("unavailable") else "ok", method)
        for resource, method in counters.probe().items()
    ]
    noise = [
        Diagnosis("noise", source.what, source.state, source.found, source.remedy)
        for source in describe.noise_sources()
    ]
    return [*engines, *paths, *collectors, *noise]


def run(options: argparse.Namespace) -> int:
    """Print every check as tables, then the remedies."""
    console, checks = make_console(options.color), diagnose()
    titles = {
        "engines": "Engines",
        "paths": "Paths",
        "collectors": "Collectors",
        "noise": "Noise sources of this machine",
    }
    for section, title in titles.items():
        table = Table(
            title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False
        )
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for check in (check for check in checks if check.section == section):
            mark, style = MARKS[check.state]
            table.add_row(Text(mark, style=style), Text(check.what), Text(check.found))
        console.print(table)
        console.print()
    remedies = dict.fromkeys(check.remedy for check in checks if check.remedy)
    if remedies:
        console.print(Text("What would change it", style="bold"))
        for remedy in remedies:
            console.print(Text(f"  {remedy}"), soft_wrap=True)
    return 0


def _path(engine: str, here: Availability, adapter: Adapter) -> Diagnosis:
    deployments = [kind for kind in adapter.deployments if kind in ENGINES[engine].deployments]
    what = f"{engine} {'/'.join(deployments)} · {adapter.language} · {adapter.driver}"
    there = availability(adapter, adapter.versions[0])
    for each in (here, there):
        if not each.ok:
            return Diagnosis("paths", what, "missing", each.reason, each.remedy)
    return Diagnosis("paths", what, "ok", f"{there.what}; {adapter.confounded}" if adapter.confounded else there.what)
