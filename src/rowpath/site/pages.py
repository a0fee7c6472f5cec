"""The pages of a site: what stands on each, and their texts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

from rowpath import text as fmt
from rowpath.drawing.scale import caps
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.report.self_contained import ASSETS, embedded, rendered
from rowpath.site.contents import Link, Site
from rowpath.site.standings import RULE, fastest_of_each, newest_groups, side_by_side

FOLDER = Path(__file__).parent
LEADING = 2  # pictures of an experiment that the front page does not fold
NEWEST = 10  # runs and changes on the front page


class Entry(Frozen, frozen=True):
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
        yield site.page_of("drivers", "/".join(driver)), _driver(site, driver)
    for name in site.experiments:
        yield site.page_of("experiments", name), _experiment(site, name)
    yield (
        "machines.html",
        _render(site, "machines", "Machines side by side", tables=side_by_side(site.runs, site.machines)),
    )
    yield "runs.html", _render(site, "runs", "Runs")


def _front(site: Site) -> str:
    works = []
    for name, listed in grouped(site.standings, lambda each: each.experiment).items():
        pictures = [drawn for each in listed for drawn in site.pictures(each, fastest_of_each(each))]
        newest = max(listed, key=lambda each: each.run.started).run
        works.append((name, newest, pictures[:LEADING], pictures[LEADING:]))
    changes = site.changed(site.histories)
    return _render(
        site,
        "front",
        "Which path for which work?",
        script="search.js",
        works=works,
        rule=RULE,
        changes=changes[:NEWEST],
        more_changes=len(changes) - NEWEST,
        newest=sorted(site.runs, key=lambda run: run.started, reverse=True)[:NEWEST],
        search=Markup(embedded(list(_entries(site)))),
    )


def _entries(site: Site) -> Iterator[Entry]:
    for name in site.engines:
        yield Entry("engine", name, site.page_of("engines", name))
    for driver in site.drivers:
        link = site.driver_link(driver)
        engines = sorted({path.engine for _run, path in site.paths if path.driver_key == driver})
        yield Entry("driver", link.text, link.href, " ".join(engines))
    for name in site.experiments:
        run = max((run for run in site.runs if run.experiment == name), key=lambda run: run.started)
        words = dict.fromkeys(phase.title for phase in run.phases)
        yield Entry("experiment", name, site.page_of("experiments", name), f"{run.title} {' '.join(words)}")
    named: dict[tuple[str, str], str] = {}
    for _run, path in site.paths:
        settings = " ".join(value for value in path.coordinates.values() if value != "none")
        named.setdefault((path.name, site.driver_link(path.driver_key).href), settings)
    for (name, href), settings in named.items():
        yield Entry("path", name, href, settings)
    for run in sorted(site.runs, key=lambda run: run.started, reverse=True):
        where = f"{site.machines[run.machine]} {run.machine.words}"
        yield Entry("run", f"{run.experiment}, {run.date}", site.run_link(run).href, f"{where} {run.id}")


def _engine(site: Site, name: str) -> str:
    standings = [
        (each, [bar for bar in fastest_of_each(each) if each.path(bar).engine == name]) for each in site.standings
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
        changes=site.changed(each for each in site.histories if each.engine == name),
        charts=[],
        undrawn=0,
    )


def _driver(site: Site, driver: tuple[str, str]) -> str:
    standings = []
    for each in site.standings:
        bars = [bar for bar in each.phase.bars if each.path(bar).driver_key == driver]
        standings.append((each, bars[:1]))
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
        links=[Link(name, site.page_of("engines", name)) for name in engines],
        changes=site.changed(each for each in site.histories if each.driver == driver),
        charts=charts,
        undrawn=undrawn,
    )


def _experiment(site: Site, name: str) -> str:
    standings = [each for each in site.standings if each.experiment == name]
    runs = sorted((run for run in site.runs if run.experiment == name), key=lambda run: run.started, reverse=True)
    return _render(
        site,
        "experiment",
        name,
        below=1,
        runs=runs,
        pictures=[drawn for each in standings for drawn in site.pictures(each, each.phase.bars)],
        rule=RULE,
        groups=newest_groups(runs),
        tables=[each for each in side_by_side(site.runs, site.machines) if each.experiment == name],
    )


def _render(site: Site, template: str, title: str, *, below: int = 0, script: str = "", **more: object) -> str:
    style = (ASSETS / "page.css").read_text(encoding="utf-8") + _asset("site.css")
    return rendered(
        FOLDER / "templates",
        f"{template}.html.j2",
        style,
        [_asset(script)] if script else [],
        site=site,
        title=title,
        root="../" * below,
        caps=caps(),
        fmt=fmt,
        exp=math.exp,
        **more,
    )


def _asset(name: str) -> str:
    return (FOLDER / "assets" / name).read_text(encoding="utf-8")
