"""`python -m rowpath` is the command line."""

import sys

from rowpath.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
