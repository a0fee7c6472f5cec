"""What tests look at inside workers and their counters: private members are used here, not in the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rowpath.execution.measured import Reading
from rowpath.execution.mixed_load.shared_counters import SharedCounters
from rowpath.execution.worker import Worker


def read(worker: Worker) -> Reading:
    """The CPU times that a sample's figures are differences of."""
    return worker._read()


def slot_of(shared_counters: SharedCounters, group: str, client: int) -> NDArray[np.uint64]:
    return shared_counters._slot(shared_counters.client_groups[group], client)
