"""From directories of runs to a site: read, check, leave out by name, write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rowpath.errors import UsageError
from rowpath.site.contents import Site
from rowpath.site.model import Examined
from rowpath.site.pages import pages
from rowpath.site.read import examine_all, run_directories
from rowpath.site.write import prepare, remove, write


@dataclass(frozen=True)
class Built:
    """What a build did."""

    examined: tuple[Examined, ...]
    pages: int

    @property
    def refused(self) -> list[Examined]:
        """The runs that were left out."""
        return [each for each in self.examined if each.problems]


def check(places: Iterable[Path]) -> list[Examined]:
    """Every run below these places with what is wrong with it; nothing is written."""
    return _agreeing(examine_all(run_directories(places), None))


def build(
    places: Iterable[Path], site: Path, *, with_pages: bool, on_examined: Callable[[Examined], object] = lambda _: None
) -> Built:
    """Write the site of all runs that are accepted; UsageError when there is none."""
    directories = run_directories(places)
    prepare(site)
    examined = _agreeing(examine_all(directories, site / "runs" if with_pages else None, on_examined))
    runs = [each.run for each in examined if each.run and not each.problems]
    refused = [each for each in examined if each.problems]
    for each in refused:
        if each.run:
            remove(site, f"runs/{each.run.id}/index.html")
    if not runs:
        first = refused[0]
        raise UsageError(
            f"every run was refused; {first.directory}: {'; '.join(first.problems)}",
            f"rowpath site --check {first.directory}",
        )
    made = list(pages(Site(runs, refused, with_pages)))
    write(site, made, (f"runs/{run.id}/index.html" for run in runs) if with_pages else ())
    return Built(tuple(examined), len(made) + with_pages * len(runs))


def _agreeing(examined: Sequence[Examined]) -> list[Examined]:
    """The runs, with a problem for each whose rows are not those of most runs of the same data."""
    delivered: dict[tuple[str, str], list[str]] = {}
    for each in examined:
        if each.run and not each.problems:
            for where, digest in _rows(each):
                delivered.setdefault(where, []).append(digest)
    usual = {where: Counter(digests).most_common(1)[0][0] for where, digests in delivered.items()}
    found = []
    for each in examined:
        odd = [where[0] for where, digest in _rows(each) if not each.problems and usual[where] != digest]
        if odd:
            problem = f"its rows of {', '.join(odd)} differ from those of the other runs of the same data"
            found.append(msgspec.structs.replace(each, problems=(problem,)))
        else:
            found.append(each)
    return found


def _rows(examined: Examined) -> list[tuple[tuple[str, str], str]]:
    """What a run delivered, by phase with its number of rows, and by the definition of that phase."""
    run = examined.run
    if run is None:
        return []
    return [((where, run.data.get(where.partition(":")[0], "")), digest) for where, digest in run.digests.items()]
