"""`rowpath probe` that measures what it found in one full set, for tests of what paths deliver, refuse or leave behind.

Their proofs are the same whatever is the fastest; test_probe.py measures as many sets as users' probes do.
"""

import sys

from rowpath.cli import probe
from rowpath.probe import full_sets, search
from tests.end_to_end import undisturbed

ONLY_FIRST = "only-first"
ONE_SET = (sys.executable, "-m", "tests.end_to_end.quick_probe")
FIRST_TRIES = (*ONE_SET, ONLY_FIRST)  # each driver in its likeliest setting, layers, and what --mine names: no other

if __name__ == "__main__":
    probe.LEAST_BUDGET_S = 1.0
    full_sets.FULL_SETS = 1
    search.ROUND_BLOCKS = (1, 1)
    if sys.argv[1] == ONLY_FIRST:
        del sys.argv[1]
        full_sets.TRIES_SHARE = full_sets.FURTHER_SHARE = 0.0
    undisturbed.main()
