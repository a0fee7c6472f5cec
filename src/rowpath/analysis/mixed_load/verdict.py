"""The sentences of the verdict about groups at work at once."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.wording import ratio_text, words
from rowpath.analysis.mixed_load.model import GroupRatio, HostWork, MixedLoadReport
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.model.grouping import grouped

LONGEST = 4  # figures in one sentence


def sentences(report: MixedLoadReport | None) -> tuple[str, ...]:
    """Lost hosts, backups' effect, embedded beside server, latencies, bytes, missed rates, backups, lost writes."""
    if report is None:
        return ()
    kinds = (_losses, _effects, _ratios, _latencies, _traffic, _rates, _backups, _acknowledged, _moves, _sweeps)
    return tuple(sentence for kind in kinds for sentence in kind(report))


def uncertain(report: MixedLoadReport | None) -> Iterator[str]:
    """That there are fewer sets than claims need."""
    sets = max((each.sets for each in report.figures), default=SETS_FOR_CLAIMS) if report else SETS_FOR_CLAIMS
    if sets < SETS_FOR_CLAIMS:
        yield f"Provisional: {sets} {'sets' if sets > 1 else 'set'}, and claims need {SETS_FOR_CLAIMS}."


def _losses(report: MixedLoadReport) -> Iterator[str]:
    """One sentence for each host that was lost in a stage."""
    for (host, stage), lost in grouped((each for each in report.hosts if each.lost), _where).items():
        done = words(f"{text.count(each.operations)} operations of {each.client_group}" for each in lost)
        yield f"Host {host} was lost in '{stage}', which is incomplete; it had done {done}."


def _where(each: HostWork) -> tuple[str, str]:
    return each.host, each.stage


def _effects(report: MixedLoadReport) -> Iterator[str]:
    """One sentence for each path and stage with a backup: what happened to each of its groups."""
    found = grouped(report.effects, lambda effect: (effect.name, effect.stage))
    for (name, stage), effects in found.items():
        several = sum(other == name for other, _stage in found) > 1
        listed = [
            f"{each.client_group} go from {text.rate(each.outside_per_s)} to {text.rate(each.inside_per_s)}, "
            f"{ratio_text(each.ratio, each.low, each.high)}"
            for each in effects
        ]
        where = f" in '{stage}'" if several else ""
        yield f"During a backup of {name}{where}: {words(listed)}."


def _ratios(report: MixedLoadReport) -> Iterator[str]:
    """One sentence for each pair of paths: the groups that the server's way changes most."""
    found = grouped(report.ratios, lambda each: (each.server, each.embedded))
    for (server, embedded), ratios in found.items():
        sure = sorted((each for each in ratios if _surely(each)), key=lambda each: -abs(math.log(each.ratio)))
        if all(each.low is None for each in ratios):
            yield f"{server} vs {embedded}: only one set, so no confidence interval and no claim."
            continue
        if not sure:
            yield f"{server} vs {embedded}: no significant difference in throughput in any stage."
            continue
        listed = [
            f"{each.client_group} in '{each.stage}' {ratio_text(each.ratio, each.low, each.high)}"
            for each in sure[:LONGEST]
        ]
        rest = len(ratios) - len(sure)
        more = f"; for {rest} of {len(ratios)} the difference is uncertain" if rest else ""
        yield f"Throughput of {server} ÷ {embedded}: {words(listed)}{more}."


def _surely(ratio: GroupRatio) -> bool:
    return ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high


def _latencies(report: MixedLoadReport) -> Iterator[str]:
    """One sentence for each group in open loop and each rate: of every path the stage with the longest tail."""
    found: dict[tuple[str, float], dict[str, tuple[int, str]]] = {}
    for each in report.figures:
        tail = each.latency.p99_ns if each.latency else None
        if tail is not None and each.requested_per_s:
            paths = found.setdefault((each.client_group, each.requested_per_s), {})
            paths[each.name] = max(paths.get(each.name, (0, "")), (tail, each.stage), key=lambda found: found[0])
    for (group, requested_per_s), paths in found.items():
        listed = [
            f"{text.duration(tail)} on {name} ('{where}')"
            for name, (tail, where) in sorted(paths.items(), key=lambda path: path[1][0])
        ]
        rest = len(listed) - LONGEST
        more = f"; {rest} more paths take longer" if rest > 0 else ""
        rate = text.rate(requested_per_s)
        yield (
            f"At {rate} the p99 latency of {group} (from scheduled start, slowest stages) was "
            f"{words(listed[:LONGEST])}{more}."
        )


