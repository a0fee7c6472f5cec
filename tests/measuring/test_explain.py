"""Known answers of `rowpath explain`: what was put into a side, or into the wait between them, is found there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.checks.selftest.bench import NOTHING, Bench
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.engines.taped import VERSION, TapeInstance
from rowpath.execution.emulated_link import Links
from rowpath.explain.explain import explain
from rowpath.explain.stamping import Stamping, server_file, stamping_environment
from rowpath.machine import cpus, processes
from rowpath.model.explanation import Explanation, Hops
from rowpath.planning.plan import key_of
from rowpath.tape.format import read
from tests.engines.insides import place_of

SLACK = 0.1
BURN_NS, STALL_NS, LINK_NS, LATE_NS = 50_000, 200_000, 500_000, 200_000
TAPE = Path(__file__).parents[1] / "tapes" / "postgresql.tape"
WHERE = ("client", "to server", "server", "to client")


@pytest.fixture(name="bench")
def bench_fixture(tmp_path: Path) -> Iterator[Bench]:
    tmp_path.chmod(0o711)
    bench = Bench(tmp_path)
    if "c" not in bench.languages():
        pytest.skip("no C compiler")
    yield bench
    bench.close()
    processes.stop_all()


def ping(bench: Bench, instance: Instance, link: str = "none", pairs: int = 2) -> Explanation:
    planned = bench.path("c", "ping", NOTHING, transport="tcp", link=link)
    bench.build(planned)
    links = Links()
    try:
        way = links.way_to(key_of(planned.path), instance, planned.path)
        work = bench.work(NOTHING, "null")
        return explain(planned, instance, work, bench.directory, 60.0, print, way=way, pairs=pairs)
    finally:
        links.stop_all()


def stamped(bench: Bench, name: str, link: str = "none", late_ns: int = 0, placement: str = "same", **how: int) -> Hops:
    where = {"transport": "tcp", "link": link, "placement": placement}
    planned = bench.path("c", "ping", NOTHING, late_ns=str(late_ns), **where)
    bench.build(planned)
    instance = bench.instance("null", "server", name, **how)
    place = bench.directory / name
    stamping = Stamping.begun(place, server_file(place, "server"))
    assert stamping.server is not None
    place_of(instance).environment.update(stamping_environment(stamping.server))
    instance.start()
    links = Links()
    try:
        way = links.way_to(key_of(planned.path), instance, planned.path)
        work = bench.work(NOTHING, "null")
        whole = explain(planned, instance, work, place, 60.0, print, way=way, pairs=1, stamping=stamping)
    finally:
        links.stop_all()
    found = whole.hops
    assert found is not None, whole.no_hops
    assert found.operations >= 0.95 * sum(one.measured.reply.operations for one in stamping.stamped.blocks)
    (trip,) = found.round_trips
    assert sum(hop.mean_ns or 0 for hop in trip.hops) == pytest.approx(found.mean_ns)
    assert stamping.stamped.operation_ns() == pytest.approx(found.mean_ns, rel=SLACK)
    return found


def medians(found: Hops) -> dict[str, float]:
    (trip,) = found.round_trips
    assert (trip.sent_bytes, trip.received_bytes, trip.messages) == (1, 1, 1)
    return {where: sum(hop.median_ns for hop in trip.hops if hop.where == where) for where in WHERE}


def of(found: Explanation, side: str) -> float:
    return sum(part.ns for part in found.parts if part.side == side and part.name != "other programs")


def test_a_client_that_burns(bench: Bench) -> None:
    planned = bench.path("c", "null", NOTHING, burn_ns=str(BURN_NS))
    bench.build(planned)
    instance = bench.instance("null", "none")
    found = explain(planned, instance, bench.work(NOTHING, "null"), bench.directory, 60.0, print, pairs=2)
    assert of(found, "client") == pytest.approx(BURN_NS, rel=SLACK), found
    assert of(found, "server") == 0
    assert found.adds_up, found


def test_a_server_that_burns_one_that_sleeps_and_a_link(bench: Bench) -> None:
    plain = ping(bench, bench.instance("null", "server", "plain"))
    burning = ping(bench, bench.instance("null", "server", "burning", burn_ns=BURN_NS))
    assert of(burning, "server") - of(plain, "server") == pytest.approx(BURN_NS, rel=SLACK), burning
    assert of(burning, "client") < BURN_NS / 2
    sleeping = ping(bench, bench.instance("null", "server", "sleeping", stall_ns=STALL_NS, stall_every=1), pairs=1)
    assert of(sleeping, "core") >= STALL_NS, sleeping  # how much longer it sleeps is the kernel's choice
    linked = ping(bench, bench.instance("null", "server", "linked"), f"{LINK_NS / 1e6:g}ms", pairs=1)
    assert of(linked, "core") >= LINK_NS, linked  # an emulated link is never faster than it says
    for found in (burning, sleeping, linked):
        assert found.adds_up, found


@pytest.mark.parametrize("placement", ["same", "free"])
def test_the_hop_of_a_server_that_sleeps(bench: Bench, placement: str) -> None:
    found = medians(stamped(bench, "sleeping", placement=placement, stall_ns=STALL_NS, stall_every=1))
    assert found["server"] >= STALL_NS, found
    assert max(found["client"], found["to server"], found["to client"]) < STALL_NS / 2, found


def test_the_hops_over_a_link(bench: Bench) -> None:
    hops = stamped(bench, "linked", f"{LINK_NS / 1e6:g}ms")
    found = medians(hops)
    assert not hops.one_core  # what the sender does meanwhile does not delay the message
    assert found["to server"] >= LINK_NS / 2 and found["to client"] >= LINK_NS / 2, found
    assert max(found["client"], found["server"]) < LINK_NS / 2, found


def test_the_hop_of_a_client_that_reads_late(bench: Bench) -> None:
    found = medians(stamped(bench, "late", late_ns=LATE_NS))
    plain = medians(stamped(bench, "plain"))
    assert found["client"] - plain["client"] >= LATE_NS / 2, found  # the server works while it sleeps
    assert max(found["to server"], found["server"], found["to client"]) < LATE_NS / 2, found


@pytest.mark.parametrize("placement", ["same", "free"])
def test_a_replay_server_that_answers_late(bench: Bench, placement: str) -> None:
    where = {"engine": "postgresql", "engine_version": VERSION, "transport": "tcp", "placement": placement}
    planned = bench.path("python", "psycopg", "keyed.read", statement="prepared", link="none", **where)
    bench.build(planned)
    stamping = Stamping.begun(bench.directory, server_file(bench.directory, "server"))
    assert stamping.server is not None
    environment = stamping_environment(stamping.server)
    pinned = cpus.server_cpus() if placement == "same" else ()
    place = Place(bench.directory, bench.directory, pinned, environment=environment)
    instance = TapeInstance(ENGINES["postgresql"], read(TAPE), "none", place)
    instance.late_ns = LATE_NS
    instance.start()
    try:
        work = bench.work("keyed.read", "postgresql")
        whole = explain(planned, instance, work, bench.directory, 60.0, print, pairs=2, stamping=stamping)
    finally:
        instance.stop()
    found = whole.hops
    assert found is not None, whole.no_hops
    assert stamping.stamped.operation_ns() == pytest.approx(found.mean_ns, rel=SLACK)
    assert sum(hop.median_ns for trip in found.round_trips for hop in trip.hops if hop.where == "server") >= LATE_NS
    if placement == "same":  # elsewhere the core on which the client waits is not known
        assert LATE_NS <= of(whole, "core") <= whole.operation_ns, whole  # it sleeps longer, as the kernel likes
        assert of(whole, "server") < LATE_NS / 2, whole
        assert whole.adds_up, whole
