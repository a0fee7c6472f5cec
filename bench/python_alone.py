"""What the wheel does with Python only: from an empty environment and cache to an answer with C in it.

The first answer is a probe of an SQLite file; then `tour` runs. Both use C and Python only, as on a machine without any
other language. The packages come from the index that pip uses.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from rowpath.analysis.analyse import analyse
from rowpath.checks.selftest.bench import Bench
from rowpath.runners.manifest import load_manifest

ROOT = Path(__file__).parents[1]
COMPILERS = re.compile(r"(.*-)?(cc|gcc|g\+\+|c\+\+|cpp|clang(\+\+)?|[cg]99|c89|ar|as|ld(\.\w+)?)(-[\d.]+)?")
OTHERS = re.compile(r"java.*|mvn.*|node.*|npm|npx|go|cargo|rustc|mono.*|mcs|cobc|ecpg|pg_config|mariadb_config")
LANGUAGES = ("c", "python")
ROWS = 5000
ANSWER_BAR_S, TOUR_BAR_S, TOUR_BAR_PATHS, WHEEL_BAR_MB = 60.0, 180.0, 7, 20.0


def measure(bench: Bench) -> Iterator[Figure]:
    """Size of the wheel, time to the first answer, how many paths of `tour` are ranked, and in which time."""
    command: list[str | Path] = [sys.executable, ROOT / "scripts" / "build_wheel.py", bench.directory / "dist"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wheel = next((bench.directory / "dist").glob("*.whl"))
    size_mb = wheel.stat().st_size / 1e6
    yield Figure("wheel", f"{size_mb:.1f} MB", f"at most {WHEEL_BAR_MB:g} MB", size_mb <= WHEEL_BAR_MB)

    programs, cache, home = (bench.directory / name for name in ("bin", "cache", "environment"))
    link_programs(programs)
    environment = {"PATH": str(programs), "HOME": str(bench.directory), "ROWPATH_CACHE": str(cache)}
    begun_ns = time.perf_counter_ns()
    venv.create(home, with_pip=True)
    options = ("--quiet", "--disable-pip-version-check", "--no-cache-dir")
    subprocess.run([home / "bin" / "pip", "install", *options, str(wheel)], check=True)
    file = database(bench.directory / "own.db")
    adapters = (each for language in LANGUAGES for each in load_manifest(language).adapter)
    drivers = ",".join(sorted({each.driver for each in adapters if "sqlite" in each.engines and not each.floor}))
    words = ("probe", f"sqlite://{file}", "--query", "SELECT * FROM t", f"--driver={drivers}")
    taken_s = (run_command(home, environment, *words, "-o", bench.directory / "probe") - begun_ns) / 1e9
    languages = ranked(bench.directory / "probe", "language")
    yield Figure(
        "Python only: install, first answer of a probe, empty caches",
        f"{taken_s:.0f} s, ranked: {', '.join(sorted(languages)) or 'none'}",
        f"at most {ANSWER_BAR_S:g} s, with C",
        taken_s <= ANSWER_BAR_S and "c" in languages,
    )

    begun_ns = time.perf_counter_ns()
    ended_ns = run_command(home, environment, "run", "tour", "--wait-for-quiet", "0s", "-o", bench.directory / "tour")
    taken_s = (ended_ns - begun_ns) / 1e9
    paths = len(ranked(bench.directory / "tour", ""))
    yield Figure(
        "Python only: tour",
        f"{paths} paths ranked, {taken_s:.0f} s",
        f"at least {TOUR_BAR_PATHS} paths, at most {TOUR_BAR_S:g} s",
        paths >= TOUR_BAR_PATHS and taken_s <= TOUR_BAR_S,
    )


def link_programs(folder: Path) -> None:
    """Links to every program on PATH but compilers and other languages: a PATH as where only Python is."""
    folder.mkdir()
    for program in (file for place in os.get_exec_path() if Path(place).is_dir() for file in Path(place).iterdir()):
        left_out = COMPILERS.fullmatch(program.name) or OTHERS.fullmatch(program.name)
        if not left_out and not (folder / program.name).is_symlink():
            (folder / program.name).symlink_to(program)


def database(file: Path) -> Path:
    """An SQLite file with a table t."""
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ((n, f"row {n}", n * 1.5) for n in range(ROWS)))
    connection.commit()
    connection.close()
    return file


def run_command(home: Path, environment: dict[str, str], *words: str | Path) -> int:
    """Run `rowpath` to its end; the clock then."""
    subprocess.run([home / "bin" / "rowpath", *words], check=True, env=environment, capture_output=True)
    return time.perf_counter_ns()


def ranked(directory: Path, key: str) -> set[str]:
    """The values that ranked paths have of a coordinate; without one, their ids."""
    analysis = analyse(directory)
    ids = {row.path_id for ranking in analysis.rankings for row in ranking.rows if row.rank}
    return {re.search(rf"\b{key}=([^,]+)", each)[1] for each in ids} if key else ids  # type: ignore[index]
