"""Hosts over a real SSH server each: brought up, used and taken down; every fault of the way is a sentence."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rowpath.hosts import cluster, node
from rowpath.journal import reader
from rowpath.journal.records import SampleRecord, VerifyRecord
from tests.hosts import broken_network, lab, sshd
from tests.hosts.conftest import experiment, require
from tests.hosts.lab import ROOT, Lab

SECONDS = 40.0  # ssh gives up after 10, a host that does not answer has 30


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Hosts in namespaces with an SSH server each, not up."""
    require()
    if why := lab.missing() or sshd.missing():
        pytest.skip(why)
    with lab.in_namespaces(tmp_path_factory.mktemp("hosts"), over_ssh=True) as found:
        yield found


def test_hosts_over_ssh_from_up_to_down(hosts: Lab, tmp_path: Path) -> None:
    hosts.up()
    try:
        token = (node.folder(cluster.name_of(hosts.file), "db") / "token").read_text()
        shown = hosts.rowpath("hosts", "status", str(hosts.file))
        assert shown.stdout.count("raylet") == 1 + len(hosts.addresses)
        checked = hosts.rowpath("hosts", "check", str(hosts.file))
        assert checked.returncode == 0, checked.stderr
        assert "app1 → db: round trip" in checked.stdout
        words = ["run", experiment(tmp_path, "ssh"), "--hosts", str(hosts.file), "-o", str(tmp_path / "run")]
        done = hosts.rowpath(*words)
        assert done.returncode == 0, done.stderr
        found = reader.read(tmp_path / "run")
        assert found.outcome == "complete"
        assert all(each.ok for each in found.all(VerifyRecord))
        again = hosts.rowpath("hosts", "up", str(hosts.file))
        assert again.returncode == 2
        assert "are already up" in again.stderr
    finally:
        hosts.down()
    assert hosts.mine() == {}
    started = (hosts.folder / "started").read_text()
    assert started.count("arguments: hosts node\n") >= 4 * len(hosts.addresses)
    assert token not in started


@pytest.mark.long
def test_a_node_that_ended_is_started_again_over_ssh(hosts: Lab, tmp_path: Path) -> None:
    hosts.up()
    directory, file = tmp_path / "run", experiment(tmp_path, "long", sets=4, rounds=60)
    try:
        words = ("run", file, "--hosts", str(hosts.file), "client_host=app1,app2", "-o", str(directory))
        under_way = hosts.begun(*words)
        try:
            broken_network.wait_for(lambda: broken_network.count(directory, SampleRecord) > 5, under_way)
            names = hosts.mine()
            every = node.pids(cluster.name_of(hosts.file), "app2")
            os.kill(next(pid for pid in every if names.get(pid) == "raylet"), signal.SIGKILL)
            _, errors = under_way.communicate(timeout=180)
        finally:
            under_way.kill()
        assert under_way.returncode == 3, errors
        assert "app2 is back: its paths are measured again from set " in errors
        assert (0, 3) in reader.read_as_written(directory).done.sets  # the last one, of all paths
    finally:
        hosts.down()


def _unknown_key(hosts: Lab, file: Path) -> None:
    known = hosts.folder / "known_hosts"
    lines = known.read_text().splitlines(keepends=True)
    known.write_text("".join(line for line in lines if hosts.addresses["app1"] not in line))


def _changed_key(hosts: Lab, file: Path) -> None:
    _unknown_key(hosts, file)
    other = (hosts.folder / "client_key.pub").read_text()
    with (hosts.folder / "known_hosts").open("a") as known:
        known.write(f"{hosts.addresses['app1']} {other}")


def _no_key(hosts: Lab, file: Path) -> None:
    _rewrite(file, hosts, lambda line: line.replace("-F ", "-o PubkeyAuthentication=no -F "))


def _wrong_path(hosts: Lab, file: Path) -> None:
    _rewrite(file, hosts, lambda line: line.replace("a place/rowpath", "a place/nothing"))


def _another_version(hosts: Lab, file: Path) -> None:
    source = hosts.folder / "another"
    if not source.exists():
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        (source / "rowpath" / "text.py").open("a").write("# changed\n")
    _program(hosts, file, str(hosts.keys.rowpath(source, "other").read_text()))  # type: ignore[union-attr]


