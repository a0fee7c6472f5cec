"""A conversation with a server as a file: format, recording proxy, replay server.

In comes what a client and a server send each other; out comes a tape, and from a tape the server's part again.

`proxy` stands between both and hands every byte to a `conversation`, of which each protocol has one: `postgresql`,
`mysql`, `drda`. It pairs requests with their replies, leaves out who logs in where, refuses what no tape can hold, and
replaces values by `scrub` where that is asked for. The pairs become records of `format`, which writes and reads the
file: a line with its version, a checksum, Zstandard frames. `replay_server` starts the program that serves the records,
which is written in C (runners/c/tools/replay).

The engine that a run gets in a server's place is `rowpath.engines.taped`.
"""
