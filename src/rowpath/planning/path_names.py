"""Short names of paths, unique within a plan."""

from __future__ import annotations

from pathlib import Path

from rowpath.model.path import AccessPath


def spelt(key: str, value: str) -> str:
    """A coordinate's value as part of a name; a bare number is preceded by what it counts."""
    if key == "version" and "/" in value:
        return Path(value).name
    if key == "clients":
        return f"{value} client{'s' if value != '1' else ''}"
    if key == "tls":
        return f"TLS {value}"
    if key == "plan_cache_mode":
        return f"{value.removeprefix('force_').removesuffix('_plan')} plan"
    if key in ("client_host", "server_host"):
        return f"{'from' if key == 'client_host' else 'to'} {value}"
    if key == "durability" and value == "none":
        return "not durable"
    if value == "none" or (key == "pipeline" and not value.isdigit()):
        return f"no {key}"
    named = value.isdigit() or key == "link" or (key == "backup" and key not in value)
    return f"{key} {value}" if named else value


def short_names(paths: list[tuple[AccessPath, str]]) -> dict[str, str]:
    """A short, unique name per path: the given one, else engine, language, driver and the coordinates that vary."""
    names: dict[str, str] = {}
    for path, name in paths:
        if name:
            names[path.id] = name
            continue
        base = ("engine", "deployment", "language", "driver")
        alike = [other for other, _ in paths if all(other.get(key) == path.get(key) for key in base)]
        keys = [key for key, _ in path.coordinates if key not in base and len({o.get(key) for o in alike}) > 1]
        parts = [path.engine, path.language, path.driver]
        if path.deployment not in ("none", path.engine) and _both_deployments(paths, path):
            parts.insert(1, path.deployment)
        parts += [spelt(key, path.get(key)) for key in keys]
        names[path.id] = " ".join([*parts, *([path.label] if path.label else [])])
    taken: dict[str, int] = {}
    for path_id, name in names.items():
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            names[path_id] = f"{name} #{taken[name]}"
    return names


def _both_deployments(paths: list[tuple[AccessPath, str]], path: AccessPath) -> bool:
    same = [o for o, _ in paths if o.engine == path.engine and o.driver == path.driver]
    return len({other.deployment for other in same}) > 1
