"""Files of a COBOL program in the client's own process: INDEXED by key, SEQUENTIAL where there is none."""

from __future__ import annotations

from typing_extensions import override

from rowpath.engines.files.records import RecordEngine
from rowpath.model.workload import Table


class Cobol(RecordEngine):
    """The kind of engine: GnuCOBOL's files. It has no durability: a WRITE stays with the runtime until CLOSE."""

    durabilities: tuple[str, ...] = ("none",)

    @override
    def settle_statements(self) -> list[str]:
        """The runner itself closes its files."""
        return ["CLOSE"]

    @override
    def fillings(self, tables: dict[str, Table]) -> list[tuple[dict[str, str], dict[str, Table]]]:
        """All tables INDEXED; those without a key SEQUENTIAL too."""
        scanned = {name: table for name, table in tables.items() if not table.primary_key}
        return [({"organization": "indexed"}, tables), ({"organization": "sequential"}, scanned)]


ENGINE = Cobol("cobol", 42, "files of GnuCOBOL", "libcob.so.4", "set_libcob_version")
