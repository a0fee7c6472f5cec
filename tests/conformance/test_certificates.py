"""Every driver that claims to check certificates does: right ones are taken over encrypted connections, others not."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.conformance.certificate_servers import (
    CERTIFIED,
    ENGINE_NAMES,
    HOST,
    NONE,
    Certificates,
    CertifiedServer,
)

from rowpath.engines import ENGINES
from rowpath.engines.base import Versioned
from rowpath.model.path import CHECKED, AccessPath
from rowpath.own_database.tls import SYSTEM
from rowpath.planning.availability import pruned
from rowpath.runners import manifest, protocol
from rowpath.runners.manifest import Adapter, Command
from rowpath.runners.process import Runner, RunnerFailure

ADDRESS = "127.0.0.1"
TIMEOUT_S = 60.0
# The certificate that the server shows; the client's authority and mode; whether it connects to HOST, and to ADDRESS.
EXPECTED = [
    ("right", "ca", "verify-full", True, False),
    ("right", "ca", "verify-ca", True, True),
    ("right", "both", "verify-full", True, False),
    ("right", "both", "verify-ca", True, True),
    ("right", "other", "verify-full", False, False),
    ("right", "other", "verify-ca", False, False),
    ("address", "ca", "verify-full", False, True),
    ("elsewhere", "ca", "verify-full", False, False),
    ("elsewhere", "ca", "verify-ca", True, True),
    ("expired", "ca", "verify-full", False, False),
    ("expired", "ca", "verify-ca", False, False),
    (NONE, "ca", "verify-full", False, False),
    (NONE, "ca", "verify-ca", False, False),
]


def claims() -> Iterator[tuple[str, Adapter, dict[str, str]]]:
    """(engine, adapter, what of its coordinates matters) of every driver that does something with certificates."""
    for engine in ENGINE_NAMES:
        for adapter in manifest.every_adapter():
            if engine not in adapter.engines or not adapter.certificates:
                continue
            ways = adapter.coordinates.get("implementation") or adapter.coordinates.get("through") or ("",)
            key = "implementation" if "implementation" in adapter.coordinates else "through"
            for version, way in itertools.product(adapter.versions, ways):
                claim = engine, adapter, {"version": version} | ({key: way} if way else {})
                if not pruned(adapter, AccessPath.of(encrypted(claim))):
                    yield claim


def encrypted(claim: tuple[str, Adapter, dict[str, str]]) -> dict[str, str]:
    """The coordinates of its encrypted path."""
    engine, adapter, way = claim
    kind = ENGINES[engine]
    assert isinstance(kind, Versioned)
    first = {key: values[0] for key, values in adapter.coordinates.items() if key != "bulk"}
    where = {"engine": engine, "deployment": "server", "language": adapter.language, "driver": adapter.driver}
    how = {"transport": "tcp", "tls": "on", "durability": "full", "engine_version": kind.tls_version()}
    return first | way | where | how


CLAIMS = list(claims())
NAMES = [" ".join([engine, one.language, one.driver, *way.values()]) for engine, one, way in CLAIMS]
SHOWN = list(dict.fromkeys(shown for shown, *_ in EXPECTED))
CHECKS = [
    pytest.param(shown, claim, id=f"{shown} {name}")
    for shown in SHOWN
    for claim, name in zip(CLAIMS, NAMES, strict=True)
    if any(case[0] == shown and case[2] in claim[1].certificates for case in EXPECTED)
]
WITH_OWN = [
    pytest.param(claim, id=name) for claim, name in zip(CLAIMS, NAMES, strict=True) if "client" in claim[1].certificates
]


@contextlib.contextmanager
def opening(
    claim: tuple[str, Adapter, dict[str, str]], changed: Callable[[Command], Command] = lambda command: command
) -> Iterator[Callable[[dict[str, Any]], str]]:
    """Opens and closes a connection of one process: the setting `tls` as read back, or the error, its kind first."""
    _engine, adapter, way = claim
    coordinates = encrypted(claim)
    path = AccessPath.of(coordinates)
    here = manifest.availability(adapter, way["version"], path)
    if not here.ok:
        pytest.skip(here.reason)
    manifest.build([(adapter, way["version"])], paths=[path])

    def opened(options: dict[str, Any]) -> str:
        for tls in (options["tls"], "client") if "tls_cert" in options else (options["tls"],):
            if reason := pruned(adapter, AccessPath.of(coordinates | {"tls": tls})):
                return f"unsupported: {reason}"
        try:
            runner.request(protocol.Open, TIMEOUT_S, options=coordinates | options, expect=protocol.OpenReply)
            facts = runner.request(protocol.Facts, TIMEOUT_S, expect=protocol.FactsReply)
            runner.request(protocol.Close, TIMEOUT_S, expect=protocol.CloseReply)
        except RunnerFailure as failure:
            return f"{failure.kind}: {failure.text}"
        return str(facts.settings["tls"])

    runner = Runner.start(changed(manifest.command(adapter, way["version"], path)), ())
    try:
        runner.hello(adapter.driver)
        yield opened
    finally:
        runner.stop()


@pytest.mark.parametrize(("shown", "claim"), CHECKS)
def test_the_servers_certificate_is_checked(
    claim: tuple[str, Adapter, dict[str, str]],
    shown: str,
    servers: Callable[[str], CertifiedServer],
    made: Certificates,
) -> None:
    modes = [mode for mode in CHECKED if mode in claim[1].certificates]
    cases = [case for case in EXPECTED if case[0] == shown and case[2] in modes]
    wrong = []
    with opening(claim) as opened:
        server = servers(claim[0])
        server.show(shown)
        for _shown, authority, mode, *connects in cases:
            if authority == "both" and SYSTEM in claim[1].certificates:
                continue  # nobody may name such a file to it
            for host, expected in zip((HOST, ADDRESS), connects, strict=True):
                said = opened(server.options(host, tls=mode, tls_ca=str(made.certificate(authority))))
                if not said.startswith(("on" if expected else "connect: ", "unsupported: ")):
                    wrong.append((host, authority, mode, said))
    assert not wrong


@pytest.mark.parametrize("claim", CLAIMS, ids=NAMES)
def test_who_trusts_the_machines_authorities_beside_the_named_is_known(
    claim: tuple[str, Adapter, dict[str, str]],
    servers: Callable[[str], CertifiedServer],
    made: Certificates,
) -> None:
    modes = [mode for mode in CHECKED if mode in claim[1].certificates]
    with opening(claim, made.trusted_by_the_machine) as opened:
        server = servers(claim[0])
        server.show("either")
        ways = [(mode, host) for mode in modes for host in (HOST, ADDRESS)]
        said = {way: opened(server.options(way[1], tls=way[0], tls_ca=str(made.certificate("other")))) for way in ways}
    possible = {way: words for way, words in said.items() if not words.startswith("unsupported: ")}
    expected = "on" if SYSTEM in claim[1].certificates else "connect: "
    assert all(words.startswith(expected) for words in possible.values()), possible


@pytest.mark.parametrize("claim", WITH_OWN)
def test_a_certificate_of_the_clients_own_is_shown(
    claim: tuple[str, Adapter, dict[str, str]],
    servers: Callable[[str], CertifiedServer],
    made: Certificates,
) -> None:
    engine, adapter, _way = claim
    own = {"tls_cert": str(made.certificate("client")), "tls_key": str(made.key("client"))}
    with opening(claim) as opened:
        server = servers(engine)
        server.show("address")
        for mode in ("on", *(mode for mode in CHECKED if mode in adapter.certificates)):
            wanted = {"tls": mode} | ({"tls_ca": str(made.certificate("ca"))} if mode in CHECKED else {})
            with_it = opened(server.options(ADDRESS, CERTIFIED, **wanted, **own))
            assert with_it.startswith(("on", "unsupported: ")), mode
            assert opened(server.options(ADDRESS, CERTIFIED, **wanted)).startswith(("connect: ", "unsupported: ")), mode
