"""What the user reads where a server or a driver refuses."""

from __future__ import annotations

import pytest

from rowpath.own_database.refusals import error_of
from rowpath.own_database.target import Target
from rowpath.own_database.tls import Tls
from rowpath.runners.process import RunnerFailure

REFUSED_CHECK = "SSL error: certificate verify failed"


@pytest.mark.parametrize(
    ("mode", "words", "hint"),
    [
        ("verify-full", REFUSED_CHECK, "authority"),
        ("verify-ca", 'server certificate for "x" does not match host name "y"', "authority"),
        ("verify-full", "password authentication failed", "password"),
        ("on", REFUSED_CHECK, "password"),
    ],
)
def test_where_a_check_refuses_the_hint_is_about_certificates(mode: str, words: str, hint: str) -> None:
    target = Target("postgresql", "server", encryption=Tls(mode, "ca.crt"), shown="postgresql://u@h/d")
    error = error_of(RunnerFailure("connect", words), target)
    assert words in error.message
    assert hint in error.hint
