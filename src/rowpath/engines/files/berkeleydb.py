"""Berkeley DB: record files in the client's own process, reached by key or by number, without SQL.

Durability full: a transactional environment, synced at each commit; none: plain files.
"""

from __future__ import annotations

from rowpath.engines.files.records import RecordEngine

ENGINE = RecordEngine("berkeleydb", 40, "Berkeley DB", "libdb-5.3.so", "db_version")