def _another_python(hosts: Lab, file: Path) -> None:
    _program(hosts, file, f'#!/bin/sh\n\'{_ours(hosts)}\' "$@" | sed \'s/"python":"[0-9.]*"/"python":"3.10.2"/\'\n')


def _no_answer(_hosts: Lab, file: Path) -> None:
    _program(_hosts, file, "#!/bin/sh\nexec sleep 600\n")


def _something_else(hosts: Lab, file: Path) -> None:
    _program(hosts, file, "#!/bin/sh\necho welcome; exit 3\n")


def _no_server(hosts: Lab, file: Path) -> None:
    _rewrite(file, hosts, lambda line: line.replace("-F ", "-p 23 -F "))


def _nobody(hosts: Lab, file: Path) -> None:
    _rewrite(file, hosts, lambda line: line.replace(f"root@{hosts.addresses['app1']}", "root@nowhere.invalid"))


def _ours(hosts: Lab) -> Path:
    return hosts.folder / "a place" / "rowpath"


def _program(hosts: Lab, file: Path, script: str) -> None:
    other = hosts.folder / "a place" / "other"
    other.write_text(script)
    other.chmod(0o755)
    _rewrite(file, hosts, lambda line: line.replace("a place/rowpath", "a place/other"))


def _rewrite(file: Path, hosts: Lab, change: Callable[[str], str]) -> None:
    """Change what the file says of app1."""
    before, mine, after = file.read_text().partition('name = "app1"')
    block, more, rest = after.partition("[[host]]")
    assert change(block) != block
    file.write_text(before + mine + change(block) + more + rest)


@pytest.mark.parametrize(
    ("breaks", "said", "hint"),
    [
        (_unknown_key, "ssh does not know its key", "connect once by hand"),
        (_changed_key, "its key differs from the one that ssh knows", "ssh-keygen -R"),
        (_no_key, "ssh cannot log in without a password", "ssh-copy-id"),
        (_wrong_path, "a place/nothing' does not run there", 'rowpath = "/path/rowpath"'),
        (_another_version, "has a different Rowpath", "copy this Rowpath there"),
        (_another_python, "has Python 3.10.2", "install Python"),
        pytest.param(_no_answer, "did not answer within 30 s", "try by hand: ssh", marks=pytest.mark.long),
        (_something_else, "status 3, welcome", "try by hand: ssh"),
        (_no_server, "no SSH server listens there", "start sshd there"),
        (_nobody, "ssh does not know its name", "correct ssh ="),
    ],
)
def test_a_fault_on_the_way_is_a_sentence_and_nothing_is_started(
    hosts: Lab, breaks: Callable[[Lab, Path], None], said: str, hint: str
) -> None:
    kept = {file: file.read_text() for file in (hosts.file, hosts.folder / "known_hosts")}
    try:
        breaks(hosts, hosts.file)
        begun = time.monotonic()
        done = hosts.rowpath("hosts", "up", str(hosts.file), timeout_s=2 * SECONDS)
        assert time.monotonic() - begun < SECONDS
    finally:
        for file, text in kept.items():
            file.write_text(text)
        if hosts.mine():  # no later test must meet it
            hosts.down()
            pytest.fail("the hosts came up")
    assert done.returncode == 3, done.stderr
    error, _, hints = done.stderr.partition("error: ")[2].partition("\n\nhint: ")
    assert "host 'app1'" in error
    assert said in error
    assert hint in hints
    assert "starting" not in done.stderr


def test_every_host_that_cannot_be_reached_is_named(hosts: Lab) -> None:
    text = hosts.file.read_text()
    try:
        hosts.file.write_text(text.replace("-F ", "-p 23 -F "))
        done = hosts.rowpath("hosts", "up", str(hosts.file))
    finally:
        hosts.file.write_text(text)
    assert done.returncode == 3
    assert all(f"host '{name}'" in done.stderr for name in hosts.addresses)


def test_a_command_ends_where_nothing_answers(hosts: Lab) -> None:
    link = [*hosts.inside, "ip", "link", "set", "app1"]
    subprocess.run([*link, "down"], check=True)
    try:
        done = hosts.rowpath("hosts", "up", str(hosts.file), timeout_s=2 * SECONDS)
    finally:
        subprocess.run([*link, "up"], check=True)
    assert done.returncode == 3
    assert "cannot reach host 'app1'" in done.stderr
    assert "hint: check the address and the network" in done.stderr
