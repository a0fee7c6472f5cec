"""The pages of a site: what stands on each, and their texts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from rowpath import text as fmt
from rowpath.drawing.scale import caps
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.report.self_contained import embedded, rendered
from rowpath.site.contents import PageLink, Site
from rowpath.site.standings import RULE, fastest_of_each, newest_groups, side_by_side

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
