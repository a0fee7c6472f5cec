"""MariaDB: a private server or its library in the client's process, tables in InnoDB, MyISAM or Aria."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rowpath.engines.base import Instance, Place
from rowpath.engines.mariadb import backup
from rowpath.engines.mariadb import programs as mariadb_binaries
from rowpath.engines.mariadb.settings import Flavour
from rowpath.model.availability import Availability
from rowpath.model.workload import Column, Table

TYPES = {
    "decimal": "DECIMAL({precision},{scale})",
    # FLOAT's text has six digits; every number of 32 bits is exact in a DOUBLE, whose text has all of its digits.
    "float32": "DOUBLE",
    "float64": "DOUBLE",
    "boolean": "BOOLEAN",
    "char": "CHAR({length})",
    "varchar": "VARCHAR({length})",
    "text": "LONGTEXT",
    "json": "JSON",
    "binary": "VARBINARY({length})",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "DATETIME(6)",
    "uuid": "UUID",
}
INTEGERS = {16: "SMALLINT", 32: "INT", 64: "BIGINT"}
LONGEST_CHAR = 255
LONGEST_BINARY_BYTES = 8_000  # a row of InnoDB, MyISAM and Aria alike must hold it beside others
UNSUPPORTED = {
    "timestamptz": "TIMESTAMP holds 1970 to 2038 only, DATETIME knows no time zone",
    "interval": "INTERVAL is a word of its expressions, no type of a column",
    "array": "there are no arrays",
}


class Mariadb:
    """The kind of engine: MariaDB. What durability promises depends on the storage: `durabilities_of`."""

    name = "mariadb"
    flavour: Flavour = "mariadb"
    title = "MariaDB"
    deployments: tuple[str, ...] = ("server", "embedded")
    durabilities: tuple[str, ...] = ("full", "none")
    storages: tuple[str, ...] = ("innodb", "myisam", "aria")
    server_warm_s = 0.0
    types = TYPES

    def availability(self) -> Availability:
        """Whether it can run here; starts nothing."""
        return mariadb_binaries.availability()

    def version(self) -> str:
        """The server's."""
        return mariadb_binaries.version_here()

    def durabilities_of(self, storage: str) -> tuple[str, ...]:
        """MyISAM never syncs; the others sync each commit or never wait for it."""
        return ("none",) if storage == "myisam" else self.durabilities

    def programs(self) -> mariadb_binaries.Programs:
        """What a server is run with. Errors: EnvironmentMissing."""
        return mariadb_binaries.programs()

    def make_data(self, data: Path, arguments: list[str], user: str | None) -> None:
        """Make an empty data directory in the existing folder `data`. Errors: EnvironmentMissing."""
        mariadb_binaries.make_data(data, arguments, user)

    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A server or a directory for the library, not yet started. Errors: EnvironmentMissing."""
        from rowpath.engines.mariadb.embedded import Directory
        from rowpath.engines.mariadb.server import Server

        kind = Server if deployment == "server" else Directory
        return kind(self, deployment, durability, place)

    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect; the instance's default storage engine keeps it."""
        lines = [self._column(column, table) for column in table.columns]
        key = table.primary_key or ((table.identity,) if table.identity else ())  # what it numbers must be a key
        if key:
            lines.append(f"PRIMARY KEY ({', '.join(key)})")
        return f"CREATE TABLE {name} ({', '.join(lines)}){' CHARACTER SET latin1 COLLATE latin1_bin' * table.ascii}"

    def drop(self, name: str) -> str:
        """DROP TABLE in its dialect."""
        return f"DROP TABLE IF EXISTS {name}"

    def fill(self, name: str, table: Table, file: Path) -> str:
        """The statement that loads a file of `generators.write_delimited` from the client's side."""
        targets, settings = [], []
        for column in table.columns:
            expression = READ.get(column.type, "")
            targets.append(f"@{column.name}" if expression else column.name)
            if expression:
                settings.append(f"{column.name} = {expression.format(f'@{column.name}')}")
        quoted = str(file).replace("\\", "\\\\").replace("'", "''")
        return (
            f"LOAD DATA LOCAL INFILE '{quoted}' INTO TABLE {name} CHARACTER SET utf8mb4"
            r" FIELDS TERMINATED BY '|' ESCAPED BY '\\' LINES TERMINATED BY '\n'"
            f" ({', '.join(targets)}){' SET ' * bool(settings)}{', '.join(settings)}"
        )

    def supports(self, logical_type: str) -> str:
        """Empty when the logical type can be kept exactly, else the reason."""
        if logical_type == "integer" or logical_type in self.types:
            return ""
        return f"{self.title}: {UNSUPPORTED.get(logical_type, f'no type for {logical_type}')}"

    def settle_statements(self) -> list[str]:
        """Close MyISAM's and Aria's tables and let InnoDB write its changed pages: what an embedded path's runner does.

        A library too old for the last of them leaves these pages to be written when it ends.
        """
        checkpoint = ["SET GLOBAL innodb_log_checkpoint_now = ON"] if mariadb_binaries.has_checkpoint() else []
        return ["FLUSH TABLES", *checkpoint]

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """Its programs, which connect to a server: its library can be reached by none."""
        return backup.WAYS if deployment == "server" else ()

    def backup_availability(self, way: str) -> Availability:
        """Whether the program for it is here."""
        return backup.availability(way)

    def slow_query(self) -> str:
        """Minutes of counting combinations of something that every server and the library have."""
        names = ", ".join(f"information_schema.collations AS c{number}" for number in range(1, 7))
        return f"SELECT count(*) FROM {names}"

    def _column(self, column: Column, table: Table) -> str:
        values: dict[str, Any] = {"length": column.length, "precision": column.precision, "scale": column.scale}
        spelt = INTEGERS[column.bits] if column.type == "integer" else self.types[column.type].format(**values)
        if column.type == "char" and column.length > LONGEST_CHAR:
            spelt = f"VARCHAR({column.length})"
        if column.type == "binary" and not 0 < column.length <= LONGEST_BINARY_BYTES:
            spelt = "LONGBLOB"
        # NULL is said too: some types would otherwise be NOT NULL.
        return f"{column.name} {spelt}{' NULL' if column.nullable else ' NOT NULL'}" + (
            " AUTO_INCREMENT" if column.name == table.identity else ""
        )


# How a value of TABLE.tbl becomes the column's, where its text alone would not.
READ = {"boolean": "{0} = 't'", "binary": "UNHEX(SUBSTRING({0}, 3))"}

ENGINE = Mariadb()
