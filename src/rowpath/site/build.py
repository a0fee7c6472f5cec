"""From directories of runs to a site: read, check, leave out by name, write."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rowpath.errors import UsageError
from rowpath.model.grouping import grouped
from rowpath.site.contents import Site
from rowpath.site.pages import pages
from rowpath.site.read import Examined, examine_all, run_directories

LISTED = ".rowpath-site"  # which files a build wrote, one a line


@dataclass(frozen=True)
class Built:
    """What a build did."""

    examined: tuple[Examined, ...]
    pages: int

    @property
    def refused(self) -> list[Examined]:
        """The runs that were left out."""
        return [one for one in self.examined if one.problems]


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
    runs = [one.run for one in examined if one.run and not one.problems]
    refused = [one for one in examined if one.problems]
    for run in (one.run for one in refused if one.run):
        remove(site, f"runs/{run.id}/index.html")
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
    delivered = {  # by phase with its number of rows, and by the definition of that phase
        id(one): {
            (where, one.run.data.get(where.partition(":")[0], "")): digest for where, digest in one.run.digests.items()
        }
        for one in examined
        if one.run and not one.problems
    }
    digests = grouped([item for of_run in delivered.values() for item in of_run.items()], lambda item: item[0])
    usual = {where: Counter(digest for _, digest in items).most_common(1)[0][0] for where, items in digests.items()}
    judged = []
    for one in examined:
        odd = [where[0] for where, digest in delivered.get(id(one), {}).items() if usual[where] != digest]
        problem = f"its rows of {', '.join(odd)} differ from those of the other runs of the same data"
        judged.append(msgspec.structs.replace(one, problems=(problem,)) if odd else one)
    return judged


def prepare(site: Path) -> None:
    """The directory, made where it is missing; UsageError where it holds files that no build of Rowpath wrote."""
    if site.exists() and not site.is_dir():
        raise UsageError(f"{site} is a file", "name a directory with -o SITE")
    if (site / "index.html").exists() and not (site / LISTED).exists():
        raise UsageError(f"{site} has an index.html that Rowpath did not write", "name another directory with -o SITE")
    try:
        site.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot(site, error) from error


def write(site: Path, pages: Iterable[tuple[str, str]], reports: Iterable[str]) -> None:
    """Write pages, each at once, keep these reports, and remove what an earlier build wrote and this one did not."""
    try:
        lines = (site / LISTED).read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    # Nothing outside the site.
    before = {line for line in lines if line and ".." not in Path(line).parts and not Path(line).is_absolute()}
    written = set(reports)
    try:
        for address, text in pages:
            file = site / address
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_name(f".{file.name}.part")
            beside.write_text(text, encoding="utf-8", newline="\n")
            beside.replace(file)
            written.add(address)
        for address in sorted(before - written):
            remove(site, address)
        (site / LISTED).write_text("".join(f"{address}\n" for address in sorted(written)), encoding="utf-8")
    except OSError as error:
        raise _cannot(site, error) from error


def remove(site: Path, address: str) -> None:
    """Remove one file of a site, and folders that it leaves empty."""
    file = site / address
    file.unlink(missing_ok=True)
    for folder in file.relative_to(site).parents:
        if folder != Path() and (site / folder).is_dir() and not os.listdir(site / folder):  # noqa: PTH208
            (site / folder).rmdir()


def _cannot(site: Path, error: OSError) -> UsageError:
    return UsageError(f"cannot write {error.filename or site}: {error.strerror}", "name another directory with -o SITE")
