"""A self-signed certificate for a server on this machine's loopback, made by the openssl program."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.machine import private_directories, processes

INSTALL = "apt-get install openssl"
DAYS = 30  # our own server lives as long as its run


@dataclass(frozen=True)
class Key:
    """A kind of key: its name, and what openssl is to make."""

    name: str
    made_by: tuple[str, ...]


ECDSA = Key("ECDSA P-256", ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"))
RSA = Key("RSA 2048", ("-newkey", "rsa:2048"))  # for servers that are too old to exchange keys over a curve


def what(key: Key = ECDSA) -> str:
    """The certificate in words."""
    return f"self-signed, {key.name}, for localhost and 127.0.0.1"


def problem() -> str:
    """Why none can be made here; empty when one can."""
    return "" if shutil.which("openssl") else "openssl, which makes the server's certificate, is missing"


def make(folder: Path, user: str | None, kind: Key = ECDSA, address: str = "127.0.0.1") -> tuple[Path, Path]:
    """A new certificate for that address and its key in that folder, both 0600 and the user's own.

    Errors: EnvironmentMissing.
    """
    if missing := problem():
        raise EnvironmentMissing(missing, INSTALL)
    certificate, key = folder / "server.crt", folder / "server.key"
    for file in (certificate, key):
        private_directories.write_private(file, "")  # 0600 before openssl writes into it
    arguments = [*kind.made_by, "-noenc", "-days", str(DAYS)]
    names = ["-subj", "/CN=localhost", "-addext", f"subjectAltName=DNS:localhost,IP:{address}"]
    done = processes.run(["openssl", "req", "-x509", *arguments, *names, "-keyout", key, "-out", certificate])
    if done.returncode != 0:
        raise EnvironmentMissing(f"openssl made no certificate: {done.stderr.strip()[-300:]}", "openssl version")
    for file in (certificate, key):
        file.chmod(0o600)
        private_directories.give(file, user)
    return certificate, key
