"""LMDB: one memory-mapped file in the client's own process, reached by key or by number, without SQL.

Durability full: each commit is synced; none: the environment is opened with MDB_NOSYNC.
"""

from __future__ import annotations

from rowpath.engines.files.records import RecordEngine

ENGINE = RecordEngine("lmdb", 41, "LMDB", "liblmdb.so.0", "mdb_version")
