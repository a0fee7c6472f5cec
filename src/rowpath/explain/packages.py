"""Whose code a client executes: a layer's, a pool's, the driver's or ours, with all that they call of the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from rowpath.explain.parts import LIBRARIES, LOOP, OUR_PACKAGES, UNKNOWN, in_packages, runtime
from rowpath.model.explanation import Frame, Stack
from rowpath.planning.plan import PlannedPath
from rowpath.runners.language import Language
from rowpath.runners.manifest import language


@dataclass(frozen=True)
class Packages:
    """The packages of a path's layer, pool and driver. `names`: how the names of their modules begin → the part."""

    header: Language
    names: Mapping[str, str]

    @classmethod
    def of(cls, planned: PlannedPath) -> Packages | None:
        """Those of a path that hands over objects, by a layer or by hand, or has a pool; else None."""
        layer, pool = planned.adapter.layer_of(planned.path), planned.adapter.pool_of(planned.path)
        if layer is None and pool is None:
            return None
        groups = (planned.adapter.modules, *(above.modules for above in (layer, pool) if above is not None))
        return cls(language(planned.path.language), {module: group[0] for group in groups for module in group})

    def of_module(self, name: str) -> str:
        """The part of a module or class by its whole name, such as org.jooq.impl.DSL; empty: not known."""
        return LOOP if name.partition(".")[0] in OUR_PACKAGES else self._named(name)

    def of_extension(self, source: PurePath) -> str:
        """The part of an extension's source file, wherever it was compiled; empty: not known."""
        return next(filter(None, (self._named(".".join(source.parts[at:])) for at in range(len(source.parts)))), "")

    def of_file(self, path: PurePath) -> str:
        """The part of a file of Python or of the interpreter's own modules; empty: not known."""
        inside = in_packages(path)
        if not inside and path.is_relative_to(self.header.folder):
            return LOOP
        places = (inside,) if inside else (path.parts[-2:], path.parts[-1:])
        dotted = (".".join((*place[:-1], place[-1].partition(".")[0])) for place in places)
        return next(filter(None, map(self._named, dotted)), "")

    def _named(self, name: str) -> str:
        return next((part for module, part in self.names.items() if f"{name}.".startswith(f"{module}.")), "")

    def resolved(self, stack: Stack) -> Stack:
        """The stack with each frame's owner as its part.

        What is of the language, its standard library or the C library belongs to the nearest caller that is known.
        """
        frames, owner = list[Frame](), ""
        for frame in stack:
            own = frame.owner or (self.names.get(frame.part, frame.part) if frame.part not in self._passed_on else "")
            owner = own or owner
            frames.append(Frame(frame.name, owner or frame.part))
        return tuple(frames)

    def divided(self, shares: Mapping[str, float], stacks: Mapping[Stack, int]) -> dict[str, float]:
        """Shares by library, with those of the language and the C library given to their owners, as the stacks say."""
        owners: Counter[str] = Counter()
        for stack, count in stacks.items():
            if stack[-1].part in self._passed_on:
                owners[self.resolved(stack)[-1].part] += count
        divided: Counter[str] = Counter()
        passed_on = 0.0
        for name, share in shares.items():
            if name in self._passed_on and owners:
                passed_on += share
            else:
                divided[self.names.get(name, name)] += share  # type: ignore[assignment]
        for name, count in owners.items():
            divided[name] += passed_on * count / owners.total()  # type: ignore[assignment]
        return dict(divided.most_common())

    @cached_property
    def _passed_on(self) -> set[str]:
        """The parts whose time is their callers'."""
        explain = self.header.explain
        return {runtime(self.header), explain.compiled, UNKNOWN, LIBRARIES["libc"], ""}
