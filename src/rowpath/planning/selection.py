"""What a selection or a filter means: the paths that it names."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.model.experiment import Selection
from rowpath.model.path import COORDINATES, AccessPath
from rowpath.planning.lattice import LINK, NO_FILTERS, is_size, lattice
from rowpath.runners.manifest import Adapter, every_adapter
from rowpath.toml_file import suggest


def coordinate_names() -> tuple[str, ...]:
    """Every coordinate that a selection may name."""
    own = {key for adapter in every_adapter() for key in adapter.coordinates}
    return (*COORDINATES, *sorted(own - set(COORDINATES)), "label")


def select(
    selection: Selection, filters: Mapping[str, tuple[str, ...]] = NO_FILTERS
) -> list[tuple[Adapter, AccessPath]]:
    """The (adapter, path) pairs of a selection; UsageError for a coordinate that does not exist.

    A coordinate that the selection leaves open takes the filters' values (`placement=split`) where it can. A floor is
    in where its driver or `fetch=drain` is named, for it delivers nothing that could be compared.
    """
    wanted = selection.wanted
    check_coordinates(wanted)
    found = []
    for adapter in every_adapter():
        given = wanted.get("driver", (adapter.driver,)), wanted.get("language", (adapter.language,))
        if adapter.driver not in given[0] and given[0] != ("*",):
            continue
        if adapter.language not in given[1] and given[1] != ("*",):
            continue
        if adapter.floor and not wanted.keys() & {"driver", "fetch"}:
            continue
        opened = {key: values for key, values in filters.items() if key not in wanted and values != ("*",)}
        found += [(adapter, path) for path in lattice(adapter, opened | wanted) or lattice(adapter, wanted)]
    return found


def unmatched(selection: Selection) -> UsageError:
    """What is wrong with a selection that no path matches: the coordinate whose value the others do not have."""
    named = " ".join(f"{key}={','.join(values)}" for key, values in selection.wanted.items())
    for key in sorted(selection.select, key=lambda key: key in ("engine", "language", "driver", "deployment")):
        others = msgspec.structs.replace(selection, select={**selection.select, key: "*"})
        if values := dict.fromkeys(path.get(key) for _adapter, path in select(others)):
            if [*values] == ["none"]:
                return UsageError(f"no path matches {named}: these paths have no {key}", f"remove {key}")
            can_be = f"{key} must be {' or '.join(values)}"
            return UsageError(f"no path matches {named}: {can_be}", f"{key} = '{next(iter(values))}'")
    return UsageError(f"no path matches {named}", "rowpath list paths")


def check_coordinates(wanted: dict[str, tuple[str, ...]]) -> None:
    """UsageError when a key is no coordinate or a value of engine, language, deployment or driver is unknown."""
    names = coordinate_names()
    for key in wanted:
        if key not in names:
            raise UsageError(f"unknown coordinate '{key}'", suggest(key, names))
    for value in wanted.get("link", ()):
        if not LINK.fullmatch(value):
            raise UsageError(
                f"invalid link '{value}': expected a round-trip time such as 1ms",
                "link=none or, for one millisecond, link=1ms",
            )
    for value in wanted.get("pipeline", ()):
        if value not in ("off", "*") and not is_size(value):
            raise UsageError(
                f"invalid pipeline '{value}': expected how many statements are sent before their answers are read",
                "pipeline=off or, for ten statements, pipeline=10",
            )
    known = {
        "engine": tuple(ENGINES),
        "language": tuple(dict.fromkeys(adapter.language for adapter in every_adapter())),
        "driver": tuple(dict.fromkeys(adapter.driver for adapter in every_adapter())),
        "deployment": ("embedded", "server", "file", "none"),
        "placement": ("same", "split", "free", "apart"),
    }
    for key, right in known.items():
        for value in wanted.get(key, ()):
            if value not in right and value != "*":
                raise UsageError(f"unknown {key} '{value}'", suggest(value, right))


def matches(path: AccessPath, filters: dict[str, tuple[str, ...]]) -> bool:
    """Whether the path has one of the named values in every named coordinate; floors stay that have no such thing."""
    null = path.is_null and "engine" not in filters
    return all(
        "*" in values or path.get(key) in values or (null and path.get(key) == "none")
        for key, values in filters.items()
    )
