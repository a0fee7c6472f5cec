"""`rowpath` that takes every block as undisturbed: other tests run beside it, and their noise is not what is tested."""

import math
import sys

from rowpath.cli.main import main
from rowpath.execution import core_share

core_share.ACCOUNTED_LEAST = -1.0
core_share.WAIT_MOST = core_share.FOREIGN_MOST = math.inf

if __name__ == "__main__":
    sys.exit(main())
