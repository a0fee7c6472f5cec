"""How servers of the MySQL family are set, the same for a server and for the library that holds one; who may log in."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from rowpath.machine import certificates

Flavour = Literal["mariadb", "mysql"]
SUPERUSER, ROLE, DATABASE = "root", "rowpath", "rowpath"
COUNTED = "SELECT count(*) FROM mysql.innodb_table_stats"  # one transaction, of a table that is always there
ENGINE_NAMES = {"innodb": "InnoDB", "myisam": "MyISAM", "aria": "Aria"}

SETTINGS = {
    "character-set-server": "utf8mb4",
    "collation-server": "utf8mb4_bin",
    "default-time-zone": "+00:00",
    "sql-mode": "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    "performance-schema": "OFF",
    "max-allowed-packet": "64M",
    "innodb-buffer-pool-size": "256M",
    # Every embedded path has a copy of these files.
    "innodb-log-file-size": "48M",
    # A server that was just started knows nothing of what it had in memory: cold is cold.
    "innodb-buffer-pool-dump-at-shutdown": "OFF",
    "innodb-buffer-pool-load-at-startup": "OFF",
    # Statistics are made once, after loading: plans stay, and no transaction of the server's own is counted.
    "innodb-stats-auto-recalc": "OFF",
    "key-buffer-size": "64M",
}
COMMITS = ("trx_rw_commits", "trx_ro_commits", "trx_nl_ro_commits")  # InnoDB's counters, off by default
OWN: dict[Flavour, dict[str, str]] = {
    "mariadb": {"query-cache-type": "OFF", "query-cache-size": "0", "aria-pagecache-buffer-size": "128M"},
    # Each log file of two. Earlier protocols know only this way to log in.
    "mysql": {"innodb-log-file-size": "24M", "default-authentication-plugin": "mysql_native_password"},
}
SERVER_ONLY: dict[Flavour, tuple[str, ...]] = {
    "mariadb": ("--skip-name-resolve",),
    "mysql": (
        "--skip-name-resolve",
        "--mysqlx=OFF",
        "--auto-generate-certs=OFF",
        "--sha256-password-auto-generate-rsa-keys=OFF",
        "--caching-sha2-password-auto-generate-rsa-keys=OFF",
        "--local-infile=ON",
    ),
}
# With a certificate it is the same server, and a version of its own: which server a path meets is in its coordinates.
TLS_SUFFIX = "-tls"
TLS_PROTOCOL: dict[Flavour, str] = {"mariadb": "TLSv1.3", "mysql": "TLSv1.2"}  # the newest that it has
TLS_KEY: dict[Flavour, certificates.Key] = {"mariadb": certificates.ECDSA, "mysql": certificates.RSA}
# What else is worth knowing of a live server.
SHOWN = (
    "version",
    "version_comment",
    "version_compile_machine",
    "version_compile_os",
    "version_malloc_library",
    "log_bin",
    "time_zone",
    "aria_group_commit",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_page_size",
    "have_ssl",
    "tls_version",
    "transaction_isolation",
    "tx_isolation",
)


def settings(flavour: Flavour, storage: str, durability: str) -> dict[str, str]:
    """Every option that both deployments get, by name, without the dashes."""
    full = durability == "full"
    options = SETTINGS | OWN[flavour]
    options["default-storage-engine"] = ENGINE_NAMES[storage]
    options["innodb-flush-log-at-trx-commit"] = "1" if full else "0"
    if storage == "innodb" and flavour == "mariadb":
        options["innodb-monitor-enable"] = ",".join(COMMITS)
    if storage == "aria" and not full:
        options["aria-sync-log-dir"] = "NEVER"
    return options


def arguments(flavour: Flavour, storage: str, durability: str) -> list[str]:
    """The settings as arguments of a server; `--skip-log-bin` is one without a value."""
    return ["--skip-log-bin", *(f"--{name}={value}" for name, value in settings(flavour, storage, durability).items())]


def first_statements(storage: str, durability: str) -> list[str]:
    """What has no effect as an argument and must be executed before anybody connects."""
    # Aria's tables stay transactional: their log is written, no commit waits for it, and nothing syncs it.
    return ["SET GLOBAL aria_group_commit = 'soft'"] if storage == "aria" and durability == "none" else []


def meaning(storage: str, durability: str) -> str:
    """What that durability is, with that storage, in words."""
    if storage == "innodb":
        return "each commit waits for its log" if durability == "full" else "the log is written once a second"
    if storage == "aria":
        return "each statement waits for its log" if durability == "full" else "no statement waits for its log"
    return "no statement waits for the disk"


def reason_in(log: str) -> str:
    """The error that a server logged before it ended, without time stamps; `nothing` for an empty log."""
    lines = [line for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "[ERROR]" in line]
    chosen = errors[0] if errors else lines[-1] if lines else "nothing"
    return chosen.partition("[ERROR]")[2].strip() or chosen.strip()


def logins(passwords: dict[str, str], hosts: tuple[str, ...]) -> list[str]:
    """What the server executes before it lets anyone in; it gets the passwords' hashes, never the passwords."""
    script = [f"CREATE DATABASE IF NOT EXISTS {DATABASE}"]
    for user, host in ((SUPERUSER, "localhost"), *((ROLE, host) for host in hosts)):
        twice = hashlib.sha1(hashlib.sha1(passwords[user].encode()).digest()).hexdigest().upper()
        script += [
            f"CREATE USER IF NOT EXISTS '{user}'@'{host}'",
            f"ALTER USER '{user}'@'{host}' IDENTIFIED WITH mysql_native_password AS '*{twice}'",
        ]
    for host in hosts:
        script += [
            f"GRANT ALL ON {DATABASE}.* TO '{ROLE}'@'{host}'",
            f"GRANT SELECT ON mysql.innodb_table_stats TO '{ROLE}'@'{host}'",  # for `COUNTED`
        ]
    return script


def option_file(password: str, socket: Path) -> str:
    """What the client program reads to log in as the superuser."""
    where = str(socket).replace("\\", "\\\\")
    lines = ["[client]", f"user={SUPERUSER}", f'password="{password}"', f'socket="{where}"', "protocol=socket"]
    return "\n".join([*lines, "default-character-set=utf8mb4", ""])


def script(statements: list[str]) -> str:
    """Statements as the server and its client program read them."""
    return "".join(f"{statement};\n" for statement in statements)
