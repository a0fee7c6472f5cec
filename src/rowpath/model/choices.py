"""What options choose among, and their defaults; of the standard library only, so that --help needs no package."""

from __future__ import annotations

# Coordinates that split comparisons unless an option joins them; durability always does.
TOGETHER = ("fetch", "pipeline", "threads", "tls", "link", "clients", "placement")
WAIT_FOR_QUIET_S = 60.0  # in a whole run, until other programs leave the measured cores
TIMEOUT_S = 120.0  # longest single request to a runner
