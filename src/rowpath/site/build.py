"""From directories of runs to a site: read, check, leave out by name, write; and what stands on each page."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup

from rowpath import text as fmt
from rowpath.drawing.scale import caps
from rowpath.errors import UsageError
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.report.self_contained import embedded, rendered
from rowpath.site.contents import PageLink, Site
from rowpath.site.read import Examined, examine_all, run_directories
from rowpath.site.standings import RULE, fastest_of_each, newest_groups, side_by_side

LISTED = ".rowpath-site"  # which files a build wrote, one a line

FOLDER = Path(__file__).parent
LEADING = 2  # pictures of an experiment that the front page does not fold
NEWEST = 10  # runs and changes on the front page


class SearchEntry(Frozen, frozen=True):
    """What the search finds: kind, title, address, further words."""

    k: str
    t: str
    u: str
    w: str = ""


def pages(site: Site) -> Iterator[tuple[str, str]]:
    """Address and text of every page but the runs' reports."""
    yield "index.html", _front(site)
    for name in site.engines:
        yield site.page_of("engines", name), _engine(site, name)
    for driver in site.drivers:
        yield site.driver_link(driver).href, _driver(site, driver)
    for name in site.experiments:
        yield site.page_of("experiments", name), _experiment(site, name)
    tables = side_by_side(site.runs, site.machines)
    yield "machines.html", _render(site, "machines", "Machines side by side", tables=tables)
    yield "claims.html", _render(site, "claims", "Published claims")
    yield "runs.html", _render(site, "runs", "Runs")


def _front(site: Site) -> str:
    works = []
    for name, listed in grouped(site.standings, lambda standing: standing.experiment).items():
        pictures = [drawn for one in listed for drawn in site.pictures(one, fastest_of_each(one))]
        newest = max(listed, key=lambda standing: standing.run.started).run
        works.append((name, newest, pictures[:LEADING], pictures[LEADING:]))
    changes = site.changed(site.histories)
    return _render(
        site,
        "front",
        "Which path for which work?",
        "search.js",
        works=works,
        rule=RULE,
        changes=changes[:NEWEST],
        more_changes=len(changes) - NEWEST,
        newest=sorted(site.runs, key=lambda run: run.started, reverse=True)[:NEWEST],
        search=Markup(embedded(list(_entries(site)))),
    )


def _entries(site: Site) -> Iterator[SearchEntry]:
    for name in site.engines:
        yield SearchEntry("engine", name, site.page_of("engines", name))
    for driver in site.drivers:
        link = site.driver_link(driver)
        engines = sorted({path.engine for _run, path in site.paths if path.driver_key == driver})
        yield SearchEntry("driver", link.text, link.href, " ".join(engines))
    for name in site.experiments:
        run = max((run for run in site.runs if run.experiment == name), key=lambda run: run.started)
        words = dict.fromkeys(phase.title for phase in run.phases)
        yield SearchEntry("experiment", name, site.page_of("experiments", name), f"{run.title} {' '.join(words)}")
    named: dict[tuple[str, str], str] = {}
    for _run, path in site.paths:
        settings = " ".join(value for value in path.coordinates.values() if value != "none")
        named.setdefault((path.name, site.driver_link(path.driver_key).href), settings)
    for (name, href), settings in named.items():
        yield SearchEntry("path", name, href, settings)
    for run in sorted(site.runs, key=lambda run: run.started, reverse=True):
        where = f"{site.machines[run.machine]} {run.machine.words}"
        yield SearchEntry("run", f"{run.experiment}, {run.date}", site.run_link(run).href, f"{where} {run.id}")


def _engine(site: Site, name: str) -> str:
    standings = [
        (standing, [bar for bar in fastest_of_each(standing) if standing.path(bar).engine == name])
        for standing in site.standings
    ]
    own = [(run, path) for run, path in site.paths if path.engine == name]
    return _render(
        site,
        "subject",
        name,
        kind="engine",
        below=1,
        works=site.works(standings),
        facts=(
            f"versions {', '.join(dict.fromkeys(path.engine_version for _run, path in own if path.engine_version))}",
            ", ".join(dict.fromkeys(path.deployment for _run, path in own)),
            fmt.counted(len({run.id for run, _path in own}), "run"),
        ),
        links=[site.driver_link(driver) for driver in sorted({path.driver_key for _run, path in own})],
        changes=site.changed(history for history in site.histories if history.engine == name),
        charts=[],
        undrawn=0,
    )


def _driver(site: Site, driver: tuple[str, str]) -> str:
    standings = [
        (standing, [bar for bar in standing.phase.bars if standing.path(bar).driver_key == driver][:1])
        for standing in site.standings
    ]
    own = [(run, path) for run, path in site.paths if path.driver_key == driver]
    charts, undrawn = site.charts(driver)
    engines = sorted({path.engine for _run, path in own})
    return _render(
        site,
        "subject",
        site.driver_link(driver).text,
        kind="driver",
        below=1,
        works=site.works(standings),
        facts=(
            f"versions {', '.join(dict.fromkeys(path.version for _run, path in own))}",
            fmt.counted(len({run.id for run, _path in own}), "run"),
        ),
        links=[PageLink(name, site.page_of("engines", name)) for name in engines],
        changes=site.changed(history for history in site.histories if history.driver == driver),
        charts=charts,
        undrawn=undrawn,
    )


def _experiment(site: Site, name: str) -> str:
    standings = [standing for standing in site.standings if standing.experiment == name]
    runs = sorted((run for run in site.runs if run.experiment == name), key=lambda run: run.started, reverse=True)
    return _render(
        site,
        "experiment",
        name,
        below=1,
        runs=runs,
        pictures=[drawn for standing in standings for drawn in site.pictures(standing, standing.phase.bars)],
        rule=RULE,
        groups=newest_groups(runs),
        tables=[table for table in side_by_side(site.runs, site.machines) if table.experiment == name],
    )


def _render(site: Site, template: str, title: str, *scripts: str, below: int = 0, **more: Any) -> str:
    return rendered(
        FOLDER,
        f"{template}.html.j2",
        "site.css",
        *scripts,
        site=site,
        title=title,
        root="../" * below,
        caps=caps(),
        fmt=fmt,
        exp=math.exp,
        **more,
    )


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
