"""A certificate authority for one cluster, and a certificate for each of its addresses; made by the openssl program."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.machine import certificates, processes

DAYS = 30
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key, as text."""

    certificate: str
    key: str


def make(addresses: list[str]) -> tuple[str, dict[str, Pair]]:
    """The authority's certificate, and a pair by address; the authority's key is forgotten. EnvironmentMissing."""
    if missing := certificates.problem():
        raise EnvironmentMissing(missing, certificates.INSTALL)
    with tempfile.TemporaryDirectory(prefix="rowpath-") as name:  # 0700
        folder = Path(name)
        authority, authority_key = folder / "authority.crt", folder / "authority.key"
        ours: list[str | Path] = ["-subj", "/CN=rowpath hosts", "-addext", "keyUsage=critical,keyCertSign,cRLSign"]
        _request([*ours, "-keyout", authority_key, "-out", authority])
        pairs = {}
        for address in addresses:
            certificate, key = folder / "host.crt", folder / "host.key"
            names: list[str | Path] = ["-subj", f"/CN={address}", "-addext", f"subjectAltName=IP:{address}"]
            signed: list[str | Path] = [
                "-addext",
                "basicConstraints=critical,CA:FALSE",
                "-CA",
                authority,
                "-CAkey",
                authority_key,
            ]
            _request([*names, *signed, "-keyout", key, "-out", certificate])
            pairs[address] = Pair(certificate.read_text(), key.read_text())
        return authority.read_text(), pairs


def _request(arguments: list[str | Path]) -> None:
    done = processes.run(["openssl", "req", "-x509", "-days", str(DAYS), *CURVE, *arguments])
    if done.returncode != 0:
        raise EnvironmentMissing(f"openssl made no certificate: {done.stderr.strip()[-300:]}", "openssl version")
