"""How a person connects to a server started by hand: lines to copy, the password in a file of ours alone."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

from rowpath.machine import private_directories

JDBC = {
    "derby": "jdbc:derby://{host}:{port}/{database}",
    "h2": "jdbc:h2:tcp://{host}:{port}/./{database}",
    "hsqldb": "jdbc:hsqldb:hsql://{host}:{port}/{database}",
}


def lines(engine: str, options: dict[str, Any], folder: Path) -> tuple[str, ...]:
    """The commands that connect, or the URL and the file with its login; that file is written to `folder`.

    `options`: what the instance hands to a runner.
    """
    if engine in JDBC:
        return _jdbc(JDBC[engine].format(**options), options, folder)
    return _psql(options, folder) if engine == "postgresql" else _mysql(options, folder)


def _psql(options: dict[str, Any], folder: Path) -> tuple[str, ...]:
    from rowpath.machine import postgresql_programs

    file = folder / "pgpass"
    private_directories.write_private(file, f"*:*:*:{options['user']}:{options['password']}\n")
    program = shutil.which("psql") or str(postgresql_programs.install() / "bin" / "psql")
    return tuple(
        f"PGPASSFILE={shlex.quote(str(file))} "
        + shlex.join(
            [program, "-h", host, "-p", str(options["port"]), "-U", options["user"], "-d", options["database"]]
        )
        for host in (options["host"], options["socket_dir"])
    )


def _mysql(options: dict[str, Any], folder: Path) -> tuple[str, ...]:
    file = folder / "client.cnf"
    settings = {key: options[key] for key in ("user", "password", "host", "port", "socket")}
    private_directories.write_private(
        file, "[client]\n" + "".join(f'{key}="{value}"\n' for key, value in settings.items())
    )
    program = shutil.which("mariadb") or shutil.which("mysql") or "mariadb"
    return tuple(
        shlex.join([program, f"--defaults-extra-file={file}", f"--protocol={protocol}", options["database"]])
        for protocol in ("tcp", "socket")
    )


def _jdbc(url: str, options: dict[str, Any], folder: Path) -> tuple[str, ...]:
    file = folder / "jdbc.properties"
    private_directories.write_private(file, f"url={url}\nuser={options['user']}\npassword={options['password']}\n")
    return url, f"user and password: {file}"
