"""PgBouncer, pgpool-II and HAProxy: how each is set up and started."""

from __future__ import annotations

import signal
from pathlib import Path

from typing_extensions import override

from rowpath.engines.postgresql.server import DATABASE
from rowpath.machine import private_directories, processes
from rowpath.poolers.pooler import LOOPBACK, POOL_SIZE, Pooler

# What drivers send with a login and PgBouncer does not know: it would refuse them.
IGNORED = "extra_float_digits,options,IntervalStyle,search_path,statement_timeout,lock_timeout"


class PgBouncer(Pooler):
    """PgBouncer: one process; it lends a server connection for a transaction, or for a session."""

    name = "pgbouncer"
    engines = ("postgresql",)
    modes = ("transaction", "session")
    package = "pgbouncer"
    port_taken_words = ("in use",)

    @override
    def _command(self) -> list[str | Path]:
        ((user, password),) = self._passwords.items()
        settings: dict[str, object] = {
            "listen_addr": LOOPBACK,
            "listen_port": self._port,
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": self._written("users", f'"{user}" "{password}"\n'),
            "pool_mode": self._mode,
            "max_client_conn": self._room,
            "default_pool_size": min(self._room, POOL_SIZE) if self._mode == "transaction" else self._room,
            "ignore_startup_parameters": IGNORED,
            "log_connections": 0,
            "log_disconnections": 0,
            "log_stats": 0,
        }
        if self._encrypted:
            certificate, key = self._certificate()
            settings |= {"client_tls_sslmode": "require", "client_tls_cert_file": certificate}
            settings |= {"client_tls_key_file": key, "server_tls_sslmode": "require"}
        lines = [f"{name} = {value}" for name, value in settings.items()]
        where = f"{DATABASE} = host={LOOPBACK} port={self.to_port}"
        text = "\n".join(("[databases]", where, "[pgbouncer]", *lines, ""))
        return [self._program(), self._written("pgbouncer.ini", text)]


class PgPool(Pooler):
    """pgpool-II: a process for each client, which keeps one server connection; it pools by session."""

    name = "pgpool"
    engines = ("postgresql",)
    modes = ("session",)
    package = "pgpool2"
    has_socket = True
    stop_steps: processes.Steps = ((signal.SIGINT, 10.0), *processes.AT_ONCE)
    death_signal = signal.SIGINT  # it takes its children with it
    port_taken_words = ("in use",)

    @override
    def _ready(self) -> bool:
        return "successfully started" in self._logged()  # it listens before its processes are there

    @override
    def _command(self) -> list[str | Path]:
        ((user, password),) = self._passwords.items()
        settings: dict[str, object] = {
            "backend_clustering_mode": "raw",
            "listen_addresses": LOOPBACK,
            "port": self._port,
            "socket_dir": self._sockets,
            "pcp_listen_addresses": LOOPBACK,
            "pcp_port": private_directories.free_port(),
            "pcp_socket_dir": self._sockets,
            "wd_ipc_socket_dir": self._sockets,
            "pid_file_name": self._files() / "pid",
            "logdir": self._files(),
            "backend_hostname0": LOOPBACK,
            "backend_port0": self.to_port,
            "backend_flag0": "DISALLOW_TO_FAILOVER",
            "num_init_children": self._room,
            "max_pool": 1,
            "connection_cache": "on",
            "child_life_time": 0,
            "load_balance_mode": "off",
            "enable_shared_relcache": "off",
            "memqcache_total_size": "1MB",  # results are not kept: they would not come from the server
            "memory_cache_enabled": "off",
            "health_check_period": 0,
            "enable_pool_hba": "on",
            "pool_passwd": self._written("passwords", f"{user}:TEXT{password}\n"),
            "allow_clear_text_frontend_auth": "off",
            "log_error_verbosity": "terse",
        }
        if self._encrypted:
            certificate, key = self._certificate()
            settings |= {"ssl": "on", "ssl_cert": certificate, "ssl_key": key}
        host = "hostssl" if self._encrypted else "host"
        admitted = self._written("pool_hba.conf", f"{host} {DATABASE} {user} {LOOPBACK}/32 scram-sha-256\n")
        text = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        written = self._written("pgpool.conf", text)
        nobody = self._written("pcp.conf", "")  # who may command it: no one
        return [self._program(), "-n", "-D", "-f", written, "-a", admitted, "-F", nobody]


class HaProxy(Pooler):
    """HAProxy: passes bytes on; the login, and TLS, are between client and server."""

    name = "haproxy"
    engines = ("postgresql", "mariadb")
    modes = ("none",)
    package = "haproxy"
    version_option = "-v"
    port_taken_words = ("cannot bind", "in use")

    @override
    def _command(self) -> list[str | Path]:
        lines = [
            "global",
            f" maxconn {self._room}",
            " nbthread 1",
            "defaults",
            " mode tcp",
            " timeout connect 60s",
            " timeout client 24h",
            " timeout server 24h",
            "frontend client",
            f" bind {LOOPBACK}:{self._port}",
            " default_backend server",
            "backend server",
            f" server database {LOOPBACK}:{self.to_port}",
            "",
        ]
        return [self._program(), "-db", "-f", self._written("haproxy.cfg", "\n".join(lines))]
