"""What a driver of one's own says has no part of a password, wherever it says it."""

from __future__ import annotations

from pathlib import Path

from rowpath.scrubber import MASK
from tests.end_to_end.passwords_seen import canary, files_that_leak, probing, serving, watched
from tests.end_to_end.quick_probe import FIRST_TRIES

# It says its password everywhere: in pieces, in its error, and as the code of that.
LOUD = """
import os, sys, time
import psycopg2
from families.libpq.adapter import LibpqAdapter
from families.postgresql.connection import libpq_keywords

class Adapter(LibpqAdapter):
    errors = (psycopg2.Error,)

    def log_in(self):
        words = libpq_keywords(self.options)
        password = words["password"]
        for part in ("in pieces: ", password[:7], password[7:], "\\n"):
            os.write(2, part.encode())
            time.sleep(0.02)
        return psycopg2.connect(**words)

    def prepare(self, phase, parameters):
        raise psycopg2.ProgrammingError(f"cannot: {self.options} {self.options['password']}")

    def code(self, error):
        return self.options["password"]

    def run(self, statement):
        self.connection.cursor().execute(statement)

    def facts(self):
        return {"driver_version": "1", "engine_version": "1", "settings": {"password": self.options["password"]}}

    def close(self):
        self.connection.close()
"""
MANIFEST = """
schema_version = 1
language = "python"
[[adapter]]
driver = "loud"
source = "loud.py"
engines = ["postgresql"]
deployments = ["server"]
versions = ["2.9.13"]
phases = ["query", "execute", "connect"]
[adapter.build]
requirement = "psycopg2-binary"
families = ["libpq", "postgresql", "sql", "text"]
[adapter.coordinates]
statement = ["text"]
transport = ["tcp"]
"""


def test_no_part_of_a_password_is_kept(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD, encoding="utf-8")
    (tmp_path / "adapters.toml").write_text(MANIFEST, encoding="utf-8")
    with serving("postgresql", tmp_path) as server:
        for secret in (canary(), "correcthorsebatterystaple"):
            server.set_password(secret)
            directory = tmp_path / secret[:3]
            own = ["--adapters", str(tmp_path / "adapters.toml"), "--driver", "loud,psycopg2", "--budget", "5s"]
            words = [*probing(server, server.url(secret)), *own, "-o", str(directory)]
            code, printed = watched(secret, directory, *words, program=FIRST_TRIES)
            assert code == 0, printed
            said = "".join(file.read_text(encoding="utf-8") for file in (directory / "logs").rglob("*.log"))
            assert f"in pieces: {MASK}\n" in said
            assert "cannot: {'engine'" in printed
            assert not files_that_leak(directory, secret)
