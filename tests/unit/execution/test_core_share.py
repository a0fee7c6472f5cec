"""Who had the core of a block: the path itself, another process, the hypervisor, or nobody because the path waited."""

import os
from typing import Any

import pytest

from rowpath.execution import measured, warm_up
from rowpath.execution.measured import CoreShare, WindowSpent, capped, sentence
from rowpath.machine import cpus
from rowpath.machine.counters.core_users import Look
from rowpath.model.core_user import CoreUser

MS = 1_000_000
WINDOW_NS = 10 * MS
GCC = CoreUser("program", "gcc", 4 * MS)
Looks = tuple[Look, Look]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[CoreUser]:
    """What the collector reports; tests fill it."""
    found: list[CoreUser] = []
    monkeypatch.setattr(measured, "users", lambda *_: list(found))
    return found


def looks(stolen_ns: int = 0, idle_ns: int = 0) -> Looks:
    return Look(0, {}, 0, 0), Look(WINDOW_NS, {}, stolen_ns, idle_ns)


def spent(client_ns: int, **more: Any) -> WindowSpent:
    return WindowSpent(**({"window_ns": WINDOW_NS, "client_ns": client_ns, "server_ns": 0, "wait_ns": None} | more))


def share() -> CoreShare:
    return CoreShare(frozenset({1}), frozenset({os.getpid()}))


def test_a_window_that_cpu_accounts_for_is_the_paths_own(seen: list[CoreUser]) -> None:
    seen.append(GCC)
    assert share().of_one_core(spent(6 * MS, server_ns=int(3.6 * MS)), *looks()) == ([], 0)


def test_another_process_is_named_up_to_what_is_missing(seen: list[CoreUser]) -> None:
    seen.append(GCC)
    found, waited = share().of_one_core(spent(7 * MS), *looks())
    assert found == [CoreUser("program", "gcc", 3 * MS)]
    assert waited == 0
    assert sentence(found, WINDOW_NS) == "30% of the window went to gcc"


def test_the_greatest_user_is_the_reason() -> None:
    users = [CoreUser("program", "gcc", MS), CoreUser("hypervisor", "", 3 * MS)]
    assert sentence(users, WINDOW_NS) == "30% of the window went to the hypervisor"
    assert sentence([], WINDOW_NS) == ""


def test_an_idle_core_is_waiting_of_the_paths_own(seen: list[CoreUser]) -> None:
    assert share().of_one_core(spent(2 * MS), *looks(idle_ns=8 * MS)) == ([], 8 * MS)


def test_stolen_time_is_the_hypervisors(seen: list[CoreUser]) -> None:
    found, _ = share().of_one_core(spent(2 * MS), *looks(stolen_ns=10 * MS))
    assert found == [CoreUser("hypervisor", "", 8 * MS)]


def test_what_nobody_shows_stays_unknown_and_disturbs(seen: list[CoreUser]) -> None:
    found, _ = share().of_one_core(spent(8 * MS), *looks())
    assert found == [CoreUser("unknown", "", 2 * MS)]


def test_clock_ticks_are_summed_before_they_decide(seen: list[CoreUser]) -> None:
    """An idle millisecond shows as a tick of ten in one block of ten."""
    judge = share()
    verdicts = [judge.of_one_core(spent(9 * MS), *looks(idle_ns=10 * MS * (n == 2))) for n in range(4)]
    assert [bool(found) for found, _ in verdicts] == [True, True, False, False]


