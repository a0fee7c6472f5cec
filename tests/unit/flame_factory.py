"""Made-up call stacks of two sides, for tests of what is drawn of them."""

from __future__ import annotations

from rowpath.model.explanation import Flame, Frame, Part, SideStacks, Stack

MAIN, EXEC = Frame("main", "our loop and adapter"), Frame("PQexecPrepared", "libpq")
SEND, SYSCALL = Frame("__send <x>&", "C library"), Frame("tcp_sendmsg", "kernel")
SERVER, RUN = Frame("PostgresMain", "postgres"), Frame("PortalRun", "postgres")
CLIENT: dict[Stack, int] = {
    (MAIN, EXEC, SEND, SYSCALL): 6000,
    (MAIN, EXEC): 3995,
    (MAIN,): 4,
    (MAIN, Frame("rare", "libpq")): 1,
}


def flame(name: str = "PostgreSQL C", libpq_ns: float = 4_000.0, notes: tuple[str, ...] = (), **path: str) -> Flame:
    """A path whose client spends that much in libpq."""
    parts = (
        Part("client", "libpq", libpq_ns, "a clock"),
        Part("client", "kernel", 6_000.0, "a clock"),
        Part("server", "postgres", 20_000.0, "a clock"),
        Part("core", "waiting", 1_000.0, "a clock"),
    )
    client = SideStacks("client", libpq_ns + 6_000.0, "perf", CLIENT)
    server = SideStacks("server", 20_000.0, "perf", {(SERVER, RUN): 50, (SERVER,): 50})
    return Flame(name, "keyed.read", path, libpq_ns + 27_000.0, parts, (client, server), notes)
