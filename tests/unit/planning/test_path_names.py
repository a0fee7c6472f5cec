"""How a coordinate's value reads in the name of a path."""

from __future__ import annotations

import pytest

from rowpath.planning.make_plan import spelt


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("statement", "prepared", "prepared"),
        ("block_size", "512", "block_size 512"),
        ("clients", "1", "1 client"),
        ("link", "1ms", "link 1ms"),
        ("link", "none", "no link"),
        ("pipeline", "off", "no pipeline"),
        ("durability", "none", "not durable"),
        ("durability", "full", "full"),
        ("backup", "api", "backup api"),
        ("backup", "basebackup", "basebackup"),
        ("backup", "none", "no backup"),
        ("tls", "on", "TLS on"),
    ],
)
def test_a_value_says_what_it_is_of(key: str, value: str, said: str) -> None:
    assert spelt(key, value) == said
