"""A run directory on a disk that is or becomes full: said clearly, what was measured is kept, nothing survives."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rowpath.machine import disk_space
from tests.end_to_end.command import SQLITE_C, Command, called, error_form, records, steady, write_experiment
from tests.waiting import PATIENCE_S

Disk = Callable[[int], Path]
SQLITE_PYTHON = 'engine = "sqlite", driver = "sqlite3"'
FILLING = "filling"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Makes a disk of so many bytes."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    with contextlib.ExitStack() as mounted:

        def make(size_bytes: int) -> Path:
            folder = tmp_path / f"disk-{size_bytes}"
            folder.mkdir()
            options = f"size={size_bytes},mode=755"
            done = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True, check=False
            )
            if done.returncode:
                pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
            mounted.callback(unmount, folder)
            return folder

        yield make


def unmount(folder: Path) -> None:
    """Unmount it; what a killed process held may take a moment to go."""
    give_up = time.monotonic() + PATIENCE_S
    while (done := subprocess.run(["umount", folder], capture_output=True, text=True, check=False)).returncode:
        assert time.monotonic() < give_up, done.stderr
        time.sleep(0.1)


def fill(folder: Path) -> None:
    """Take the rest of the disk."""
    with contextlib.suppress(OSError), (folder / FILLING).open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_disk_is_used_up_whatever_the_engine_says(disk: Disk) -> None:
    folder = disk(1 << 20)
    assert not disk_space.is_used_up(folder / "run")
    fill(folder)
    assert disk_space.is_used_up(folder / "run")


def told(err: str, run: Path) -> None:
    message, hint = error_form(err)
    assert message.startswith(f"no space left on the disk of {run}"), message
    assert f"rowpath run --resume {run}" in hint
    assert "Traceback" not in err


@pytest.mark.parametrize("size_bytes", [8 << 10, 64 << 10, 400 << 10, 2 << 20])
@pytest.mark.parametrize("path", [SQLITE_PYTHON, SQLITE_C])
def test_too_small_from_the_start(tmp_path: Path, disk: Disk, path: str, size_bytes: int) -> None:
    experiment = write_experiment(tmp_path, [path], sets=2, phases=["scan.read", "keyed.insert"])
    folder = disk(size_bytes)
    run = folder / "run"
    with Command("run", experiment, "-o", run) as command:
        done = command.end()
    assert done.returncode == 3, done.stdout + done.stderr
    assert "no space left" in error_form(done.stderr)[0].lower(), done.stderr
    assert "Traceback" not in done.stderr
    assert not (run / "work").exists() or not any((run / "work").iterdir())
    assert not [record for record in records(run, "failure") if record["status"] != "unsupported"]


@pytest.mark.parametrize("phase", ["keyed.read", "keyed.insert"])
def test_full_in_mid_run(tmp_path: Path, disk: Disk, phase: str) -> None:
    """The journal meets it in the first case, the engine in the second."""
    experiment = write_experiment(tmp_path, [SQLITE_C, SQLITE_PYTHON], sets=30, rounds=15, phases=[phase])
    folder = disk(32 << 20)
    run = folder / "run"
    with Command("run", experiment, "-o", run) as command:
        command.wait_until(lambda: len(records(run, "set-end")) > 1 and steady(run, 2), "the third set")
        command.processes()
        while command.process.poll() is None:
            fill(folder)
        done = command.end()
    assert done.returncode == 3, done.stdout + done.stderr
    told(done.stderr, run)
    whole = (run / "samples.jsonl").read_bytes()
    assert whole.endswith(b"\n")
    assert all(json.loads(line) for line in whole.splitlines())
    assert not records(run, "failure")
    assert not (run / "work").exists()

    shown = called("show", run, "--export-json", tmp_path / "r.json")
    assert shown.returncode == 0, shown.stderr
    names = {r["name"] for r in json.loads((tmp_path / "r.json").read_text())["results"] if r["metric"] == "time"}
    assert len(names) == 2

    kept = {record["set"] for record in records(run, "set-end")}
    (folder / FILLING).unlink()
    with Command("run", "--resume", run) as resumed:
        resumed.wait_until(lambda: len(records(run, "set-end")) > len(kept), "a set after those that were kept")
