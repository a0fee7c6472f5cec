"""The drivers' own settings of a connection: they reach the driver, and unknown names are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.runners.manifest import toolchain
from tests.runners.protocol.talk import Start, talks
from tests.runners.protocol.test_groups import skip_without

rust: Any = toolchain("rust")
pytestmark = pytest.mark.skipif(rust.tools_problem() is not None, reason="no Rust")
KNOWN = {
    "tokio-postgres": "keepalives_idle",
    "postgres": "keepalives_idle",
    "mysql": "tcp_user_timeout_ms",
    "mysql_async": "tcp_keepalive",
}
WITHOUT = ("sqlx-postgres", "sqlx-mysql")


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("rust")


def opened(start: Start, driver: str, settings: str) -> tuple[str, str]:
    """Why nothing on port 1 could be opened: the error's kind and text."""
    skip_without("rust", driver)
    talk = start(driver)
    talk.hello()
    reply = talk.ask("open", options={"port": "1", "driver_settings": settings})
    return reply["error"]["kind"], reply["error"]["text"]


@pytest.mark.parametrize("driver", [*KNOWN, *WITHOUT])
def test_an_unknown_name_is_refused(start: Start, driver: str) -> None:
    kind, text = opened(start, driver, "such_a_name=1")
    assert kind == "unsupported"
    assert "such_a_name" in text


@pytest.mark.parametrize("driver", KNOWN)
def test_a_known_name_reaches_the_driver(start: Start, driver: str) -> None:
    assert opened(start, driver, f"{KNOWN[driver]}=2")[0] == "connect"
    kind, text = opened(start, driver, f"{KNOWN[driver]}=soon")
    assert kind == "unsupported"
    assert KNOWN[driver] in text
