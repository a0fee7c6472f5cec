"""A Ray cluster of plain `ray start`, with a token and TLS, as others bring one up on the hosts of a lab."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rowpath.hosts import cluster, setup
from rowpath.machine import processes
from tests.hosts.lab import ROOT, Lab

LABELS = {
    "app1": "rowpath-host=app1,rowpath-roles=client,rowpath-helpers=0",
    "app2": "rowpath-host=app2,rowpath-roles=client",
    "db": "rowpath-host=db,rowpath-roles=server",
}
MARK = f"ROWPATH_TEST_{os.getpid()}"  # in the environment of the cluster


@dataclass
class Foreign:
    """A cluster of plain `ray start` on the hosts of a lab, and how it is joined."""

    lab: Lab
    address: str
    environment: dict[str, str]

    def rowpath(self, *words: str, has_secrets: bool = True) -> subprocess.CompletedProcess[str]:
        """One command of ours on the controller's machine."""
        command = [*self.lab.inside, sys.executable, "-P", "-m", "rowpath", *words]
        added = self.environment if has_secrets else {}
        everything = self.lab.environment | added
        return subprocess.run(
            command, env=everything, cwd=self.lab.folder, capture_output=True, text=True, timeout=600, check=False
        )


def up(hosts: Lab) -> Foreign:
    places = {"controller": hosts.controller} | {name: hosts.addresses[name] for name in LABELS}
    authority, pairs = cluster.make([*places.values()])
    (hosts.folder / "token").write_text("ab" * 32)
    (hosts.folder / "authority.crt").write_text(authority)
    session = Path(tempfile.mkdtemp(prefix="rowpath-"))  # short: the names of sockets are limited
    (hosts.folder / "session").write_text(str(session))
    for name, own in places.items():
        folder = hosts.folder / name
        folder.mkdir()
        (folder / "host.crt").write_text(pairs[own].certificate)
        (folder / "host.key").write_text(pairs[own].key)
        ray_start(hosts, name)
    return Foreign(hosts, _address(hosts), _secrets(hosts, "controller"))


def _address(hosts: Lab) -> str:
    return f"{hosts.controller}:6379"


def _secrets(hosts: Lab, name: str) -> dict[str, str]:
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(hosts.folder / "token"),
        "RAY_USE_TLS": "1",
        "RAY_TLS_CA_CERT": str(hosts.folder / "authority.crt"),
        "RAY_TLS_SERVER_CERT": str(hosts.folder / name / "host.crt"),
        "RAY_TLS_SERVER_KEY": str(hosts.folder / name / "host.key"),
    }


def ray_start(hosts: Lab, name: str, labels: str = "") -> None:
    """What the others do on a node."""
    session = Path((hosts.folder / "session").read_text())
    inside, own = hosts.commands.get(name, hosts.inside), hosts.addresses.get(name, hosts.controller)
    words = [*inside, sys.executable, "-P", "-m", "ray.scripts.scripts", "start", f"--node-ip-address={own}"]
    words += ["--disable-usage-stats", "--object-store-memory=80000000", "--num-cpus=1", f"--temp-dir={session / name}"]
    if name == "controller":
        words += ["--head", "--port=6379", "--include-dashboard=false"]
    else:
        words += [f"--address={_address(hosts)}", "--labels", labels or LABELS[name]]
    theirs = {
        "RAY_worker_niceness": "0",
        "PYTHONPATH": f"{ROOT / 'src'}:{setup.folder()}",
        MARK: "1",
        "TMPDIR": str(session),
    }
    everything = os.environ | _secrets(hosts, name) | theirs
    done = subprocess.run(words, env=everything, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def theirs() -> dict[int, str]:
    """Living processes of the cluster by pid."""
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if f"{MARK}=1".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = processes.name(int(folder.name))
            except OSError:
                continue
    return found


def down(hosts: Lab) -> None:
    # A program that changes its title writes over its environment.
    every = {pid for each in theirs() for pid in (each, *processes.descendants(each))}
    for pid in every:
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree((hosts.folder / "session").read_text(), ignore_errors=True)
