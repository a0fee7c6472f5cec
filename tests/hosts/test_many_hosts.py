"""Many hosts without work: calls grow with hosts, not faster, and a late host delays no other one's begin."""

from __future__ import annotations

import pytest
from bench import many_hosts
from bench.many_hosts import Found

from rowpath.hosts import reach
from tests.hosts.conftest import require

HOSTS = reach.AT_ONCE + 1
LOADS = HOSTS - 1  # one has the server
HELD = 4
SECONDS = 4.0


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """One stage of three groups; one host takes the word to begin only when all others have begun."""
    require()
    return many_hosts.found_of(tmp_path_factory.mktemp("many") / "hosts", HOSTS, SECONDS, HELD)


def test_a_late_host_delays_no_other_ones_begin(found: Found) -> None:
    assert found.released, "hosts waited for the word while another one kept it"


def test_all_groups_of_a_host_begin_by_one_call(found: Found) -> None:
    # Beside it what the server and backups use is read before.
    assert found.calls_to_begin == LOADS + 2


def test_a_look_takes_two_calls_to_each_host(found: Found) -> None:
    assert len(found.calls_of_looks) >= 2
    # States, and counters with what processes use; of the server's host what it and backups use.
    assert set(found.calls_of_looks) == {2 * LOADS + 2}


def test_each_host_is_asked_once_for_its_helpers_and_to_take_its_cores(found: Found) -> None:
    assert found.calls_for_cores == {"load.helpers_cpu_ns": LOADS, "load.take_cores": LOADS}


def test_hosts_are_joined_by_one_call_each(found: Found) -> None:
    assert found.calls_to_join == HOSTS
