"""LMDB: one memory-mapped file in the client's own process, reached by key or by number, without SQL."""

from __future__ import annotations

from rowpath.engines.files.records import RecordEngine


class Lmdb(RecordEngine):
    """The kind of engine. Durability full: each commit is synced; none: the environment is opened with MDB_NOSYNC."""

    name = "lmdb"
    order = 41
    title = "LMDB"
    library = ("liblmdb.so.0", "mdb_version")


ENGINE = Lmdb()
