"""The tests' own packages, also when pytest is not started as `python -m pytest`."""

from __future__ import annotations

import sys

from command import ROOT

if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
