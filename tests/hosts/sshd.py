"""An SSH server for each host of a lab, with keys and files of its own: nothing of the user's is read or written."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import PATIENCE_S

PROGRAMS = ("sshd", "ssh", "ssh-keygen")
RUNTIME = Path("/run/sshd")  # compiled into Debian's sshd; a service would make it
SERVER = """Port 22
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/client_key.pub
PermitRootLogin yes
PasswordAuthentication yes
UsePAM no
StrictModes no
PidFile none
"""
CLIENT = """IdentityFile {folder}/client_key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
GlobalKnownHostsFile /dev/null
LogLevel INFO
"""
# In a folder whose name has a space; it keeps what it was started with, which must hold no secret.
ROWPATH = """#!/bin/sh
{{ echo "arguments: $*"; env; }} >>'{folder}/started'
exec env PYTHONPATH='{source}' '{python}' -P -m rowpath "$@"
"""


def missing() -> str:
    """Why no SSH server can be started; empty when one can."""
    lacking = [each for each in PROGRAMS if _program(each) is None]
    return f"no {', '.join(lacking)} (Debian: openssh-server, openssh-client)" if lacking else ""


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


@dataclass
class Keys:
    """Of one lab: the host's key, the client's, and which hosts' keys the client knows."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Keys:
        """New ones."""
        for name in ("host_key", "client_key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / name)]
            subprocess.run(words, check=True, capture_output=True)
        (folder / "client_config").write_text(CLIENT.format(folder=folder))
        return cls(folder)

    def know(self, address: str) -> None:
        """Let the client know the host of that address."""
        key = (self.folder / "host_key.pub").read_text()
        with (self.folder / "known_hosts").open("a") as known:
            known.write(f"{address} {key}")

    def rowpath(self, source: Path, name: str = "rowpath") -> Path:
        """The program that a host is to run: ours, with the source of that folder."""
        script = self.folder / "a place" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(ROWPATH.format(folder=self.folder, source=source, python=sys.executable))
        script.chmod(0o755)
        return script

    def words(self, address: str) -> str:
        """What a file of hosts has as `ssh`."""
        return f"-F '{self.folder}/client_config' root@{address}"


def start(cleanup: ExitStack, keys: Keys, there: list[str], address: str) -> None:
    """An SSH server on that address, in the namespaces that `there` leads to."""
    RUNTIME.mkdir(mode=0o755, exist_ok=True)
    config = keys.folder / f"sshd-{address}"
    config.write_text(SERVER.format(address=address, folder=keys.folder))
    log = cleanup.enter_context((keys.folder / f"sshd-{address}.log").open("wb"))
    process = subprocess.Popen([*there, str(_program("sshd")), "-D", "-e", "-f", str(config)], stderr=log)
    cleanup.callback(process.wait)
    cleanup.callback(process.kill)
    deadline = time.monotonic() + PATIENCE_S
    while b"Server listening" not in Path(log.name).read_bytes():
        assert process.poll() is None, Path(log.name).read_text()
        assert time.monotonic() < deadline, "no SSH server"
        time.sleep(0.01)
    keys.know(address)
