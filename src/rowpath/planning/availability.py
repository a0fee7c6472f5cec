"""Which points of the lattice exist, can run here and serve a phase, and why not."""

from __future__ import annotations

from fnmatch import fnmatchcase

from rowpath.engines import ENGINES
from rowpath.engines.base import BacksUp, ReachedByUrl, Versioned
from rowpath.model.path import CHECKED, AccessPath
from rowpath.model.workload import Phase, Workload
from rowpath.planning.selection import is_size, sized_like
from rowpath.poolers import POOLERS
from rowpath.runners.manifest import Adapter, adapter_of, availability, most_clients, too_many

READ_IN_ORDER = ("tuple", "record")  # values of `rows`: a record is the driver's own class


def pruned(adapter: Adapter, path: AccessPath) -> str:
    """Why this point of the lattice does not exist; empty when it does."""
    if path.link != "none" and path.transport != "tcp":
        return "links are emulated only for TCP"
    if path.pooler != "none" and (reason := _no_pooler(path)):
        return reason
    coordinates = path.as_dict()
    layer = adapter.layer_of(path)
    if "layer" in coordinates and (layer is None or path.technique not in layer.techniques):
        return f"layer={path.layer} is not written with technique={path.technique}"
    if path.pooled and (reason := _unpooled(adapter, path)):
        return reason
    if path.get("loop") != "none" and path.get("concurrency") != "tasks":
        return "only concurrency=tasks has an event loop to choose"
    if layer is not None and (reason := _unlayered(adapter, path)):
        return reason
    return next((rule.reason for rule in adapter.unsupported if _speaks_of(coordinates, rule.when)), "")


def _no_pooler(path: AccessPath) -> str:
    """Why the path's pooler cannot stand before its server; empty when it can."""
    kind = POOLERS[path.pooler]
    if path.pooler_mode not in kind.modes:
        return f"{kind.name} pools only by {' or '.join(kind.modes)}"
    if path.transport != "tcp":
        return "poolers are started only for TCP"
    if path.link != "none":
        return "a link is emulated only without a pooler"
    return "a pooler's certificate is its own: no client has its authority" if path.tls in CHECKED else ""


def _unlayered(adapter: Adapter, path: AccessPath) -> str:
    """Why no layer hands over objects as the path has it; empty when one can."""
    if path.get("rows") != "none":
        return "a layer hands over its own objects, whatever class the driver makes of a row"
    tasks = path.get("concurrency") == "tasks" and adapter.coordinates["concurrency"][0] != "tasks"
    return f"layers above {adapter.driver} have no tasks" if tasks else ""


def _unpooled(adapter: Adapter, path: AccessPath) -> str:
    """Why the path's pool cannot lend to its clients as the path has it; empty when it can."""
    pool = adapter.pool_of(path)
    if pool is None:
        return f"{adapter.driver} has no pool={path.pool}"
    if path.validation not in pool.validations:
        return f"pool={pool.name} has no validation={path.validation}"
    concurrency = path.get("concurrency")
    if concurrency not in ("none", *pool.concurrency):
        return f"pool={pool.name} lends to clients with concurrency={' or '.join(pool.concurrency)}"
    if path.layer != "none":
        return "a layer has its own connection, which no pool lends"
    return "a pool lends a connection for one operation: nothing is pipelined" if path.pipelined else ""


def most_round_trips(adapter: Adapter, path: AccessPath) -> int:
    """The most round trips that the manifest declares of an operation of at most one row; 0 where it declares none."""
    coordinates = path.as_dict()
    return next((rule.most for rule in adapter.round_trips if _speaks_of(coordinates, rule.when)), 0)


def _speaks_of(coordinates: dict[str, str], when: dict[str, str]) -> bool:
    for key, ruled in when.items():  # for every rule and point of the lattice: `all` takes twice as long
        value = coordinates.get(key, "none")
        # A rule for `cursor:1000` speaks of a cursor of any size, one for `n` of any number.
        if value != ruled and not (sized_like(value, (ruled,)) or (ruled == "n" and is_size(value))):
            if key == "tls" and ruled == "on" and value in CHECKED:  # a checked connection is encrypted too
                continue
            return False
    return True


def unavailable(adapter: Adapter, path: AccessPath) -> tuple[str, str]:
    """Why this path cannot run on this machine, and the command that would enable it; empty when it can."""
    if reason := too_many(adapter, path.clients):
        return reason, f"clients={most_clients(adapter)}"
    engine = ENGINES[path.engine]
    if isinstance(engine, Versioned):
        there = engine.availability_of(path.engine_version, path.tls)
    else:
        there = engine.availability()
    if not there.ok:
        return there.reason, there.remedy
    if isinstance(engine, ReachedByUrl) and (unreachable := engine.unreachable(path))[0]:
        return unreachable
    for needed, program in ((path.is_null and path.served, "ping server"), (path.link != "none", "emulated link")):
        if needed and not (there := availability(adapter_of("c", "ping"), "bundled")).ok:
            return f"the {program} is a C program: {there.reason}", there.remedy
    if path.pooler != "none":
        there = POOLERS[path.pooler].availability(encrypted=path.tls == "on")
        if not there.ok:
            return there.reason, there.remedy
    here = availability(adapter, path.version, path)
    if here.ok and "backup" in path.as_dict():
        if not isinstance(engine, BacksUp) or path.backup == "none":
            what = f"{engine.name} ({path.get('deployment')})"
            return f"{what} cannot be backed up while clients are active", "rowpath engine list"
        here = engine.backup_availability(path.backup)
    return ("", "") if here.ok else (here.reason, here.remedy)


