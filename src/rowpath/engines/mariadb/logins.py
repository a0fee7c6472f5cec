"""Who may log in to a private server of the MySQL family, and how the console does."""

from __future__ import annotations

import hashlib
from pathlib import Path

SUPERUSER, ROLE, DATABASE = "root", "rowpath", "rowpath"
HOSTS = ("localhost", "127.0.0.1")  # over the socket and over TCP: two hosts to a server that resolves no names
COUNTED = "SELECT count(*) FROM mysql.innodb_table_stats"  # one transaction, of a table that is always there


def statements(passwords: dict[str, str], hosts: tuple[str, ...] = HOSTS) -> list[str]:
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
