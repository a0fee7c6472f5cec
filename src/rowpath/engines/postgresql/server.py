"""One private PostgreSQL server: made, started, loaded, brought to rest, stopped by pid."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup, Place, Settled
from rowpath.engines.server import PrivateServer, copy_empty_directory
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.machine import certificates, postgresql_programs, private_directories, processes
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table

# Way → the program that makes the backup, and the one that restores it where more than a server is needed.
BACKUP_PROGRAMS = {"basebackup": ("pg_basebackup",), "dump": ("pg_dump", "pg_restore")}
SUPERUSER, ROLE, DATABASE = "postgres", "rowpath", "rowpath"
LOOPBACK = "127.0.0.1"
LOAD_TIMEOUT_S = 3600.0
PING_TIMEOUT_S = 20
ORPHANS_END_WITHIN_S = 30.0  # once killed: they wait for the CPU to end
MADE_WITH = ("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")  # by initdb
SETTINGS = {
    "shared_buffers": "256MB",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "jit": "off",
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
    "max_wal_size": "4GB",
    "password_encryption": "scram-sha-256",
    "listen_addresses": LOOPBACK,
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_error_statement": "panic",  # a statement may hold a password; the log must not
}
DURABILITY = {
    "full": {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"},
    "none": {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"},
}
TLS = {"ssl": "on", "ssl_min_protocol_version": "TLSv1.3"}
SHOWN = ("max_connections", "data_checksums", "wal_level", "server_encoding", "huge_pages", "ssl_library", "ssl_groups")


class PostgresqlServer(PrivateServer[backups.BackupWays]):
    """A private PostgreSQL server.

    `flush_statements`: what a runner executes on its own connection so that `commits` holds all that it did (the
    statement itself is counted too); without it a backend keeps its counts for up to ten seconds or until it ends.
    """

    database = DATABASE
    data_name = "data"
    _title = "PostgreSQL"
    stop_steps: processes.Steps = ((signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0), *processes.AT_ONCE)
    start_timeout_s = 60.0
    death_signal = signal.SIGQUIT  # the postmaster takes its children with it
    port_taken_words = ("could not bind", "could not create any TCP/IP sockets")
    # It reads a table: a backend with nothing but transactions to report reports nothing, and keeps this one too.
    flush_statements: tuple[str, ...] = ("SELECT pg_stat_force_next_flush() FROM pg_class LIMIT 1",)

    def __init__(self, engine: backups.BackupWays, durability: str, place: Place) -> None:
        with_tls = place.version == postgresql_programs.VERSION_TLS and postgresql_programs.named() is None
        self._prefix = postgresql_programs.install_tls() if with_tls else postgresql_programs.install()
        super().__init__(engine, durability, place, SUPERUSER, ROLE)
        self.version = place.version or postgresql_programs.version(self._prefix)
        self._tls = postgresql_programs.has_tls(self._prefix) and not certificates.problem()
        self._seen: dict[int, str] = {}  # pid → when it started: what may have to be killed one by one

    @override
    def start(self) -> None:
        super().start()
        if not self._ask(f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}';"):
            role = f"CREATE ROLE {ROLE} LOGIN PASSWORD '{self._passwords[ROLE]}' NOSUPERUSER NOCREATEDB NOCREATEROLE;"
            self._psql(f"{role}\nCREATE DATABASE {DATABASE} OWNER {ROLE};", SUPERUSER, "postgres")

    @override
    def check(self) -> bool:
        """Whether it accepts connections."""
        if self._process is None or self._process.poll() is not None or self._sockets is None:
            return False
        where = ["-q", "-t", str(PING_TIMEOUT_S), "-h", str(self._sockets), "-p", str(self._port)]
        return processes.run([self._client("pg_isready"), *where], timeout_s=60).returncode == 0

    @override
    def stop(self) -> None:
        """Stop every process of it, by pid; harmless when stopped already. Its data stays for another start."""
        self.pids()
        super().stop()
        for pid, born in self._seen.items():
            if _born(pid) == born:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + ORPHANS_END_WITHIN_S
        while any(_runs(pid, born) for pid, born in self._seen.items()) and time.monotonic() < deadline:
            time.sleep(0.005)  # one that still holds the shared memory would be in the way of the next start
        self._seen.clear()

    @override
    def pids(self) -> list[int]:
        """Every process of the server now alive, the postmaster first."""
        pids = [pid for first in super().pids() for pid in (first, *processes.descendants(first))]
        self._seen |= {pid: _born(pid) for pid in pids if pid not in self._seen}
        return pids

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables, fill them from the generators, then vacuum, analyze and settle."""
        self._load_files(tables, self._fill)
        self._checkpoint()

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return super().options(path) | {"socket_dir": str(self._sockets)}

    @override
    def settle(self, path: AccessPath) -> Settled:
        """CHECKPOINT and sync of its file system; the bytes that all its processes wrote for it."""
        return self._settled(self._checkpoint, "CHECKPOINT and syncfs")

    @override
    def commits(self) -> int | None:
        """Transactions committed in the runners' database so far, as far as backends have reported: `flush_statements`.

        Waits for backends of closed connections to end (they report then), two seconds at most.
        """
        query = f"""
            SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = '{DATABASE}' AND state IS DISTINCT FROM 'idle'
                    AND backend_type = 'client backend'),
                   (SELECT xact_commit FROM pg_stat_database WHERE datname = '{DATABASE}');"""
        previous: list[str] = []
        for _ in range(40):
            # From another database, so that this query is not counted.
            now = self._ask(query).split("|")
            if now == previous and now[0] == "0":
                break
            previous = now
            time.sleep(0.05)
        return int(previous[1])

    @override
    def facts(self) -> dict[str, str]:
        wanted = ", ".join(f"'{name}'" for name in (*SETTINGS, *DURABILITY["full"], *TLS, *SHOWN))
        rows = self._ask(
            f"SELECT lower(name), current_setting(name) FROM pg_settings WHERE lower(name) IN ({wanted}) ORDER BY 1;"
        )
        settings = dict(line.split("|", 1) for line in rows.splitlines())
        build = self._ask("SELECT setting FROM pg_config WHERE name = 'CFLAGS';")
        own = {"version": self._ask("SELECT version();"), "build": build, "prefix": str(self._prefix)}
        own |= {"certificate": certificates.what()} if self._tls else {}
        return settings | own | {"user": self._user or "ourselves", "data_directory": str(self._data())}

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """PostgreSQL's program makes it, over the socket. Errors: EnvironmentMissing."""
        self._engine.backup_availability(way).require()
        place = backups.place_in(folder)
        where, environment = self._way_in()
        program = str(self._client(BACKUP_PROGRAMS[way][0]))
        if way == "basebackup":
            kept = place / "data"
            # At once: the usual checkpoint may take its time, and an hour lies between two of this server's.
            options = ["-U", SUPERUSER, "-D", str(kept), "--wal-method=stream", "--checkpoint=fast"]
        else:
            kept = place / f"{DATABASE}.dump"
            options = ["-U", ROLE, "-d", DATABASE, "--format=custom", "--file", str(kept)]
        return Backup(way, kept, command=(program, *where, *options), environment=environment)

    @override
    def _restore(self, backup: Backup) -> None:
        """Take the files, verified, and recover; or read the dump into a server."""
        if backup.way == "basebackup":
            from rowpath.engines.postgresql import backup_manifest  # numpy would slow every start

            backup_manifest.verify(backup.kept)
            self._home = self._make_home()
            private_directories.copy(backup.kept, self._data(), self._user)
        self.start()
        if backup.way == "dump":
            where, environment = self._way_in()
            options = ["-U", ROLE, "-d", DATABASE, "--exit-on-error", "--single-transaction", str(backup.kept)]
            backups.run([self._client("pg_restore"), *where, *options], environment)

    def _make_home(self) -> Path:
        home = private_directories.home(self._place.directory / "postgresql", self._user)
        lines = [f"*:*:*:{user}:{password}\n" for user, password in self._passwords.items()]
        private_directories.write_private(home / "pgpass", "".join(lines))
        return home

    @override
    def _make(self) -> None:
        home = self._make_home()
        data, made_with = home / "data", (str(self._prefix), MADE_WITH)
        name = f"postgresql-{self.version}"
        copy_empty_directory(name, made_with, data, self._user, lambda: self._init(home))
        # The copy's password is unknown; single-user mode reads the new one from its standard input.
        password = f"ALTER ROLE {SUPERUSER} PASSWORD '{self._passwords[SUPERUSER]}'\n"
        single = ("--single", "-F", "-c", "exit_on_error=on", "-D", data, "postgres")
        self._tool(home, "postgres", *single, text=password)
        self._home = home

    def _init(self, home: Path) -> None:
        password_file = home / "initial-password"
        private_directories.write_private(password_file, secrets.token_urlsafe(24), self._user)
        self._tool(home, "initdb", "-D", home / "data", "-U", SUPERUSER, f"--pwfile={password_file}", *MADE_WITH)
        password_file.unlink()

    def _tool(self, home: Path, name: str, *arguments: str | Path, text: str = "") -> None:
        done = processes.run(
            [self._program(name), *arguments],
            text=text,
            environment={"LC_ALL": "C", "TZ": "UTC"},
            user=self._user,
            directory=home,
        )
        if done.returncode != 0:
            message = done.stderr.strip().replace(self._passwords[SUPERUSER], "***")
            raise EnvironmentMissing(f"{name} failed: {message[-500:]}", "rowpath doctor")

    def _admit(self) -> None:
        """Admit logins where it listens: of the runners' role, from the addresses of the run's hosts.

        Over the private socket also a backup; from this machine where a restored one listens.
        """
        lines = ["local all all scram-sha-256", f"local replication {SUPERUSER} scram-sha-256"]
        lines += [
            f"host {DATABASE} {ROLE} {address}/32 scram-sha-256"
            for address in (LOOPBACK, self._place.listen, *self._place.clients)
        ]
        text = "".join(f"{line}\n" for line in dict.fromkeys(lines))
        private_directories.write_private(self._data() / "pg_hba.conf", text, self._user)

    @override
    def _started(self) -> bool:
        listening = {"port": str(self._port), "unix_socket_directories": str(self._sockets).replace("'", "''")}
        if self._place.listen != LOOPBACK:
            listening["listen_addresses"] = self._place.listen
            self._admit()
        listening["max_connections"] = str(self._place.connections)
        settings = SETTINGS | DURABILITY[self.durability] | listening
        if self._tls:
            certificate, key = certificates.make(self._files(), self._user, address=self._place.listen)
            files = {"ssl_cert_file": str(certificate), "ssl_key_file": str(key)}
            settings |= TLS | {name: file.replace("'", "''") for name, file in files.items()}
        lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
        private_directories.write_private(self._data() / "postgresql.conf", "".join(lines), self._user)
        return self._launched([self._program("postgres"), "-D", self._data()], {"LC_ALL": "C", "TZ": "UTC"})

    def _fill(self, name: str, table: Table, file: Path) -> None:
        script = [self._engine.drop(name), self._engine.create(name, table), *self._engine.filled(name, table)]
        lines = [f"{statement};" for statement in script]
        if table.rows:
            form = r"FORMAT text, DELIMITER '|', NULL '\N'"
            lines.insert(2, rf"\copy {name} FROM {backups.literal(file)} WITH ({form})")
        self._psql("\n".join(lines), timeout_s=LOAD_TIMEOUT_S)

    def _ask(self, query: str) -> str:
        """The answer to a superuser's query."""
        return self._psql(query, SUPERUSER, "postgres").strip()

    def _checkpoint(self) -> None:
        self._psql("CHECKPOINT;", SUPERUSER, "postgres", timeout_s=600)
        private_directories.sync(self._files())

    def _psql(self, script: str, role: str = ROLE, database: str = DATABASE, timeout_s: float = 60.0) -> str:
        """Run a script through psql; the passwords travel in a private file, never on a command line."""
        where, environment = self._way_in()
        options = [*where, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        done: subprocess.CompletedProcess[str] = processes.run(
            [self._client("psql"), *options, "-U", role, "-d", database, "-f", "-"],
            text=script,
            environment=environment,
            timeout_s=timeout_s,
        )
        if done.returncode != 0:
            message = done.stderr.strip()
            for secret in self._passwords.values():
                message = message.replace(secret, "***")
            raise RowpathError(f"psql failed: {message[-500:]}", f"read {self._log()}")
        return done.stdout

    def _way_in(self) -> tuple[list[str], dict[str, str]]:
        """Arguments and environment of every client program: where the server is, and a private file of passwords."""
        environment = {"PGPASSFILE": str(self._files() / "pgpass"), "PGCLIENTENCODING": "UTF8", "LC_ALL": "C.UTF-8"}
        return ["-w", "-h", str(self._sockets), "-p", str(self._port)], environment

    def _program(self, name: str) -> Path:
        return self._prefix / "bin" / name

    def _client(self, name: str) -> Path:
        """A client program; those of `install` serve a server that came without."""
        own = self._program(name)
        return own if own.is_file() else postgresql_programs.install() / "bin" / name


def _born(pid: int) -> str:
    fields = processes.stat_fields(pid)
    return fields[19] if fields else ""


def _runs(pid: int, born: str) -> bool:
    fields = processes.stat_fields(pid)
    return bool(fields) and fields[0] not in "ZX" and fields[19] == born
