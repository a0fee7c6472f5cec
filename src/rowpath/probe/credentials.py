"""Who logs in and where: what a URL leaves open, by the rules of the engine's own client programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rowpath.engines import ENGINES
from rowpath.engines.login import Login

PASSWORD_VARIABLE = "ROWPATH_PROBE_PASSWORD"


def complete(engine: str, given: Login, environment: Mapping[str, str]) -> Login:
    """The login with everything that the URL left open."""
    if given.password is None and environment.get(PASSWORD_VARIABLE):
        given = replace(given, password=environment[PASSWORD_VARIABLE])
    facts = ENGINES[engine].probe
    if facts.complete_login is not None:
        return facts.complete_login(given, environment)
    return replace(given, host=given.host or "localhost", port=given.port or facts.port)
