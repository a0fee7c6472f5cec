"""Groups of clients of the C runner beyond what every language does: over a socket, and when the runner must end."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rowpath.machine import c_compiler
from tests.runners.protocol import group_cases
from tests.runners.protocol.group_talk import NOTHING, Group, subject

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")


def test_over_a_socket(tmp_path: Path) -> None:
    with subject("c", "ping", tmp_path) as ready:
        group_cases.closed_counts(ready)


QUEUE = """
#include <stdio.h>
#include "adapter.h"
#include "pacing.h"
int main(void) {
    uint64_t callers[3], joined[] = {30, 20, 40}, number, due_ns;
    rp_queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .callers = callers, .population = 3, .most = 6};
    for (int i = 0; i < 3; i++)
        rp_queue_join(&queue, joined[i]);
    while (rp_queue_take(&queue, 10, &number, &due_ns))
        printf("%d %d\\n", (int)number, (int)due_ns);
    return 0;
}
"""


def test_callers_that_come_in_another_order_than_they_ended_in_are_due_in_the_order_of_the_queue(
    tmp_path: Path,
) -> None:
    core, program = Path(__file__).parents[3] / "runners" / "c" / "core", tmp_path / "queue"
    program.with_suffix(".c").write_text(QUEUE)
    flags = ["-std=c11", "-D_GNU_SOURCE", f"-I{core}", "-pthread", "-o", str(program)]
    sources = [str(program.with_suffix(".c")), str(core / "pacing.c")]
    subprocess.run([*c_compiler.words(), *flags, *sources, "-lm"], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    assert done.splitlines() == ["0 10", "1 10", "2 10", "3 30", "4 30", "5 40"]


def test_a_runner_that_is_told_to_end_stops_its_groups(tmp_path: Path) -> None:
    with (
        subject("c", "null", tmp_path) as null,
        null.talk(clients=2, stall_ns="20000000", stall_every="1") as talk,
    ):
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, "works"), Group(NOTHING, "pauses", pause_ns=10**12)) as working:
            working.begin()
            working.wait(
                lambda: all(working.shared_counters.snapshot(name, 0).operations for name in ("works", "pauses"))
            )
            talk.runner.stop()
            assert talk.runner.process.returncode == 0
