"""Explanations as traces in OTLP's JSON form: a span for each hop, with OpenTelemetry's names for databases.

Sources: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding and
https://opentelemetry.io/docs/specs/semconv/db/database-spans/ (stable names). A trace is the mean operation: its hops
lie one after the other, and end when the explanation was made.
"""

from __future__ import annotations

import hashlib
import ipaddress
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

import msgspec

from rowpath import __version__
from rowpath import text as fmt
from rowpath.model.explanation import Explanation, Hop
from rowpath.model.grouping import grouped
from rowpath.report.hops import folded, mean, name

SCHEMA_URL = "https://opentelemetry.io/schemas/1.27.0"
SYSTEMS = {"h2": "h2database", "oracle": "oracle.db", "ibmi": "ibm.db2", "ibmi-stand-in": "ibm.db2"}  # others: as here
INTERNAL, SERVER, CLIENT = 1, 2, 3  # kinds of spans
SIDES = ("client", "pooler", "server")


@dataclass(frozen=True)
class Traced:
    """An explanation, the statement of its operation (empty: unknown, or not to be shown), where its server is."""

    explanation: Explanation
    ended_unix_ns: int
    sql: str = ""
    host: str = ""
    port: int = 0
    numbers: Iterator[int] = field(default_factory=itertools.count, compare=False)

    @property
    def trace_id(self) -> str:
        """The same for every span of the operation."""
        return _id(f"{self.explanation.name} {self.explanation.phase} {self.ended_unix_ns}", 16)

    def span_id(self) -> str:
        """Of the next span."""
        return _id(f"{self.trace_id} {next(self.numbers)}", 8)


def write(traces: Iterable[Traced], file: TextIO) -> None:
    """Write them as one `TracesData`, and flush."""
    file.write(msgspec.json.format(msgspec.json.encode(document(traces))).decode() + "\n")
    file.flush()


def document(traces: Iterable[Traced]) -> dict[str, Any]:
    """The document: a resource for each side and for the network between them."""
    spans = [span for traced in traces for span in _spans(traced)]
    scope = {"name": "rowpath", "version": __version__}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes({"service.namespace": "rowpath", "service.name": service})},
                "scopeSpans": [
                    {"scope": scope, "spans": [span for _service, span in of_service], "schemaUrl": SCHEMA_URL}
                ],
                "schemaUrl": SCHEMA_URL,
            }
            for service, of_service in grouped(spans, lambda one: one[0]).items()
        ]
    }


def _spans(traced: Traced) -> Iterator[tuple[str, dict[str, Any]]]:
    """The operation, and in it each round trip with its hops, where they are known; each with its service."""
    one = traced.explanation
    hops = one.hops
    whole_ns = mean(hops) if hops else one.operation_ns
    begin_ns = traced.ended_unix_ns - round(whole_ns)
    of_operation = _of_operation(traced)
    title = of_operation.get("db.operation.name") or of_operation["db.system.name"]
    root = _span(traced, "", title, CLIENT, begin_ns, whole_ns, of_operation)
    yield "client", root
    if hops is None:
        return
    spent_ns, several = 0.0, len(hops.round_trips) > 1
    for number, trip in enumerate(hops.round_trips, 1):
        parent = root["spanId"]
        if several:
            length_ns = sum(map(mean, trip.hops))
            span = _span(traced, parent, f"round trip {number}", INTERNAL, begin_ns, length_ns, {}, spent_ns)
            yield "client", span
            parent = span["spanId"]
        for hop in trip.hops:
            kind = SERVER if hop.where == "server" else INTERNAL
            span = _span(traced, parent, name(hop, trip), kind, begin_ns, mean(hop), _of_hop(hop), spent_ns)
            yield hop.where if hop.where in SIDES else "network", span
            spent_ns += mean(hop)
    if hops.folded:
        length_ns = hops.folded * hops.folded_ns
        yield "network", _span(traced, root["spanId"], folded(hops), INTERNAL, begin_ns, length_ns, {}, spent_ns)


def _of_operation(traced: Traced) -> dict[str, Any]:
    """What OpenTelemetry names of a database operation; what is not known is left out."""
    one = traced.explanation
    path = one.path
    engine, transport = path.get("engine", ""), path.get("transport", "")
    word = next(iter(traced.sql.split(maxsplit=1)), "")
    facts: dict[str, Any] = {
        "db.system.name": SYSTEMS.get(engine, engine) or "other_sql",
        "db.query.text": fmt.printable(traced.sql),
        "db.operation.name": word.upper() if word.isalpha() else "",
        "db.response.returned_rows": round(one.rows),
        "network.transport": transport if transport in ("tcp", "unix") else "",
        "server.address": traced.host,
        "server.port": traced.port,
        "rowpath.path": fmt.clean(one.name),
        "rowpath.phase": fmt.clean(one.phase),
        "rowpath.no_hops": fmt.clean(one.no_hops),
    }
    if one.hops and one.hops.pipeline > 1:
        facts["db.operation.batch.size"] = one.hops.pipeline
    if transport == "tcp" and _is_address(traced.host):
        facts |= {"network.peer.address": traced.host, "network.peer.port": traced.port}
    return {key: value for key, value in facts.items() if value}


def _of_hop(hop: Hop) -> dict[str, Any]:
    spread = {"median": hop.median_ns, "p99": hop.p99_ns, "worst": hop.worst_ns}
    return {"rowpath.where": hop.where, **{f"rowpath.{what}_ns": float(ns) for what, ns in spread.items()}}


def _span(
    traced: Traced,
    parent: str,
    title: str,
    kind: int,
    begin_ns: int,
    length_ns: float,
    facts: dict[str, Any],
    after_ns: float = 0.0,
) -> dict[str, Any]:
    """A span that begins `after_ns` after the operation; 64-bit numbers are texts in this form."""
    return {
        "traceId": traced.trace_id,
        "spanId": traced.span_id(),
        **({"parentSpanId": parent} if parent else {}),
        "name": fmt.clean(title),
        "kind": kind,
        "startTimeUnixNano": str(begin_ns + round(after_ns)),
        "endTimeUnixNano": str(begin_ns + round(after_ns + length_ns)),
        "attributes": _attributes(facts),
    }


def _attributes(facts: dict[str, Any]) -> list[dict[str, Any]]:
    def value(of: Any) -> dict[str, Any]:
        if isinstance(of, int):
            return {"intValue": str(of)}
        return {"doubleValue": of} if isinstance(of, float) else {"stringValue": of}

    return [{"key": key, "value": value(of)} for key, of in facts.items()]


def _id(text: str, size_bytes: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[: 2 * size_bytes]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
