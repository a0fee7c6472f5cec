"""The cluster of a `hosts.toml`: brought up, looked at and taken down, with a token and certificates of its own."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rowpath import text
from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.hosts import node, reach, setup
from rowpath.hosts.node import NodeAnswer, NodeRequest
from rowpath.machine import certificates, private_directories, processes
from rowpath.machine.directories import cache_dir
from rowpath.model.hosts import Host, HostsFile, cpu_list

DAYS = 30
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")
ON_LOOPBACK = "127.0.0.254"  # the controller, where the hosts are addresses of the loopback
LOOK_S = 0.1
CONTROLLER = "controller"  # as a host: the machine of the head


@dataclass(frozen=True)
class CertifiedKey:
    """A certificate and its private key, as text."""

    certificate: str
    key: str


def make(addresses: list[str]) -> tuple[str, dict[str, CertifiedKey]]:
    """The authority's certificate, and a pair by address; the authority's key is forgotten. EnvironmentMissing."""
    if missing := certificates.problem():
        raise EnvironmentMissing(missing, certificates.INSTALL)
    with tempfile.TemporaryDirectory(prefix="rowpath-") as name:  # 0700
        folder = Path(name)
        authority, authority_key = folder / "authority.crt", folder / "authority.key"
        ours = ("-subj", "/CN=rowpath hosts", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        _request(*ours, "-keyout", authority_key, "-out", authority)
        pairs = {}
        for address in addresses:
            certificate, key = folder / "host.crt", folder / "host.key"
            names = ("-subj", f"/CN={address}", "-addext", f"subjectAltName=IP:{address}")
            signed = ("-addext", "basicConstraints=critical,CA:FALSE", "-CA", authority, "-CAkey", authority_key)
            _request(*names, *signed, "-keyout", key, "-out", certificate)
            pairs[address] = CertifiedKey(certificate.read_text(), key.read_text())
        return authority.read_text(), pairs


def _request(*arguments: str | Path) -> None:
    done = processes.run(["openssl", "req", "-x509", "-days", str(DAYS), *CURVE, *arguments])
    if done.returncode != 0:
        raise EnvironmentMissing(f"openssl made no certificate: {done.stderr.strip()[-300:]}", "openssl version")


class ClusterState(msgspec.Struct):
    """What is known of a cluster that is up; secrets are in files of their own."""

    cluster: str
    file: str
    controller: str
    port: int
    head_pids: list[int]
    hosts: HostsFile
    head: str = ""  # its address, of a cluster that others brought up

    @property
    def foreign(self) -> bool:
        """Whether others brought it up, and end it."""
        return bool(self.head)


def name_of(file: Path) -> str:
    """What the cluster of a file is called."""
    return f"cluster-{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:12]}"


def read(file: Path) -> ClusterState:
    """The cluster of that file. Errors: UsageError when it is not up."""
    kept = _state_file(name_of(file))
    try:
        return msgspec.json.decode(kept.read_bytes(), type=ClusterState)
    except (FileNotFoundError, msgspec.DecodeError):
        raise UsageError(f"the hosts of {file} are not up", f"rowpath hosts up {file}") from None


def up(file: Path, hosts: HostsFile, note: Callable[[str], None]) -> ClusterState:
    """Start what joins the hosts, on each of them. UsageError when it is up; RowpathError, and nothing stays."""
    setup.require()
    if hosts.cluster.address:
        what = f"Rowpath does not start the cluster of {file}: its address says that it exists"
        raise UsageError(what, f"rowpath hosts check {file}")
    cluster = name_of(file)
    with _locked(cluster):
        if _state_file(cluster).is_file():
            raise UsageError(f"the hosts of {file} are already up", f"rowpath hosts status {file}")
        controller = hosts.cluster.controller or address_towards(hosts.host[0].address)
        if controller == "127.0.0.1":  # Ray takes it for the machine's outer address, which no certificate names
            controller = ON_LOOPBACK
        if controller in {host.address for host in hosts.host}:
            what = f"the controller's address {controller} is also a host's"
            raise UsageError(what, f'write another one in {file}: [cluster] controller = "10.0.0.1"')
        if private_directories.port_taken(hosts.cluster.port, controller):
            what = f"port {hosts.cluster.port} of {controller} is in use"
            raise UsageError(what, f"write another one in {file}: [cluster] port = 6380")
        note(f"reaching {text.listed([host.name for host in hosts.host])}")
        looks = _asked("look", hosts, cluster)
        _raise_all([answer for answer in looks.values() if isinstance(answer, RowpathError)])
        _check_same({name: answer for name, answer in looks.items() if isinstance(answer, NodeAnswer)})
        try:
            return _started(file, hosts, cluster, controller, note)
        except BaseException:
            with suppress(RowpathError):  # what went wrong first is to be read
                _stop_all(hosts, cluster, lambda _text: None)
            raise


def _started(file: Path, hosts: HostsFile, cluster: str, controller: str, note: Callable[[str], None]) -> ClusterState:
    authority, pairs = make([controller, *(host.address for host in hosts.host)])
    token = secrets.token_hex(32)

    def request(name: str, address: str) -> NodeRequest:
        made = NodeRequest("start", cluster, name, address, token=token, authority=authority)
        made.certificate, made.key = pairs[address].certificate, pairs[address].key
        return made

    head = request(CONTROLLER, controller)
    head.port = hosts.cluster.port
    note(f"starting the head on {controller}")
    answers = {CONTROLLER: reach.carry_out(None, head)}

    def start(host: Host) -> None:
        joining = request(host.name, host.address)
        joining.head, joining.helpers = f"{controller}:{head.port}", cpu_list(host.helpers)
        note(f"starting host {host.name} on {host.address}")
        answers[host.name] = reach.carry_out(host, joining)

    processes.side_by_side((functools.partial(start, host) for host in hosts.host), reach.AT_ONCE)
    head_pids = [process.pid for process in answers[CONTROLLER].processes if process.name.startswith("gcs_server")]
    state = ClusterState(cluster, str(file.resolve()), controller, head.port, head_pids, hosts)
    private_directories.write_private(_state_file(cluster), msgspec.json.encode(state).decode())
    return state


def begin_again(state: ClusterState, name: str) -> reach.Errand:
    """Start what joins a host again, ending what is left of it, while something else goes on. EnvironmentMissing."""
    host = state.hosts.named(name)
    request = NodeRequest("again", state.cluster, host.name, host.address)
    request.head, request.helpers = f"{state.controller}:{state.port}", cpu_list(host.helpers)
    return reach.Errand(host, request)


def start_again(state: ClusterState, name: str) -> None:
    """As `begin_again`, and wait until it has joined the cluster. Errors: RowpathError."""
    errand = begin_again(state, name)
    while not errand.over():
        time.sleep(LOOK_S)
    errand.answer()


def _asked(action: str, hosts: HostsFile, cluster: str) -> dict[str, NodeAnswer | RowpathError]:
    """What each host answers, the controller's machine first."""
    answers: dict[str, NodeAnswer | RowpathError] = {}

    def ask(name: str, host: Host | None) -> None:
        try:
            answers[name] = reach.carry_out(host, NodeRequest(action, cluster, name))
        except RowpathError as error:
            answers[name] = error

    every = [(CONTROLLER, None), *((host.name, host) for host in hosts.host)]
    processes.side_by_side((functools.partial(ask, *pair) for pair in every), reach.AT_ONCE)
    return {name: answers[name] for name, _host in every}


