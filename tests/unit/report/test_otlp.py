"""OTLP: OpenTelemetry's own reader takes it, hops lie one after the other, and a hidden query is nowhere in it."""

from __future__ import annotations

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.model.explanation import Explanation
from rowpath.report.otlp import Traced, write
from tests.unit.explain.test_hops import World
from tests.unit.report.test_explanation import WHOLE

APART = str(Path(sys.prefix) / "apart")  # scripts/setup.sh says why
sys.path.insert(0, APART)
try:
    from google.protobuf import json_format
    from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData
finally:
    sys.path.remove(APART)

ENDED_NS = 1_800_000_000_000_000_123
SQL = "SELECT id, name FROM orders WHERE id = ?"
PATH = {"engine": "postgresql", "transport": "tcp"}


def explained(trips: int = 1, **more: Any) -> Explanation:
    """An explanation with the hops of a made-up conversation."""
    world = World()
    world.operations(10, trips)
    return msgspec.structs.replace(WHOLE, path=PATH, hops=world.hops(10), **more)


def read(*traces: Traced) -> list[tuple[str, Span]]:
    """Every span as OpenTelemetry's own classes read it, with its service; OTLP has ids in hex, protobuf in base64."""
    file = io.StringIO()
    write(traces, file)
    document = json.loads(file.getvalue())
    for resource in document["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            for key in {"traceId", "spanId", "parentSpanId"} & span.keys():
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    data = json_format.ParseDict(document, TracesData())
    found = []
    for resource in data.resource_spans:
        names = {each.key: each.value.string_value for each in resource.resource.attributes}
        found += [(names["service.name"], span) for span in resource.scope_spans[0].spans]
    return found


def facts(span: Span) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_an_operation_is_a_client_span_with_the_names_for_databases() -> None:
    (service, root), *_hops = read(Traced(explained(rows=3.0), ENDED_NS, SQL, "127.0.0.1", 5432))
    assert (service, root.name, root.kind) == ("client", "SELECT", Span.SPAN_KIND_CLIENT)
    assert not root.parent_span_id
    assert facts(root) == {
        "db.system.name": "postgresql", "db.query.text": SQL, "db.operation.name": "SELECT",
        "db.response.returned_rows": 3, "network.transport": "tcp", "server.address": "127.0.0.1", "server.port": 5432,
        "network.peer.address": "127.0.0.1", "network.peer.port": 5432, "rowpath.path": "C TCP",
        "rowpath.phase": "keyed.read",
    }  # fmt: skip


def test_every_hop_is_a_span_within_its_operation() -> None:
    one = explained()
    assert one.hops is not None
    spans = read(Traced(one, ENDED_NS, SQL))
    (root,) = (span for _service, span in spans if not span.parent_span_id)
    steps = sorted(
        (span for _service, span in spans if span.parent_span_id), key=lambda span: span.start_time_unix_nano
    )
    assert len(steps) == len(one.hops.round_trips[0].hops)
    assert {span.trace_id for _service, span in spans} == {root.trace_id} and len(root.trace_id) == 16
    assert {span.parent_span_id for span in steps} == {root.span_id} and len(root.span_id) == 8
    assert len({span.span_id for _service, span in spans}) == len(spans)
    borders = [root.start_time_unix_nano, *(step.end_time_unix_nano for step in steps)]
    for begin_ns, step in zip(borders, steps, strict=False):
        assert step.start_time_unix_nano == begin_ns
    assert abs(borders[-1] - ENDED_NS) <= 1 and root.end_time_unix_nano == ENDED_NS
    services = {span.name: service for service, span in spans}
    assert services["works"] == "server" and services["on the way to the server"] == "network"
    assert {span.kind for service, span in spans if service == "server"} == {Span.SPAN_KIND_SERVER}


def test_hops_of_several_round_trips_are_below_theirs() -> None:
    spans = [span for _service, span in read(Traced(explained(3), ENDED_NS, SQL))]
    trips = {span.span_id: span.name for span in spans if span.name.startswith("round trip ")}
    assert sorted(trips.values()) == ["round trip 1", "round trip 2", "round trip 3"]
    (root,) = (span for span in spans if not span.parent_span_id)
    assert {span.parent_span_id for span in spans} == {b"", root.span_id, *trips}


def test_without_hops_the_operation_stands_alone_with_the_reason() -> None:
    one = msgspec.structs.replace(WHOLE, path={"engine": "h2"}, no_hops="no C compiler")
    ((_service, root),) = read(Traced(one, ENDED_NS, SQL))
    assert facts(root)["db.system.name"] == "h2database"
    assert facts(root)["rowpath.no_hops"] == "no C compiler"
    assert root.end_time_unix_nano - root.start_time_unix_nano == 20_000


def test_a_query_that_is_not_given_is_nowhere() -> None:
    (_service, root), *_hops = read(Traced(explained(), ENDED_NS, "", "db.example", 5432))
    assert not {"db.query.text", "db.operation.name", "network.peer.address"} & facts(root).keys()
    assert (root.name, facts(root)["server.address"]) == ("postgresql", "db.example")


@pytest.mark.parametrize(("count", "resources"), [(0, 0), (2, 3)])
def test_all_explanations_are_one_document(count: int, resources: int) -> None:
    file = io.StringIO()
    write([Traced(explained(), ENDED_NS + n, SQL) for n in range(count)], file)
    assert len(json.loads(file.getvalue())["resourceSpans"]) == resources
