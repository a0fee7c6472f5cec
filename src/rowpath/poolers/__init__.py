"""Poolers between a client and its server: which there are, and what each must offer.

What flows in is a running server (its instance), the path that goes through, and how many clients connect at once. What
flows out is a process of ours on loopback with a port, which the runner connects to instead of the server's own.

`pooler` is what they share: a private server like those of `engines`, with the server's own login, a program that the
system or a variable names, and room for as many files as its clients need. `programs` has each one's settings and
command line. `attempts` are the statements by which `execution` tries what becomes of a session behind one. A new
pooler is a class there and an entry in `POOLERS`; planning, the verification pass and reports take it from here.

A pooler knows no driver. What a driver must be told behind one stands in its manifest entry, as `unprepared`.
"""

from __future__ import annotations

from rowpath.poolers.pooler import Pooler
from rowpath.poolers.programs import HaProxy, PgBouncer, PgPool

POOLERS: dict[str, type[Pooler]] = {kind.name: kind for kind in (PgBouncer, PgPool, HaProxy)}