def ineligible_reason(adapter: Adapter, path: AccessPath, phase_name: str, phase: Phase) -> str:
    """Why the path cannot run this phase; empty when it can. A space stands for: not worth a word."""
    if path.is_null != (phase.kind == "null"):
        return " "
    if phase.kind == "null":
        return ""
    if (path.ranges != "none") != phase.union:
        return " "
    if phase.engines and path.engine not in phase.engines:
        return f"{phase_name}: its statement is only for {' and '.join(phase.engines)}"
    if adapter.serves and not any(fnmatchcase(phase_name, pattern) for pattern in adapter.serves):
        return f"{phase_name}: the adapter {adapter.driver} is written only for {' and '.join(adapter.serves)}"
    for rule in adapter.unsupported:
        conditions = {key: value for key, value in rule.when.items() if key not in ("phase", "kind")}
        of_phases = len(conditions) < len(rule.when) and fnmatchcase(phase_name, rule.when.get("phase", "*"))
        if of_phases and rule.when.get("kind", phase.kind) == phase.kind and _speaks_of(path.as_dict(), conditions):
            return f"{phase_name}: {rule.reason}"
    layer = adapter.layer_of(path)
    if (layer is not None) != (phase.kind == "objects"):
        return f"{phase_name}: a layer hands over objects, a driver rows" if phase.kind == "objects" else " "
    if layer is not None:
        if phase.access in layer.operations.get(path.technique, (phase.access,)):
            return ""
        return f"{phase_name}: layer={layer.name} does not have it" if path.technique == "none" else " "
    if phase.access == "aggregate" and path.get("rows") not in ("none", *READ_IN_ORDER):
        return f"{phase_name}: rows={path.get('rows')} reads by name, and the engine names an aggregate's columns"
    if path.pooled and phase.kind not in ("query", "execute"):
        return f"{phase_name}: only queries and single writes are done on a pool's connection"
    if path.pipelined and (reason := unpipelined_reason(phase)):
        return f"{phase_name}: {reason}"
    if adapter.floor:
        return "" if phase.scan else " "
    if "scan" in adapter.phases and phase.kind == "query":
        can_run = phase.scan or phase.union or (phase.access == "aggregate" and "aggregate" in adapter.phases)
        return "" if can_run else f"{phase_name}: a delimited file has no index and no query language"
    records = "records" in adapter.phases or path.get("access") == "handler"
    if records and (phase.access == "aggregate" or not (phase.scan or phase.access)):
        return f"{phase_name}: {adapter.driver} reads single records here and has no query language"
    if path.get("access") == "handler" and phase.kind != "query":
        return f"{phase_name}: HANDLER only reads"
    if "records" in adapter.phases:
        return ""
    if phase.kind not in adapter.phases:
        return f"{phase_name}: the adapter {adapter.driver} does not serve the kind '{phase.kind}'"
    if phase.way == "bulk" and path.get("bulk") == "none":
        return f"{phase_name}: {adapter.driver} has no bulk method"
    if path.clients != 1 and phase.kind not in ("query", "execute"):
        return f"{phase_name}: only queries and single writes support several clients"
    return ""


def unpipelined_reason(phase: Phase) -> str:
    """Why a phase's operations cannot be sent in pipelines; empty when they can."""
    if phase.kind not in ("query", "execute"):
        return "only queries and single writes can be pipelined"
    if phase.parameters is None or phase.union:
        return "a single statement without parameters cannot be pipelined"
    if phase.transaction != "autocommit":
        return "each COMMIT waits for its reply, so nothing is pipelined"
    return "the operations of a pipeline have no stamps of their own" if phase.stamps else ""


def unnumbered_reason(path: AccessPath, workload: Workload, phase_name: str, phase: Phase) -> str:
    """Why several clients cannot do this insert: no one knows which row gets which number; empty when they can."""
    table = workload.tables.get(phase.after)
    columns = phase.parameters.columns if phase.parameters else ()
    # The arguments of a layer's operation are no columns of that table.
    given = table is not None and table.identity in columns and phase.kind != "objects"
    if path.clients == 1 or table is None or not table.identity or not columns or given:
        return ""
    return f"{phase_name}: the engine numbers rows on arrival, so with several clients the rows' numbers are unknown"
