"""Hosts on one machine: network and time namespaces on a bridge (root), or addresses of the loopback (anyone)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rowpath.machine import private_directories
from rowpath.machine.directories import cache_dir
from tests.hosts import sshd
from tests.hosts.delaying_switch import Switch
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
OFFSETS_S = {"db": 0, "app1": 1_000_000, "app2": 5_000}  # of each host's monotonic clock
ROLES = {"db": ["server"], "app1": ["client", "load"], "app2": ["load"]}
NETWORK = "10.77.0"
# Labs of several processes are up at once: on the loopback each has addresses and a first port of its own.
LOOPBACK = f"127.{1 + os.getpid() // 250 % 250}.{os.getpid() % 250}"
PORTS = range(21_000 + os.getpid() % 10_000, 32_000)
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


@dataclass
class Lab:
    """Hosts of a file: `inside` leads to the controller's namespace, `addresses` are of the hosts by name."""

    file: Path
    folder: Path
    addresses: dict[str, str]
    controller: str
    inside: list[str] = field(default_factory=list)
    commands: dict[str, list[str]] = field(default_factory=dict)
    offsets_s: dict[str, int] = field(default_factory=dict)  # of clocks from the controller's, those that differ
    keys: sshd.Keys | None = None  # hosts are reached over SSH
    switch: Switch | None = None  # instead of a bridge

    def rowpath(self, *words: str, timeout_s: float = 600.0) -> subprocess.CompletedProcess[str]:
        """One command of ours on the controller's machine, to its end."""
        command = [*self.inside, sys.executable, "-P", "-m", "rowpath", *words]
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def begun(self, *words: str) -> subprocess.Popen[str]:
        """One command of ours, under way."""
        command = [*self.inside, sys.executable, "-P", "-m", "rowpath", *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.environment, cwd=self.folder, stdout=pipe, stderr=pipe, text=True)

    @property
    def environment(self) -> dict[str, str]:
        """Of our commands."""
        return {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    def up(self) -> None:
        """Bring the hosts up."""
        done = self.rowpath("hosts", "up", str(self.file))
        assert done.returncode == 0, done.stderr

    def down(self) -> None:
        """Take them down."""
        done = self.rowpath("hosts", "down", str(self.file))
        assert done.returncode == 0, done.stderr

    def mine(self) -> dict[int, str]:
        """Living processes of these hosts by pid: those that carry the cluster's mark, and their children."""
        from rowpath.hosts import cluster, node

        names = ("controller", *self.addresses)
        every = [pid for name in names for pid in node.pids(cluster.name_of(self.file), name)]
        return {pid: name for pid in every if (name := _title(pid))}


def _title(pid: int) -> str:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
        return "" if state == "Z" else Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _write(lab: Lab, port: int) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    helpers = cpus[WORKER % len(cpus)]  # those of all labs would share one CPU while the others have little to do
    lines = ["schema_version = 1", "[cluster]", f'controller = "{lab.controller}"', f"port = {port}"]
    for name, address in lab.addresses.items():
        roles = json.dumps(ROLES[name])
        lines += [
            "[[host]]",
            f'name = "{name}"',
            f'address = "{address}"',
            f"roles = {roles}",
            f'helpers = "{helpers}"',
        ]
        if lab.keys is not None:
            lines += [f"ssh = {json.dumps(lab.keys.words(address))}", f"cache = {json.dumps(str(cache_dir()))}"]
            lines += [f"rowpath = {json.dumps(str(lab.keys.rowpath(ROOT / 'src')))}"]
        elif lab.commands:
            lines.append(f"command = {json.dumps(lab.commands[name])}")
    lab.file.write_text("\n".join(lines) + "\n")


def free_port(address: str) -> int:
    """A free port of that address, below those that the kernel hands out: nobody gets it meanwhile."""
    return next(port for port in PORTS if not private_directories.port_taken(port, address))


@contextmanager
def on_loopback(folder: Path) -> Iterator[Lab]:
    """Three hosts and the controller on addresses of the loopback: any user can have them."""
    addresses = {name: f"{LOOPBACK}.{number}" for number, name in enumerate(ROLES, 2)}
    lab = Lab(folder / "loopback.toml", folder, addresses, f"{LOOPBACK}.5")
    _write(lab, free_port(lab.controller))
    try:
        yield lab
    finally:
        lab.down()


def missing() -> str:
    """Why there are no namespaces here; empty when there are."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "unshare", "nsenter"):
        if shutil.which(program) is None:
            return f"the program {program} is missing"
    return "" if Path("/proc/self/ns/time").exists() else "this kernel has no time namespaces"


@contextmanager
def in_namespaces(folder: Path, *, over_ssh: bool = False, delays: bool = False) -> Iterator[Lab]:
    """Three hosts and a controller, each with a network of its own; hosts have clocks of their own. Needs root.

    A bridge joins them, with `delays` the lab's switch, at first without any.
    """
    with ExitStack() as cleanup:
        controller = _holder(cleanup, 0)
        addresses = {name: f"{NETWORK}.{number}" for number, name in enumerate(OFFSETS_S, 2)}
        enter = ["nsenter", "-t", str(controller.pid), "--net", "--"]
        holders = {name: _holder(cleanup, OFFSETS_S[name]) for name in addresses}
        lab = Lab(folder / "namespaces.toml", folder, addresses, f"{NETWORK}.1", enter, offsets_s=OFFSETS_S)
        if delays:
            ports = {name: ("eth0", holder.pid) for name, holder in holders.items()}
            lab.switch = Switch(cleanup, folder, ports | {"controller": ("switch", controller.pid)})
        else:
            _run(*enter, "ip", "link", "add", "switch", "type", "bridge")
            for name, holder in holders.items():
                _run(
                    *enter, "ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid)
                )
                _run(*enter, "ip", "link", "set", name, "master", "switch", "up")
        _bring_up(enter, "switch", lab.controller)
        for name, holder in holders.items():
            lab.commands[name] = ["nsenter", "-t", str(holder.pid), "--net", "--time", "--"]
            _bring_up(lab.commands[name], "eth0", addresses[name])
        if over_ssh:
            lab.keys = sshd.Keys.made(folder)
            for name, address in addresses.items():
                sshd.start(cleanup, lab.keys, lab.commands[name], address)
        _write(lab, 6379)
        try:
            yield lab
        finally:
            lab.down()


def _bring_up(there: list[str], device: str, address: str) -> None:
    _run(*there, "ip", "address", "add", f"{address}/24", "dev", device)
    _run(*there, "ip", "link", "set", device, "txqueuelen", "10000", "up")
    _run(*there, "ip", "link", "set", "lo", "up")


def _holder(cleanup: ExitStack, offset_s: int) -> subprocess.Popen[bytes]:
    """A process that keeps a network and a time namespace open."""
    words = ["unshare", "--net", "--time", "--monotonic", str(offset_s), "--", "sleep", "3600"]
    process = subprocess.Popen(words)
    cleanup.callback(process.wait)
    cleanup.callback(process.kill)
    deadline = time.monotonic() + PATIENCE_S
    while _title(process.pid) != "sleep":
        assert time.monotonic() < deadline, "no namespaces"
        time.sleep(0.01)
    return process


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
