"""Published claims: `claims/ID.toml`, each with its source, what it compared, and what of an experiment decides it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.base import Frozen
from rowpath.model.claims import Selector
from rowpath.planning.experiment_file import load_experiment
from rowpath.toml_file import decode_with_text, nearest, suggest

SCHEMA_VERSION = 1
Outcome = Literal["holds", "does not hold", "uncertain"]


class OnlyIf(Frozen, frozen=True):
    """A condition measured both ways: claims of the experiment where it is met, and where it is not."""

    condition: str
    met: str
    unmet: str


class PublishedClaim(Frozen, frozen=True):
    """One file. `decided_by`: ids of the experiment's claims; `cells`: coordinates of the paths that these need."""

    schema_version: int
    title: str
    project: str
    source: str
    date: str
    figure: str  # as published
    compared: str
    experiment: str
    decided_by: tuple[str, ...]
    differs: tuple[str, ...]  # where this is not like for like
    cells: Selector = {}
    only_if: tuple[OnlyIf, ...] = ()

    @property
    def filters(self) -> dict[str, tuple[str, ...]]:
        """The cells as filters of paths."""
        return {key: (value,) if isinstance(value, str) else value for key, value in self.cells.items()}

    @property
    def ids(self) -> tuple[str, ...]:
        """The experiment's claims that the verdict may rest on, each once."""
        return tuple(dict.fromkeys((*self.decided_by, *(id_ for one in self.only_if for id_ in (one.met, one.unmet)))))

    def verdict(self, outcomes: Mapping[str, Outcome]) -> str:
        """*holds*, *does not hold*, *uncertain*, or *holds only if* with the condition; by the outcome of each claim.

        It holds when all that decide it do, and does not when one does not.
        """
        for each in self.only_if:
            if (outcomes.get(each.met), outcomes.get(each.unmet)) == ("holds", "does not hold"):
                return f"holds only if {each.condition}"
        found = [outcomes.get(id_, "uncertain") for id_ in self.decided_by]
        return next((outcome for outcome in ("does not hold", "uncertain") if outcome in found), "holds")


def names() -> list[str]:
    """The published claims that come with Rowpath."""
    return sorted(file.stem for file in (data_dir() / "claims").glob("*.toml"))


def load_claim(name: str) -> PublishedClaim:
    """A claim by its name. Errors: UsageError for an unknown one, and for a mistake in its file."""
    if name not in names():
        near = nearest(name, names())
        raise UsageError(f"unknown claim '{name}'", f"did you mean '{near}'?" if near else "rowpath claim list")
    file = data_dir() / "claims" / f"{name}.toml"
    claim: PublishedClaim = decode_with_text(file, PublishedClaim)[0]
    if claim.schema_version != SCHEMA_VERSION:
        what = f"{file}: unknown schema_version {claim.schema_version}: expected {SCHEMA_VERSION}"
        raise UsageError(what, "write schema_version = 1")
    known = [each.id for each in load_experiment(claim.experiment).experiment.claims]
    for id_ in claim.ids:
        if id_ not in known:
            raise UsageError(f"{file}: unknown claim '{id_}' of experiment {claim.experiment}", suggest(id_, known))
    return claim
