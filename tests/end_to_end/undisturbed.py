"""`rowpath` beside other tests: see tests/side_by_side.py."""

import os
import sys

from rowpath.cli.main import main as rowpath
from tests import side_by_side


def main() -> None:
    """The command line, which ends the process."""
    if "PYTEST_XDIST_WORKER" in os.environ:  # not in tests that measure, one after the other
        side_by_side.take_cores_from(os.getpid())
        side_by_side.start_jvms_quickly()
    side_by_side.take_every_block_as_undisturbed()
    sys.exit(rowpath())


if __name__ == "__main__":
    main()
