"""Journals of schema version 2: each record brought to version 3."""

from __future__ import annotations

from rowpath.journal.version_1 import Body, renamed

SCHEMA_VERSION = 2


def upgraded(body: Body) -> Body:
    """The record as version 3 has it."""
    kind = body.get("record", "")
    if kind == "run":
        return _run(body)
    if kind == "probe":
        return _probe(body)
    if kind == "client-group":
        return renamed(body, {"asked_per_s": "requested_per_s"})
    if kind == "failure" and body.get("kind") == "not-asked":
        body["kind"] = "client-cache"
    return body


def _run(body: Body) -> Body:
    for workload in (body.get("workloads") or {}).values():
        workload["phases"] = [renamed(phase, {"truth": "expected"}) for phase in workload.get("phases") or ()]
    return body


def _probe(body: Body) -> Body:
    if body.get("tried"):
        body["tried"] = renamed(body["tried"], {"anchor": "compared_with", "said": "description"})
    return renamed(body, {"limit": "caveat"})
