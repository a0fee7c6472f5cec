"""What each driver does when it breaks, and how long it takes.

A driver works through a proxy of ours; the proxy breaks its connection in the middle of an operation. Nothing is judged
here: a cell says what was seen.

- `kinds`: the faults, by number. `workload.toml`: what is broken: a scan, reads by key, single writes.
- `proxy`: what breaks a connection at a byte or an answer, in one of seven ways.
- `bench`: the servers, by role, and the observer on a connection of its own.
- `cells`: one cell: which trial measures it. `trial`: what all have: a fresh runner process, one fault, its end, what
  becomes of the connection. `broken`, `results`, `stopped`, `openings`: the faults' own flows.
- `memory_limit`: how a client's memory is made too small.
- `matrix`: which cells there are; each is written down as it ends.
"""
