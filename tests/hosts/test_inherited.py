"""What a program inherits on a host: as if its user had started it."""

from __future__ import annotations

import os
from pathlib import Path

from rowpath.hosts import cluster, node
from rowpath.machine import processes
from tests.hosts.conftest import experiment
from tests.hosts.lab import Lab

MASK = "SigBlk"
IGNORED = "SigIgn"
OURS = {node.MARK, node.CPUS, node.HELPERS, node.NICE, "ROWPATH_CACHE"}


def _of(pid: int) -> dict[str, str]:
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
    )
    fields = processes.stat_fields(pid)
    names = {each.split(b"=", 1)[0].decode() for each in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if each}
    return {
        "blocked": status[MASK],
        "ignored": status[IGNORED],
        "nice": fields[16],
        "killed first": Path(f"/proc/{pid}/oom_score_adj").read_text(),
        "environment": " ".join(sorted(names)),
    }


def _runner_of(lab: Lab, directory: Path, far: bool) -> dict[str, str]:
    """Of a living runner, on a host or here."""
    directory.mkdir()
    file = experiment(directory, "long", rounds=400)
    more = ["--hosts", str(lab.file)] if far else []
    under_way = lab.begun("run", file, *more, "-o", str(directory / "run"))
    try:
        while (line := under_way.stderr.readline()) and "steady" not in line:  # type: ignore[union-attr]
            assert under_way.poll() is None
        name = cluster.name_of(lab.file)
        every = node.pids(name, "app1") if far else processes.descendants(under_way.pid)
        return _of(next(pid for pid in every if processes.name(pid).startswith("libpq")))
    finally:
        under_way.kill()
        under_way.communicate()


def test_a_runner_there_is_like_one_here(loopback: Lab, tmp_path: Path) -> None:
    there, here = _runner_of(loopback, tmp_path / "there", True), _runner_of(loopback, tmp_path / "here", False)
    names = {key: set(found.pop("environment").split()) for key, found in (("there", there), ("here", here))}
    assert there == here
    of_tests = {name for name in os.environ if name.startswith("PYTEST")}
    assert names["there"] - OURS - of_tests == names["here"] - OURS - of_tests
