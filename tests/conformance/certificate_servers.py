"""Servers whose certificate is right, of another host or expired, or that have none; they admit only what encrypts."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engines.insides import AUTHORITY, ask, data_of, files_of, restart_showing, rows_of
from tests.engines.life import place

from rowpath.engines import ENGINES
from rowpath.engines.base import Versioned
from rowpath.engines.mariadb.server import MariadbServer
from rowpath.engines.postgresql.server import PostgresqlServer
from rowpath.machine import jvm, private_directories
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import Command

ENGINE_NAMES = ("postgresql", "mariadb", "mysql")
HOST = "localhost"  # the right certificate is for this name, and for no address
NONE = "none"  # in place of a certificate: a server without TLS
CERTIFIED = "certified"  # a role that must show a certificate of its own
KEY = ("-newkey", "rsa:2048", "-noenc")  # of a kind that every driver reads


class Certificates:
    """PEM files: authorities `ca`, `other`, `both` (`other` first); `client`, signed by `ca`, and the servers'.

    Those are `right` (for HOST), `address`, `either`, `elsewhere`, `expired`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for authority in ("ca", "other"):
            files = ["-keyout", folder / f"{authority}.key", "-out", folder / f"{authority}.crt"]
            _openssl("req", "-x509", *KEY, "-days", "2", "-subj", f"/CN=rowpath {authority}", *files)
        self.certificate("both").write_text("".join(self.certificate(name).read_text() for name in ("other", "ca")))
        self._sign("right", HOST, f"DNS:{HOST}")
        self._sign("address", "rowpath", "IP:127.0.0.1")
        self._sign("either", HOST, f"DNS:{HOST},IP:127.0.0.1")
        self._sign("elsewhere", "elsewhere.example", "DNS:elsewhere.example")
        self._sign("expired", HOST, f"DNS:{HOST},IP:127.0.0.1", days=-1)
        self._sign("client", CERTIFIED, f"DNS:{CERTIFIED}")

    def certificate(self, name: str) -> Path:
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    def trusted_by_the_machine(self, command: Command) -> Command:
        """The command so that its program takes `ca` for one of the machine's authorities."""
        words = list(command.arguments)
        if jvm.java_command() not in words:
            trusted = dict.fromkeys(("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"), str(self.certificate("ca")))
            return msgspec.structs.replace(command, environment=command.environment | trusted)
        store = self.folder / "machine.p12"
        if not store.exists():
            keytool, into = Path(jvm.java_command()).with_name("keytool"), ["-keystore", store, "-storepass", "trusted"]
            made = [keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", self.certificate("ca"), *into]
            subprocess.run(list(map(str, made)), check=True, capture_output=True)
        of_java = f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=trusted"
        at = words.index(jvm.java_command()) + 1
        return msgspec.structs.replace(command, arguments=(*words[:at], *of_java, *words[at:]))

    def _sign(self, name: str, subject: str, alternative: str, days: int = 2) -> None:
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alternative}\n")
        _openssl("req", *KEY, "-subj", f"/CN={subject}", "-keyout", self.key(name), "-out", request)
        by = ["-CA", self.certificate("ca"), "-CAkey", self.key("ca"), "-CAcreateserial"]
        out = ["-days", str(days), "-extfile", extensions, "-out", self.certificate(name)]
        _openssl("x509", "-req", "-in", request, *by, *out)


class CertifiedServer:
    """A server of one engine that shows one certificate at a time; skips where there is none with TLS."""

    def __init__(self, engine: str, folder: Path, made: Certificates) -> None:
        kind = ENGINES[engine]
        assert isinstance(kind, Versioned)
        version = kind.tls_version()
        here = kind.availability_of(version, "on")
        if not here.ok:
            pytest.skip(here.reason)
        instance = kind.instance("server", kind.durabilities[0], place(folder, version=version))
        assert isinstance(instance, PostgresqlServer | MariadbServer)
        self._path = AccessPath.of({"engine": engine})
        self._instance, self._made, self._shown = instance, made, ""

    def show(self, name: str) -> None:
        """Go on with that certificate, or with none."""
        if name == self._shown:
            return
        first, self._shown = not self._shown, name
        self._start()
        if isinstance(self._instance, MariadbServer):
            self._admit(self._instance)
            return
        if first:
            login, password = f"CREATE ROLE {CERTIFIED} LOGIN PASSWORD", self.options()["password"]
            ask(self._instance, f"{login} '{password}' IN ROLE {self.options()['user']};")
            ask(self._instance, f"ALTER SYSTEM SET ssl_ca_file = '{files_of(self._instance) / AUTHORITY}';")
        self._admit_over(self._instance)
        self._start()

    def stop(self) -> None:
        self._instance.stop()

    def options(self, host: str = HOST, role: str = "", **tls: str) -> dict[str, Any]:
        """What `open` takes."""
        given = self._instance.options(self._path)
        return given | {"host": host, "user": role or given["user"], "transport": "tcp"} | tls

    @property
    def _encrypts(self) -> bool:
        return self._shown != NONE

    def _start(self) -> None:
        restart_showing(self._instance, self._copied if self._encrypts else None)

    def _copied(self, folder: Path, user: str | None) -> tuple[Path, Path]:
        """The certificate to show and its key, with the authority of its clients' ones, as the server's own files."""
        of = self._made
        sources = of.certificate(self._shown), of.key(self._shown), of.certificate("ca")
        files = folder / "shown.crt", folder / "shown.key", folder / AUTHORITY
        for source, file in zip(sources, files, strict=True):
            shutil.copyfile(source, file)
            file.chmod(0o600)
            private_directories.give(file, user)
        return files[0], files[1]

    def _admit(self, server: MariadbServer) -> None:
        """With a certificate, only those who encrypt; without, also those who do not: who checks must not come in."""
        options, where = self.options(), f"'{CERTIFIED}'@'127.0.0.1'"
        rows_of(server, f"CREATE USER IF NOT EXISTS {where} IDENTIFIED BY '{options['password']}' REQUIRE X509;")
        rows_of(server, f"GRANT ALL ON {options['database']}.* TO {where};")
        rows_of(server, f"ALTER USER '{options['user']}'@'127.0.0.1' REQUIRE {'SSL' if self._encrypts else 'NONE'};")

    def _admit_over(self, server: PostgresqlServer) -> None:
        """The same of PostgreSQL, from its next start on."""
        usual = "hostssl" if self._encrypts else "host"
        lines = ["local all all scram-sha-256", f"{usual} all {self.options()['user']} 127.0.0.1/32 scram-sha-256"]
        if self._encrypts:
            lines.append(f"hostssl all {CERTIFIED} 127.0.0.1/32 scram-sha-256 clientcert=verify-ca")
        file = data_of(server) / "pg_hba.conf"
        private_directories.write_private(file, "\n".join([*lines, ""]), private_directories.server_user())


def _openssl(*arguments: Sequence[Any] | Any) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
