"""`python -m bench [NAME …]`: a table of figures; status 1 when one misses its bar."""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.errors import RowpathError
from rowpath.runners.process import RunnerFailure

# The quick ones first; a word on how long each takes.
FIGURES = {
    "list_paths": "1 s",
    "analysis_growth": "1 min",
    "site": "5 min",
    "null_operation": "10 s",
    "controller_cpu": "20 s",
    "open_loop": "25 s",
    "links": "25 s",
    "collectors": "3 min",
    "pgbench": "2 min",
    "sysbench": "2 min",
    "jmeter": "5 min",
    "embedded": "1 min",
    "hand_written": "16 min",
    "layers": "15 min",
    "pools": "9 min",
    "drain": "2 min",
    "streaming_memory": "8 min",
    "groups_memory": "40 min",
    "pooler_soak": "22 min",
    "cost_model": "6 min",
    "a_a": "2 min",
    "explain": "5 min",
    "explain_server": "20 min",
    "explain_layer": "12 min",
    "explain_pooler": "5 min",
    "replay": "7 min",
    "faults": "20 min",
    "slowed_driver": "4 min",
    "tour_twice": "5 min",
    "python_alone": "4 min",
    "hosts": "6 min",
    "hosts_apart": "2 min",
    "unchanged_runs": "20 min",
    "busy_tour": "15 min",
    "many_hosts": "12 min",
    "estimate": "an hour",
    "probe_winner": "half an hour",
    "pool_size": "half an hour",
}
MARKS = {True: Text("met", style="green"), False: Text("NOT MET", style="red"), None: Text("not asked", style="yellow")}


def figures_of(name: str, told: Callable[[str], None]) -> list[Figure]:
    """One module's figures, each told once it is known, measured in a directory that is removed afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="rowpath-bench-"))
    directory.chmod(0o711)  # as root, servers run as another user
    bench = Bench(directory)
    found: list[Figure] = []
    try:
        for figure in importlib.import_module(f"bench.{name}").measure(bench):
            found.append(figure)
            told(f"  {figure.name}: {figure.value}" + (f" ({figure.bar})" if figure.bar else ""))
    except (RowpathError, RunnerFailure) as error:
        found.append(Figure(name, f"broke off: {error}", "", False))
    finally:
        bench.close()
        shutil.rmtree(directory, ignore_errors=True)
    return found


def main(names: list[str]) -> int:
    """Measure and print."""
    for name in names:
        if name not in FIGURES:
            print(f"error: there is no figure '{name}'\n\nhint: {', '.join(FIGURES)}", file=sys.stderr)
            return 2
    table = Table(title="Figures that Rowpath must reach", title_justify="left")
    for heading in ("figure", "value", "bar", "met", "command"):
        table.add_column(heading, overflow="fold")
    missed = False
    told = partial(Console(stderr=True, soft_wrap=True).print, highlight=False)
    for name in names or FIGURES:
        told(f"{name} (about {FIGURES[name]})")
        for figure in figures_of(name, told):
            missed |= figure.met is False
            table.add_row(figure.name, figure.value, figure.bar, MARKS[figure.met], f"python -m bench {name}")
    console = Console()
    Console(width=None if console.is_terminal else 160).print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
