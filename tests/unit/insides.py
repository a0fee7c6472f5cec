"""What unit tests look at or change inside our own objects: private members are used here, not in the tests."""

from __future__ import annotations

from rowpath.api import Run
from rowpath.execution.mixed_load.stage import Stage
from rowpath.hosts.agent import Agent
from rowpath.hosts.host_run import HostRun
from rowpath.hosts.network import WayWatch
from rowpath.machine import processes
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.planning import selection
from rowpath.runners import manifest


def forget_manifests() -> None:
    """Only our own languages and adapters remain."""
    manifest._external.clear()
    manifest._external_languages.clear()


def forget_axes() -> None:
    """The environment is looked at again: it is read once in a process."""
    selection._axes.cache_clear()


def answered(watch: WayWatch) -> set[str]:
    """The hosts that have answered once."""
    return set(watch._answered)


def pending(watch: WayWatch) -> dict[str, tuple[int, float]]:
    """By host the request without an answer: its descriptor, and when it was sent."""
    return {name: (asked.fileno(), since_s) for name, (asked, since_s) in watch._pending.items()}


def watch_port(watch: WayWatch, port: int) -> None:
    """Send the next requests to this port."""
    watch._port = port


def take_part(agent: Agent, run: HostRun) -> None:
    """Let the agent be ready, with this run on its host."""
    agent._made_ready, agent._run = True, run


def begin_interval(stage: Stage, begin_ns: int) -> None:
    """As if the stage had begun at this time."""
    stage.begin_ns = stage._second_begin_ns = begin_ns


def end_interval(stage: Stage, now_ns: int) -> None:
    """Let the stage look at its groups."""
    stage._look(now_ns)


def interval_begin_ns(stage: Stage) -> int:
    return stage._second_begin_ns


def child(pid: int) -> processes.Process:
    """A process that we started and that lives."""
    return processes._living[pid]


def process_of(proxy: Proxy) -> processes.Process:
    return proxy._process


def notebook_html(run: Run) -> str:
    """What a notebook shows of a run: the method's name is the notebook's."""
    return run._repr_html_()