def _raise_all(mistakes: list[RowpathError]) -> None:
    if mistakes:
        first = mistakes[0]
        raise type(first)("\n       ".join(mistake.message for mistake in mistakes), first.hint)


def _check_same(answers: dict[str, NodeAnswer]) -> None:
    """Errors: EnvironmentMissing when a host would run something else than the controller's machine."""
    ours = answers[CONTROLLER]
    for name, answer in answers.items():
        check_same_source(name, (answer.rowpath, answer.code), (ours.rowpath, ours.code))
        if _minor(answer.python) != _minor(ours.python):
            what = f"host '{name}' has Python {answer.python}, this machine {ours.python}"
            raise EnvironmentMissing(what, f"install Python {_minor(ours.python)} there for Rowpath")


def check_same_source(host: str, theirs: tuple[str, str], ours: tuple[str, str]) -> None:
    """Compare version and digest of a host's Rowpath with ours. Errors: EnvironmentMissing when they differ."""
    if theirs != ours:
        what = f"host '{host}' has a different Rowpath ({theirs[0]}, {theirs[1][:12]})"
        raise EnvironmentMissing(f"{what} than this machine ({ours[0]}, {ours[1][:12]})", "copy this Rowpath there")


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def status(file: Path) -> dict[str, NodeAnswer | RowpathError]:
    """What runs on each host, the controller's machine first, or why that is not known. Errors: UsageError."""
    state = read(file)
    return _asked("look", state.hosts, state.cluster)


def down(file: Path, hosts: HostsFile, note: Callable[[str], None]) -> None:
    """Stop all that joins the hosts, and all that runs through it; harmless when nothing is there. RowpathError."""
    cluster = name_of(file)
    with suppress(UsageError):  # a part of it may be there all the same
        hosts = read(file).hosts
    with _locked(cluster):
        _stop_all(hosts, cluster, note)


def _stop_all(hosts: HostsFile, cluster: str, note: Callable[[str], None]) -> None:
    answers = _asked("stop", hosts, cluster)
    for name, answer in answers.items():
        if isinstance(answer, NodeAnswer):
            note(f"{name} is stopped")
    _state_file(cluster).unlink(missing_ok=True)
    _raise_all([answer for answer in answers.values() if isinstance(answer, RowpathError)])
    shutil.rmtree(_state_file(cluster).parent, ignore_errors=True)


def environment(state: ClusterState) -> dict[str, str]:
    """What the controller needs to join: settings, and the files of token and certificates."""
    settings = node.environment(state.cluster, CONTROLLER)
    ours = {name: value for name, value in settings.items() if name.startswith("RAY_")}
    return ours | {"RAY_gcs_rpc_server_reconnect_timeout_s": "60"}  # we watch the head ourselves, and end in order


def _state_file(cluster: str) -> Path:
    return cache_dir() / "hosts" / cluster / "state.json"


@contextmanager
def _locked(cluster: str) -> Iterator[None]:
    folder = cache_dir() / "hosts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / cluster).mkdir(mode=0o700, exist_ok=True)
    with (folder / cluster / "lock").open("w") as handle:  # `down` removes it with the folder
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError("these hosts are being brought up or down", "rowpath hosts status hosts.toml") from None
        yield


def address_towards(address: str) -> str:
    """Our own address on the way to another one; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, 9))
        except OSError as error:
            raise EnvironmentMissing(f"no route to {address}: {error.strerror}", "ip route") from error
        return str(probe.getsockname()[0])