def test_ready_but_not_running_is_attributed(seen: list[CoreUser]) -> None:
    assert share().by_waiting(spent(0, wait_ns=MS // 10), *looks()) == []
    seen.append(GCC)
    assert share().by_waiting(spent(0, wait_ns=MS), *looks()) == [CoreUser("program", "gcc", MS)]


def test_waiting_for_the_server_on_the_same_core_is_the_paths_own(seen: list[CoreUser]) -> None:
    judge, own = share(), spent(3 * MS, server_ns=6 * MS, wait_ns=4 * MS)
    assert judge.by_waiting(own, *looks(), with_server=True) == []
    seen.append(GCC)
    assert judge.by_waiting(own, *looks(), with_server=True) == [CoreUser("program", "gcc", MS)]
    unknown = judge.by_waiting(spent(0, server_ns=MS, wait_ns=8 * MS), *looks(), with_server=True)
    assert unknown == [CoreUser("program", "gcc", 4 * MS), CoreUser("unknown", "", 3 * MS)]
    assert judge.by_waiting(spent(MS, server_ns=None, wait_ns=8 * MS), *looks(), with_server=True) == [GCC]


def test_the_kernel_writes_what_a_path_wrote(seen: list[CoreUser]) -> None:
    seen.append(CoreUser("kernel", "kworker: ext4-rsv-conversion", MS))
    judge, own = share(), spent(5 * MS, wait_ns=MS)
    assert judge.by_waiting(own, *looks(), writes=True) == []
    assert judge.by_waiting(own, *looks()) == seen
    more = spent(5 * MS, wait_ns=2 * MS)
    assert judge.by_waiting(more, *looks(), writes=True) == [CoreUser("unknown", "", MS)]


def test_every_core_is_shared_by_client_and_server(seen: list[CoreUser]) -> None:
    judge = CoreShare(frozenset({0, 1}), frozenset())
    seen.append(CoreUser("ours", "java", 100 * MS))
    before, after = Look(0, {}, 0, 0), Look(200 * MS, {}, 0, 0)
    own = WindowSpent(200 * MS, 180 * MS, 180 * MS, None)
    assert judge.of_every_core(own, before, after) == []
    half = WindowSpent(200 * MS, 120 * MS, 120 * MS, None)
    assert next(user.kind for user in judge.of_every_core(half, before, after)) == "ours"


def test_the_greatest_are_kept_within_the_time() -> None:
    many = [CoreUser("program", str(n), 5) for n in range(9)]
    assert [user.ns for user in capped(many, 12)] == [5, 5, 2]


@pytest.mark.parametrize(("usable", "spare"), [((0,), (0,)), ((0, 1), (0,)), ((0, 1, 2), (1,)), ((0, 1, 2, 3), (1, 2))])
def test_spare_cores_are_those_that_no_placement_measures(
    usable: tuple[int, ...], spare: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpus, "usable", lambda: usable)
    assert cpus.spare_cpus() == spare
    assert bool(cpus.not_kept_apart(["same"])) is (len(usable) == 1)
    assert bool(cpus.not_kept_apart(["same", "split"])) is (len(usable) < 3)


def waiting(monkeypatch: pytest.MonkeyPatch, idle_shares: list[float]) -> None:
    """Let each look find the core idle for so much of the time since the one before."""
    state = {"at": 0, "idle": 0}

    def look(_cpus: object) -> Look:
        return Look(state["at"], {}, 0, state["idle"])

    def sleep(seconds: float) -> None:
        state["at"] += round(seconds * 1e9)
        state["idle"] += round(seconds * 1e9 * idle_shares.pop(0))

    monkeypatch.setattr(warm_up, "look", look)
    monkeypatch.setattr(warm_up, "users", lambda *_: [GCC])
    monkeypatch.setattr(warm_up.time, "sleep", sleep)


def test_a_run_waits_until_the_core_is_quiet_and_names_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting(monkeypatch, [0.1, 0.2, 0.99])
    notes: list[str] = []
    assert warm_up.Patience().wait_for_quiet(frozenset({1}), notes.append)
    assert notes == ["the measured core is 90% busy (gcc): waiting until it is quiet, at most 60 s"]


def test_a_run_waits_for_a_limited_time_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting(monkeypatch, [0.0] * 10)
    patience = warm_up.Patience(left_s=2.0)
    assert not patience.wait_for_quiet(frozenset({1}), lambda _note: None)
    assert patience.left_s == 0
    assert not patience.wait_for_quiet(frozenset({1}), lambda _note: None)


def test_what_a_server_of_others_had_is_no_neighbours(seen: list[CoreUser]) -> None:
    seen.append(CoreUser("program", "gcc", MS))
    waiting = spent(4 * MS, server_ns=None, wait_ns=3 * MS)
    assert share().by_waiting(waiting, *looks(), with_server=True, others_ns=3 * MS) == []
    found = share().by_waiting(waiting, *looks(), with_server=True, others_ns=MS)
    assert found == [CoreUser("program", "gcc", MS)]
