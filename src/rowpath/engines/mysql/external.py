"""A server of the MySQL family that is not ours: `ROWPATH_MYSQL_URL=mysql://user@host:3306/database?create-tables=yes`."""

from __future__ import annotations

from rowpath.engines.base import BY_URL, Place
from rowpath.engines.external.server import ExternalServer, ServerKind
from rowpath.engines.mariadb.dialect import MariadbDialect
from rowpath.errors import UsageError
from rowpath.model.path import AccessPath

_OURS = "information_schema.tables WHERE table_schema = DATABASE()"
KIND = ServerKind(
    engine="mysql",
    title="MySQL",
    port=3306,
    example="mysql://user@host:3306/database",
    why_none="Rowpath's own is fetched on request",
    tables=f"SELECT table_name FROM {_OURS}",
    clear=(
        "SET SESSION group_concat_max_len = 1000000",
        f"SET @names = (SELECT GROUP_CONCAT(CONCAT('`', table_name, '`')) FROM {_OURS} AND table_type = 'BASE TABLE')",
        "SET @dropping = IF(@names IS NULL, 'DO 0', CONCAT('DROP TABLE ', @names))",
        "PREPARE dropping FROM @dropping",
        "EXECUTE dropping",
        "DEALLOCATE PREPARE dropping",
    ),
)


def unreachable(path: AccessPath) -> tuple[str, str]:
    """Why the server cannot be reached over the path's transport, and what would help; empty when it can."""
    if path.engine_version != BY_URL or path.transport != "unix" or KIND.url().socket:
        return "", ""
    return f"{KIND.url_variable} names no unix socket", "transport=tcp, or …&socket=/path/of/the/socket in the URL"


def server(engine: MariadbDialect, durability: str, place: Place) -> ExternalServer:
    """The server that the URL names. Errors: EnvironmentMissing, UsageError."""
    storage = place.storage or engine.storages[0]

    def check(settings: dict[str, str]) -> None:
        """What the paths' coordinates promise must be so already: nothing of the server is changed."""
        kept = settings["default_storage_engine"].lower()
        if kept != storage:
            raise _other(f"default_storage_engine is {kept}", f"storage={storage}", f"storage={kept}")
        flush = settings["innodb_flush_log_at_trx_commit"]
        real = "full" if flush == "1" else "none"
        if storage == "innodb" and real != durability:
            raise _other(f"innodb_flush_log_at_trx_commit is {flush}", f"durability={durability}", f"durability={real}")
        collation = settings["collation_database"]
        if not collation.endswith("_bin") or not collation.startswith("utf8mb4"):
            raise UsageError(
                f"the database of {KIND.url_variable} compares text by {collation}: different keys may compare equal",
                "CREATE DATABASE … CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            )

    return ExternalServer(engine, KIND, durability, place, check)


def _other(what: str, wanted: str, instead: str) -> UsageError:
    return UsageError(
        f"{wanted} is requested, but {what} at the server of {KIND.url_variable}, and Rowpath does not change it",
        instead,
    )
