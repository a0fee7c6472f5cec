"""Berkeley DB: record files in the client's own process, reached by key or by number, without SQL."""

from __future__ import annotations

from rowpath.engines.files.records import RecordEngine


class BerkeleyDb(RecordEngine):
    """The kind of engine. Durability full: a transactional environment, synced at each commit; none: plain files."""

    name = "berkeleydb"
    order = 40
    title = "Berkeley DB"
    library = ("libdb-5.3.so", "db_version")


ENGINE = BerkeleyDb()
