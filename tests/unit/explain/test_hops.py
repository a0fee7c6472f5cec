"""From stamped calls to hops: made-up calls of both sides whose steps are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree import ElementTree

import msgspec
import pytest

from rowpath.explain.hops import SHOWN_TRIPS, Unknown, hops
from rowpath.machine.counters.call_stamps import Call, Kind
from rowpath.model.explanation import Hops
from rowpath.report.hops import draw, grid, lines, sentence, speed_sentences
from tests.unit.report.test_explanation import WHOLE

CLIENT, SERVER, FILE = 10, 20, 4
STEPS = {
    "prepares": 1, "sends": 5, "on the way to the server": 3, "works": 20, "server sends": 7,
    "on the way to the client": 4, "takes rows": 2,
}  # fmt: skip


@dataclass
class World:
    """A client and a server on one core, and what their calls were stamped with."""

    now_ns: int = 1_000_000
    client: list[Call] = field(default_factory=list)
    server: list[Call] = field(default_factory=list)
    connections: int = 1
    unix: bool = False
    at: int = 0  # the connection that is used; each has a server process of its own
    heard_ns: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for at in range(self.connections):
            mine, its = (0, CLIENT) if self.unix else (5000 + at, 5432)
            self.client.append(Call(mine, its, CLIENT, CLIENT, FILE + at, Kind.CONNECTION, 0))
            mine, its = (0, CLIENT) if self.unix else (5432, 5000 + at)
            self.server.append(Call(mine, its, SERVER + at, SERVER + at, FILE, Kind.CONNECTION, 0))
            self.heard_ns[at] = self.now_ns

    def passed(self, ns: int) -> int:
        self.now_ns += ns
        return self.now_ns

    def call(self, side: int, kind: Kind, enter_ns: int, result: int) -> None:
        calls = self.client if side == CLIENT else self.server
        file = 0
        if kind in (Kind.SENT, Kind.RECEIVED):
            file = FILE + self.at if side == CLIENT else FILE
        side += self.at if side == SERVER else 0
        calls.append(Call(enter_ns, self.now_ns, side, side, file, kind, result))

    def read_clock(self, times: int = 1) -> None:
        for _time in range(times):
            self.call(CLIENT, Kind.CLOCK, self.now_ns, 0)

    def trip(self, late_ns: int = 0, messages: int = 1, same_core: bool | None = None) -> None:
        """A request and its answer, as STEPS says; `late_ns`: the client works before it reads.

        `same_core`: what the kernel says of the answer.
        """
        begin = self.now_ns
        self.passed(STEPS["sends"])
        self.call(CLIENT, Kind.SENT, begin, 50)
        waits = self.now_ns
        self.passed(STEPS["on the way to the server"])
        self.call(SERVER, Kind.WAITED, self.heard_ns[self.at], 1)
        self.call(SERVER, Kind.RECEIVED, self.now_ns, 50)
        self.passed(STEPS["works"])
        for number in range(messages):
            begin = self.now_ns
            self.passed(STEPS["server sends"])
            self.call(SERVER, Kind.SENT, begin, 100)
            if not number:
                self.heard_ns[self.at] = self.now_ns
            if late_ns:
                waits = self.passed(late_ns)
            else:
                self.passed(STEPS["on the way to the client"])
            self.call(CLIENT, Kind.RECEIVED, waits, 100)
            if same_core is not None:
                stamp = Call(self.now_ns, self.now_ns, CLIENT, CLIENT, FILE + self.at, Kind.CORES, same_core)
                self.client.append(stamp)
            waits = self.now_ns

    def operations(
        self, count: int, trips: int = 1, clocks: int = 1, late_ns: int = 0, messages: int = 1, *, begun: bool = False
    ) -> None:
        self.read_clock(0 if begun else clocks)
        for operation in range(count):
            self.at = operation % self.connections
            for _trip in range(trips):
                self.passed(STEPS["prepares"])
                self.trip(late_ns, messages)
            self.passed(STEPS["takes rows"])
            self.read_clock(clocks)

    def hops(self, count: int, *, seen: bool = True, pipeline: int = 1) -> Hops:
        self.client.sort()
        self.server.sort()
        server = self.server if seen else None
        return hops(self.client, server, [count], one_core=seen, stamping_share=0.01, pipeline=pipeline)


def steps(found: Hops, trip: int = 0) -> dict[str, float]:
    return {f"{hop.where} {hop.name}": hop.median_ns for hop in found.round_trips[trip].hops}


def test_the_steps_of_an_operation() -> None:
    world = World()
    world.operations(100)
    found = world.hops(100)
    assert steps(found) == {
        "client prepares": 1, "client sends": 5, "to server on the way to the server": 3, "server works": 20,
        "server sends": 7, "to client on the way to the client": 4, "client takes rows": 2,
    }  # fmt: skip
    assert (found.operations, found.median_ns, found.worst_ns, found.folded) == (100, 42, 42, 0)
    (trip,) = found.round_trips
    assert (trip.sent_bytes, trip.received_bytes, trip.messages, trip.median_ns) == (50, 100, 1, 42)


def test_the_worst_is_the_step_s_own_and_the_slowest_operation_s() -> None:
    world = World()
    world.operations(50)
    world.passed(STEPS["prepares"])
    world.trip()
    world.passed(1_002)
    world.read_clock()
    world.operations(49, begun=True)
    found = world.hops(100)
    (slow,) = (hop for hop in found.round_trips[0].hops if hop.worst_ns > 1_000)
    assert (slow.name, slow.worst_ns, slow.slowest_ns, slow.median_ns) == ("takes rows", 1_002, 1_002, 2)


def test_a_clock_that_others_read_too() -> None:
    world = World()
    world.operations(10, clocks=2)
    found = steps(world.hops(10))
    assert found["client takes rows, prepares the next"] == 3
    assert "client takes rows" not in found and "client prepares" not in found


def test_a_single_operation() -> None:
    for clocks in (1, 2):
        world = World()
        world.operations(1, clocks=clocks)
        found = world.hops(1)
        assert (found.operations, steps(found)["server works"]) == (1, 20)


def test_a_late_reader_has_the_time_itself() -> None:
    world = World()
    world.operations(10, late_ns=500)
    found = steps(world.hops(10))
    assert found["client takes rows"] == 502
    assert found["to client on the way to the client"] == 0


def test_an_answer_of_several_messages() -> None:
    world = World()
    world.operations(10, messages=4)
    found = world.hops(10)
    assert found.round_trips[0].messages == 4
    assert steps(found)["both more messages"] == 3 * (7 + 4)
    assert any("3 more messages" in line.plain for line in printed(found))


@pytest.mark.parametrize("unix", [False, True])
def test_connections_that_are_used_in_turn(unix: bool) -> None:
    world = World(connections=3, unix=unix)
    world.operations(90)
    found = world.hops(90)
    alone = World()
    alone.operations(90)
    assert steps(found) == steps(alone.hops(90))
    assert found.operations == 90


def test_a_connection_that_hardly_sends_is_no_part() -> None:
    world = World()
    world.operations(100)
    begun = world.client[-1].exit_ns
    world.client += [Call(begun + at, begun + at + 1, 99, CLIENT, 9, kind, 1) for at, kind in ((0, Kind.SENT), (2, 2))]
    assert world.hops(100).operations == 100


def test_a_pipeline_is_shown_as_one() -> None:
    world = World()
    world.operations(20)
    found = world.hops(20, pipeline=10)
    assert (found.operations, found.pipeline, found.median_ns) == (20, 10, 42)
    text = [line.plain.strip() for line in printed(found)]
    assert text[1].startswith("one pipeline of 10, on one core")
    assert any(line.endswith("of 20 pipelines of 10 operations") for line in text)
    with pytest.raises(Unknown, match="3 pipelines had 20 round trips"):
        world.hops(3, pipeline=10)


def test_a_server_of_others() -> None:
    world = World()
    world.operations(10)
    found = world.hops(10, seen=False)
    assert steps(found) == {
        "client prepares": 1, "client sends": 5, "to server there, at the server, and back": 34,
        "client takes rows": 2,
    }  # fmt: skip
    assert not found.server_seen


@pytest.mark.parametrize(("trips", "shown", "folded"), [(2, 2, 0), (SHOWN_TRIPS, 6, 0), (20, 5, 15)])
def test_several_round_trips(trips: int, shown: int, folded: int) -> None:
    world = World()
    world.operations(10, trips)
    found = world.hops(10)
    assert (len(found.round_trips), found.folded) == (shown, folded)
    assert steps(found, 1)["client takes rows, prepares the next"] == 1
    text = [line.plain for line in printed(found)]
    assert len(text) <= 12
    assert any("15 more round trips, 40.1 ns each" in line for line in text) == bool(folded)
    assert sum(line.strip().startswith("round trip ") for line in text) == shown


def test_what_is_not_known() -> None:
    world = World()
    world.operations(10)
    with pytest.raises(Unknown, match="7 operations had 10 round trips"):
        world.hops(7)
    with pytest.raises(Unknown, match="the client sends without the C library"):
        hops([], [], [10], one_core=True, stamping_share=0.0)
    with pytest.raises(Unknown, match="the server sends without the C library"):
        hops(world.client, [], [10], one_core=True, stamping_share=0.0)
    deaf = [call for call in world.server if call.kind != Kind.RECEIVED]
    with pytest.raises(Unknown, match="only 0 of 10 operations fit together"):
        hops(world.client, deaf, [10], one_core=True, stamping_share=0.0)
    both = (Kind.SENT, Kind.RECEIVED)
    second = [call._replace(descriptor=9) for call in world.client if call.kind in both]
    with pytest.raises(Unknown, match="several connections"):
        hops(sorted([*world.client, *second]), world.server, [10], one_core=True, stamping_share=0.0)


def printed(found: Hops) -> list:  # type: ignore[type-arg]
    return list(lines(msgspec.structs.replace(WHOLE, hops=found)))


def test_operations_are_told_apart_by_the_server_s_core() -> None:
    world = World()
    world.read_clock()
    for number in range(100):
        world.passed(STEPS["prepares"])
        near = number % 4 != 0
        world.trip(late_ns=0 if near else 104, same_core=near)
        world.passed(STEPS["takes rows"])
        world.read_clock()
    world.client.sort()
    found = hops(world.client, None, [100], one_core=False, stamping_share=0.0, by_core=True)
    assert [(one.cores, one.share, one.mean_ns, one.median_ns) for one in found.speeds] == [
        ("one", 0.75, 42, 42),
        ("two", 0.25, 142, 142),
    ]
    assert found.mean_ns == 67
    assert sum(hop.mean_ns or 0 for hop in found.round_trips[0].hops) == 67
    assert list(speed_sentences(found, 70.0)) == [
        "By core: 75.0 % of the operations with the server on the client's core take 42.0 ns (median 42.0 ns), "
        "25.0 % of the operations with the server on another core take 142 ns (median 142 ns)."
    ]
    apart = "The machine had two speeds: the operations of the sum take 300 ns, those of the hops 67.0 ns."
    assert list(speed_sentences(found, 300.0))[1:] == [apart]
    assert not hops(world.client, None, [100], one_core=False, stamping_share=0.0).speeds  # a server elsewhere
    kept = [call for call in world.client if call.kind != Kind.CORES]
    assert not hops(kept, None, [100], one_core=False, stamping_share=0.0, by_core=True).speeds


def test_the_terminal_the_page_and_the_reason() -> None:
    world = World()
    world.operations(100)
    found = world.hops(100)
    one = msgspec.structs.replace(WHOLE, hops=found, operation_ns=42.0)
    text = [line.plain for line in lines(one)]
    assert len(text) <= 12
    assert text[1].split() == ["in", "time", "order,", "on", "one", "core", "mean", "median", "p99", "worst"]
    assert any(line.startswith("server  works") and "20.0 ns" in line for line in text)
    assert any(line.startswith("→       on the way to the server") for line in text)
    assert (
        text[-1].strip()
        == "the slowest took 42.0 ns, 20.0 ns of it: server works; stamping changed an operation's time by +1.0 %"
    )
    drawn = ElementTree.fromstring(str(draw(found, "key", sentence(one, found))))
    assert len([each for each in drawn.iter("line") if each.get("class") == "arrow"]) == 2
    assert len(list(drawn.iter("rect"))) == 5
    assert [row.cells[0] for row in grid(one, found).rows][:2] == ["client prepares", "client sends 50 B"]
    assert sentence(one, found) == (
        "C TCP: 100 operations take 42.0 ns on average (client 8.00 ns, to the server 3.00 ns, server 27.0 ns, "
        "to the client 4.00 ns); the slowest took 42.0 ns, 20.0 ns of it: server works."
    )
    none = msgspec.structs.replace(WHOLE, no_hops="no compiler")
    assert [line.plain.strip() for line in lines(none)] == ["hops: unknown: no compiler"]
    assert list(lines(WHOLE)) == []


POOLER = 15
THROUGH = {
    "client prepares": 1, "client sends": 5, "to pooler on the way to the pooler": 3, "pooler works": 6,
    "pooler passes it on": 2, "to server on the way to the server": 4, "server works": 20, "server sends": 7,
    "from server on the way back to the pooler": 8, "pooler works on the answer": 9, "pooler sends": 10,
    "to client on the way to the client": 11, "client takes rows": 12,
}  # fmt: skip


def with_pooler(count: int, inner: int = 1) -> Hops:
    """The hops of operations through a pooler, whose round trips to the server are `inner` for each."""
    calls: dict[int, list[Call]] = {CLIENT: [], POOLER: [], SERVER: []}
    near, far = FILE, FILE + 1  # the pooler's ends
    for side, file, mine, its in (
        (CLIENT, FILE, 5000, 6432), (POOLER, near, 6432, 5000), (POOLER, far, 5001, 5432), (SERVER, FILE, 5432, 5001),
    ):  # fmt: skip
        calls[side].append(Call(mine, its, side, side, file, Kind.CONNECTION, 0))
    now = [1_000_000]
    waits = dict.fromkeys((POOLER, SERVER), now[0])

    def passed(step: str) -> int:
        now[0] += THROUGH[step]
        return now[0]

    def sent(side: int, file: int, step: str) -> None:
        begin = now[0]
        calls[side].append(Call(begin, passed(step), side, side, file, Kind.SENT, 50))

    def received(side: int, file: int, since_ns: int, step: str) -> None:
        calls[side].append(Call(since_ns, passed(step), side, side, 0, Kind.WAITED, 1))
        calls[side].append(Call(now[0], now[0], side, side, file, Kind.RECEIVED, 50))

    def clock() -> None:
        calls[CLIENT].append(Call(now[0], now[0], CLIENT, CLIENT, 0, Kind.CLOCK, 0))

    clock()
    for _operation in range(count):
        passed("client prepares")
        sent(CLIENT, FILE, "client sends")
        asked = now[0]
        received(POOLER, near, waits[POOLER], "to pooler on the way to the pooler")
        for _trip in range(inner):
            passed("pooler works")
            sent(POOLER, far, "pooler passes it on")
            waits[POOLER] = now[0]
            received(SERVER, FILE, waits[SERVER], "to server on the way to the server")
            passed("server works")
            sent(SERVER, FILE, "server sends")
            waits[SERVER] = now[0]
            received(POOLER, far, waits[POOLER], "from server on the way back to the pooler")
        passed("pooler works on the answer")
        sent(POOLER, near, "pooler sends")
        waits[POOLER] = now[0]
        received(CLIENT, FILE, asked, "to client on the way to the client")
        passed("client takes rows")
        clock()
    ordered = {side: sorted(of_side) for side, of_side in calls.items()}
    return hops(
        ordered[CLIENT], ordered[SERVER], [count], one_core=True, stamping_share=0.0, pooler_calls=ordered[POOLER]
    )


def test_the_steps_through_a_pooler_add_up() -> None:
    found = with_pooler(50)
    assert steps(found) == THROUGH
    assert (found.operations, found.median_ns) == (50, sum(THROUGH.values()))


def test_a_pooler_that_asks_the_server_twice_has_each_step_once_with_both_times() -> None:
    twice = ("pooler works", "pooler passes", "to server", "server", "from server")
    expected = {
        step: ns * 2 if step.startswith(twice) and step != "pooler works on the answer" else ns
        for step, ns in THROUGH.items()
    }
    assert steps(with_pooler(50, inner=2)) == expected


def test_the_drawing_has_a_lane_for_the_pooler() -> None:
    picture = ElementTree.fromstring(draw(with_pooler(20), "key", "label"))
    heads = [text.text for text in picture.iter("text") if text.get("class") == "head"]
    assert heads == ["client", "pooler", "server"]
    arrows = {(line.get("x1"), line.get("x2")) for line in picture.iter("line") if line.get("class") == "arrow"}
    assert arrows == {("28%", "50%"), ("50%", "72%"), ("72%", "50%"), ("50%", "28%")}
    assert any(line.startswith("pooler  works on the answer") for line in lines_of(with_pooler(20)))


def lines_of(found: Hops) -> list[str]:
    return [line.plain for line in lines(msgspec.structs.replace(WHOLE, hops=found))]
