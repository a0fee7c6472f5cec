"""Journals of schema version 1: each record brought to version 2."""

from __future__ import annotations

from typing import Any

SCHEMA_VERSION = 1
NOTE = (
    "The journal has schema version 1, which lacks what operations deliver and the engines' durabilities. "
    "So no cost model is fitted, and syncs are not checked where durability is none."
)
Body = dict[str, Any]

TAGS = {
    "invocation": "worker",
    "proof": "counted",
    "proven": "verified",
    "stretch": "stage",
    "group": "client-group",
    "move": "directory-copy",
}
IN_SETS = ("set", "set-end", "noise")  # whose `group` was a batch
IN_STAGES = ("stage", "second", "client-group", "backup", "kill", "acknowledged", "directory-copy", "rate-try")
CLIENT_GROUP = {"groups": "client_groups", "group": "client_group"}
SELECTOR = {"stretch": "stage", "group": "client_group"}


def upgraded(body: Body) -> Body:
    """The record as version 2 has it. A null meant what an absent field means: not known."""
    body = _known(body)
    kind = TAGS.get(body.get("record", ""), body.get("record", ""))
    body["record"] = kind
    if kind == "run":
        return _run(body)
    if kind == "probe":
        return _probe(body)
    if kind in IN_SETS:
        body = renamed(body, {"group": "batch"})
    elif kind in IN_STAGES:
        body = renamed(body, {**CLIENT_GROUP, "stretch": "stage"})
    if kind == "stage":
        body["client_groups"] = [renamed(each, {**CLIENT_GROUP, "verb": "action"}) for each in body["client_groups"]]
    if kind == "second":
        body["client_groups"] = {name: _known(each) for name, each in body.get("client_groups", {}).items()}
        body["processes"] = {name: _known(each) for name, each in body.get("processes", {}).items()}
    if "phase" in body and "workload" in body:
        body["phase"] = body["phase"].removeprefix(f"{body['workload']}.")
    return renamed(body, {"means": "method", "truth": "cpu_coverage"})


def renamed(body: Body, names: dict[str, str]) -> Body:
    return {names.get(key, key): value for key, value in body.items()}


def _known(body: Body) -> Body:
    return {key: value for key, value in body.items() if value is not None}


def _run(body: Body) -> Body:
    body = renamed(body, {"means": "methods"})
    if body.get("schema_version") == SCHEMA_VERSION and "experiment" in body:
        body["experiment"] = _experiment(body["experiment"])
    return body


def _experiment(body: Body) -> Body:
    names = {"groups": "client_groups", "stretches": "stages", "moves": "directory_copies", "rate_sweep": "rate_search"}
    body = renamed(body, names)
    body["client_groups"] = [renamed(each, {"verb": "action"}) for each in body.get("client_groups") or ()]
    body["stages"] = [renamed(each, CLIENT_GROUP) for each in body.get("stages") or ()]
    if body.get("rate_search"):
        body["rate_search"] = renamed(body["rate_search"], CLIENT_GROUP)
    for claim in body.get("claims") or ():
        check = claim["check"]
        for side in ("numerator", "denominator", "first", "second"):
            check[side] = renamed(check.get(side) or {}, SELECTOR)
    for column in body.get("published") or ():
        for row in column["rows"]:
            row["path"] = renamed(row.get("path") or {}, SELECTOR)
    return body


def _probe(body: Body) -> Body:
    what: str = body["what"]
    found: Body = body["body"]
    if what == "tried":
        return {"record": "probe", "tried": renamed(found, {"stage": "step"})}
    if what == "limit":
        return {"record": "probe", "limit": found["text"]}
    return {"record": "probe", "digest_group" if what == "group" else what: found}
