"""TLS of the C runner's libpq: negotiated when it must be, not when it must not, and read back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import c_compiler, certificates, postgresql_programs
from rowpath.runners.process import RunnerFailure
from tests.runners.c.talk import ADAPTERS, Talk, started

WITH_TLS = postgresql_programs.VERSION_TLS
problem = certificates.problem() or postgresql_programs.availability_tls().reason
pytestmark = [
    pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler"),
    pytest.mark.skipif(bool(problem), reason=problem),
]


@pytest.fixture(scope="module")
def instance() -> Iterator[Instance]:
    """A server that offers TLS."""
    if not ENGINES["postgresql"].availability().ok:
        pytest.skip(ENGINES["postgresql"].availability().reason)
    with started("postgresql", WITH_TLS) as running:
        yield running


def test_the_manifest_names_the_libpq_with_tls() -> None:
    assert ADAPTERS["libpq"].versions == ("bundled", WITH_TLS)


@pytest.mark.parametrize(
    ("version", "transport", "tls", "negotiated"),
    [
        (WITH_TLS, "tcp", "on", "on"),
        (WITH_TLS, "tcp", "default", "on"),
        (WITH_TLS, "tcp", "off", "off"),
        (WITH_TLS, "unix", "default", "off"),
        ("bundled", "tcp", "default", "off"),
        ("bundled", "tcp", "off", "off"),
    ],
)
def test_tls(instance: Instance, version: str, transport: str, tls: str, negotiated: str) -> None:
    with Talk("libpq", instance, version=version, transport=transport, tls=tls, clients="2") as talk:
        settings = talk.facts().settings
        assert settings["tls"] == negotiated
        assert settings.get("tls_protocol", "") == ("TLSv1.3" if negotiated == "on" else "")


def test_required_and_not_to_be_had(instance: Instance) -> None:
    with pytest.raises(RunnerFailure, match="SSL"):
        Talk("libpq", instance, version="bundled", transport="tcp", tls="on")
