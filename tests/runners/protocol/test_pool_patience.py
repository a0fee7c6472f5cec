"""Every pool above PostgreSQL refuses a client that has got no connection within 30 s; all of them at once."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from rowpath.runners.manifest import load_manifest
from tests.runners.insides import slot_of
from tests.runners.protocol.group_talk import Group, GroupTalk, Subject, Working, subject
from tests.runners.protocol.pool_cases import lent
from tests.waiting import until

PATIENCE_S, LENT_S = 30, 40
FAILED_NS_WORD = 8
LANGUAGES = ("go", "java", "node", "python", "rust")
SLEEPS = f"SELECT id, n FROM ledger, pg_sleep({LENT_S}) WHERE id = ?"


def subjects(server: Subject) -> list[tuple[Subject, str]]:
    """A driver of each pool, on that server."""
    found = {
        (pool.name, language): adapter
        for language in LANGUAGES
        for adapter in load_manifest(language).adapter
        for pool in adapter.pools
        if "postgresql" in pool.over[adapter.driver]
    }
    made = []
    for (pool, language), adapter in found.items():
        first = {key: values[0] for key, values in adapter.coordinates.items()} | {"transport": "tcp"}
        fixed = {"engine": "postgresql", "deployment": "server", "language": language, "driver": adapter.driver}
        path = AccessPath.of(fixed | {"version": adapter.versions[0], "durability": "none", "pool": pool} | first)
        manifest.build([(adapter, path.version)], paths=[path])
        made.append((Subject(adapter, server.instance, path, server.folder / f"{language}-{pool}"), pool))
    return made


def begun(talk: GroupTalk, stack: contextlib.ExitStack) -> Working:
    """One client has the only connection for a while; another one comes a second later."""
    talk.subject.folder.mkdir()
    talk.prepare_read([1])
    talk.prepare_query(SLEEPS, [2])
    groups = (Group("large", "sleeps", operations=1), Group("read", "waits", operations=1))
    working = stack.enter_context(talk.groups(*groups))
    now = time.monotonic_ns()
    working.begun_ns = now
    working.shared_counters.begin("sleeps", now)
    working.shared_counters.begin("waits", now + 1_000_000_000)
    return working


def test_no_client_waits_for_ever(tmp_path: Path) -> None:
    with subject("c", "libpq", tmp_path, transport="tcp") as server, contextlib.ExitStack() as stack:
        with server.talk() as talk:
            talk.make_ledger(2)
        every = {
            f"{one.path.language} {pool}": begun(stack.enter_context(lent(one, pool, clients=2, size=1)), stack)
            for one, pool in subjects(server)
        }
        assert len(every) >= 13
        kinds = {}
        for name, working in every.items():
            states = working.shared_counters.states
            until(lambda: min(states("sleeps") + states("waits")) >= 3, f"end of {name}", 2 * LENT_S)  # noqa: B023
            totals = working.end()
            assert (totals["sleeps"].failed, totals["waits"].failed) == (0, 1), name
            (failure,) = totals["waits"].failures
            kinds[name] = failure.kind
            slot = slot_of(working.shared_counters, "waits", 0)
            assert slot[FAILED_NS_WORD] / 1e9 > PATIENCE_S - 0.1, name
        assert set(kinds.values()) == {"connect"}, kinds