def _traffic(report: MixedLoadReport) -> Iterator[str]:
    """What an operation takes on our connections, where only one group was at work."""
    at_work = grouped(report.figures, lambda figure: (figure.path_id, figure.stage))
    found: dict[str, list[str]] = {}
    for each in report.stages:
        groups = at_work.get((each.path_id, each.stage), [])
        if each.bytes_per_operation is not None and len(groups) == 1:
            each_takes = f"{text.size(each.bytes_per_operation)} for each operation of {groups[0].client_group}"
            found.setdefault(each.name, []).append(f"{each_takes} ({text.size(each.traffic_bytes_per_s)}/s)")
    for name, listed in found.items():
        yield f"On the connections of {name}: {words(list(dict.fromkeys(listed))[:LONGEST])}."


def _rates(report: MixedLoadReport) -> Iterator[str]:
    missed = [each for each in report.figures if not each.reached and not each.cut]
    if missed:
        listed = [
            f"{each.client_group} of {each.name} in '{each.stage}' "
            f"({text.rate(each.rate_per_s)} of {text.rate(each.requested_per_s)})"
            for each in missed
        ]
        more = f" and {len(listed) - LONGEST} more" if len(listed) > LONGEST else ""
        yield f"Rate not reached, so latency percentiles are withheld: {words(listed[:LONGEST])}{more}."


def _backups(report: MixedLoadReport) -> Iterator[str]:
    made, failed = sum(each.made for each in report.backups), sum(each.failed for each in report.backups)
    restored, stopped = (sum(getattr(each, key) for each in report.backups) for key in ("restored", "stopped"))
    if made or failed or stopped:
        bad = f"; {failed} failed or could not be restored" if failed else ""
        bad += f"; {stopped} more were stopped: the engine was killed on purpose, or the run ended" if stopped else ""
        count = "1 backup was" if made == 1 else f"{made} backups were"
        yield f"{count} made, {restored} of them restored and verified{bad}."


_WHEN = {"end": "at the end", "kill": "after the engine was killed", "backup": "in restored backups"}


def _acknowledged(report: MixedLoadReport) -> Iterator[str]:
    found = grouped(report.checks, lambda check: (check.when, check.durability))
    for (when, durability), checks in found.items():
        writes, lost = sum(each.writes for each in checks), sum(each.lost for each in checks)
        doubled, doubt = sum(each.doubled for each in checks), sum(each.in_doubt for each in checks)
        recovered = [each.recovery_s for each in checks if each.recovery_s is not None]
        outcome = f"{text.count(lost)} were lost" if lost else "none was lost"
        twice = f", {text.count(doubled)} were applied more than once" if doubled else ""
        unsure = f", {text.count(doubt)} more were in doubt" if doubt else ""
        back = f"; it replied again after up to {text.duration(max(recovered) * 1e9)}" if recovered else ""
        yield (
            f"Of {text.count(writes)} acknowledged writes checked {_WHEN[when]} (durability={durability}) "
            f"{outcome}{twice}{unsure}{back}."
        )


def _moves(report: MixedLoadReport) -> Iterator[str]:
    copied: dict[tuple[str, str], list[str]] = {}
    for move in report.moves:
        if move.ok:
            copied.setdefault((move.source, text.size(move.bytes)), []).append(move.target)
        else:
            yield f"A database of {move.source} differs in {move.target}: {move.reason or 'a different digest'}."
    for (source, size), targets in copied.items():
        opened = words(dict.fromkeys(targets))
        yield f"A database of {source}, copied ({size}) and opened by {opened}, holds the same rows."


def _sweeps(report: MixedLoadReport) -> Iterator[str]:
    for sweep in report.rate_searches:
        bound = f"a p99 latency under {text.duration(sweep.bound_ns)}"
        if sweep.highest_per_s is None:
            yield f"{sweep.name}: no tried rate of {sweep.client_group} kept {bound}."
        else:
            more = "" if sweep.bounded else ", the highest rate tried: the path may reach more"
            yield f"{sweep.name}: {sweep.client_group} keep {bound} up to {text.rate(sweep.highest_per_s)}{more}."
