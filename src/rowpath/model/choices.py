"""What options choose among, and their defaults; of the standard library only, so that --help needs no package."""

from __future__ import annotations

# Coordinates that split comparisons unless an option joins them; durability always does.
TOGETHER = ("fetch", "pipeline", "threads", "tls", "link", "clients", "placement")
WAIT_FOR_QUIET_S = 60.0  # in a whole run, until other programs leave the measured cores
TIMEOUT_S = 120.0  # longest single request to a runner
# What a comparison may be about, as long as a path has only one such difference.
QUESTIONS = ("driver", "engine", "library", "runtime", "system", "rowpath")
# Differences that make figures incomparable, each refused until it is named.
REFUSED = ("machine", "measure", "scale", "data", "rows", "durability", "placement")
DIFFERENCES = (*QUESTIONS, *REFUSED)
