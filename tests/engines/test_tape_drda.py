"""DRDA from a tape: what the replay server answers and refuses, and both drivers of Derby's network server."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rowpath.engines import derby
from rowpath.engines.base import Place
from rowpath.engines.derby import ENGINE
from rowpath.engines.jvm_engine import jvm_command
from rowpath.model.path import AccessPath
from rowpath.tape.drda import Dss, pieces, terms
from rowpath.tape.format import TapeRecords, read
from rowpath.tape.replay_server import ReplayServer
from tests.end_to_end.command import records, rowpath
from tests.engines.test_tape import TAPES, Client, served
from tests.unit.tape.test_drda import (
    ACCRDB,
    ACCRDBRM,
    ACCSEC,
    COMMIT,
    COMMITTED,
    EXCSAT,
    EXCSATRD,
    OPENED,
    PREPARE,
    SECCHK,
    SECTION,
    SQL,
    SQLDARD,
    named,
    of,
    piece,
    sqlcard,
)

ROOT = Path(__file__).parents[2]
FETCHED = all(found.fetched() for found in ENGINE.downloads.values())
NEXT = of(0x2006, named(), of(0x2114, b"\0\0\x7f\xff"), of(0x215B, bytes(8)))
ROLLBACK, SYNC = of(0x200F), of(0x1055)
FUZZ_S = 2


def opening(parameter: bytes, section: bytes = SECTION, correlation: int = 1) -> bytes:
    """OPNQRY with a parameter, the last of its chain."""
    return piece(0x51, correlation, of(0x200C, named(section))) + piece(0x03, correlation, of(0x2412, parameter))


def taped() -> TapeRecords:
    """A statement, executed with parameters 0 and 1, of which each row comes after a CNTQRY."""
    made = TapeRecords("drda")
    number = made.connect(b"", b"")

    def ask(request: bytes, reply: bytes, state: str = "T", failed: bool = False) -> None:
        made.ask(number, request, reply, state, failed)

    ask(piece(0x01, 0, EXCSAT), piece(0x02, 0, EXCSATRD), "I")
    ask(piece(0x01, 0, ACCRDB), piece(0x02, 0, ACCRDBRM), "I")
    ask(piece(0x51, 0, PREPARE) + piece(0x03, 0, SQL), piece(0x03, 0, SQLDARD))
    for key in (b"0", b"1"):
        ask(opening(key, correlation=0), piece(0x52, 0, OPENED) + piece(0x03, 0, of(0x241A, b"columns")))
        for row in (b"first", b"second"):
            ask(piece(0x01, 0, NEXT), piece(0x03, 0, of(0x241B, row + key)))
        ask(piece(0x01, 0, COMMIT), piece(0x52, 0, COMMITTED) + piece(0x03, 0, sqlcard()), "I")
    broken = SQL.replace(b"FROM t", b"FROM x")
    ask(piece(0x51, 0, PREPARE) + piece(0x03, 0, broken), piece(0x03, 0, sqlcard(0xFFFFFFFF, b"42X05")), failed=True)
    return made


class Driver(Client):
    """A client that speaks DRDA."""

    def piece(self) -> Dss:
        head = self.exactly(2)
        (found,) = pieces(bytearray(head + self.exactly(int.from_bytes(head, "big") - 2)))
        return found

    def chain(self) -> list[Dss]:
        found = [self.piece()]
        while found[-1].flags & 0x40:
            found.append(self.piece())
        return found

    def codes(self, sent: bytes) -> list[int]:
        """The code points of the answer to a chain."""
        self.send(sent)
        self.last = self.chain()
        return [code for one in self.last for code, *_ in terms(one.body)]


def logged_in(server: ReplayServer, access: bytes = ACCRDB) -> Driver:
    driver = Driver(server.port)
    assert driver.codes(piece(0x41, 1, EXCSAT) + piece(0x01, 2, ACCSEC)) == [0x1443, 0x14AC]
    assert driver.codes(piece(0x41, 1, SECCHK) + piece(0x01, 2, access))[0] == 0x1219
    return driver


def test_chains_keep_their_order_and_correlations() -> None:
    with served(taped(), "derby") as server:
        driver = logged_in(server)
        assert [one.correlation for one in driver.last] == [1, 2] and driver.last[1].body == ACCRDBRM
        chain = piece(0x51, 7, PREPARE) + piece(0x43, 7, SQL) + opening(b"1", correlation=9)
        for byte in chain:
            driver.send(bytes((byte,)))
        found = driver.chain()
        assert [(one.flags, one.correlation) for one in found] == [(0x43, 7), (0x52, 9), (0x03, 9)]
        assert found[0].body == SQLDARD and found[1].body == OPENED
        assert server.stop().refused == 0


def test_cursors_of_several_sections_are_followed() -> None:
    other = SECTION[:-2] + b"\0\5"
    with served(taped(), "derby") as server:
        driver = logged_in(server)
        for section in (SECTION, other):
            driver.codes(piece(0x51, 1, PREPARE.replace(SECTION, section)) + piece(0x03, 1, SQL))
        driver.codes(opening(b"0"))
        driver.codes(opening(b"1", other))

        def row(section: bytes) -> bytes:
            driver.codes(piece(0x01, 1, NEXT.replace(SECTION, section)))
            return driver.last[0].body[4:]

        assert [row(SECTION), row(other), row(other), row(SECTION)] == [b"first0", b"first1", b"second1", b"second0"]
        assert driver.codes(piece(0x01, 1, NEXT)) == [0x220B, 0x2408]  # it had no third one
        driver.codes(opening(b"1"))
        assert row(SECTION) == b"first1"


def test_a_chain_that_failed_is_left_out() -> None:
    broken = SQL.replace(b"FROM t", b"FROM x")
    with served(taped(), "derby") as server:
        driver = logged_in(server)
        chain = piece(0x51, 1, PREPARE) + piece(0x43, 1, broken) + opening(b"1", correlation=2)
        assert driver.codes(chain) == [0x2408] and driver.last[0].flags == 0x03
        assert driver.codes(piece(0x01, 1, COMMIT)) == [0x220C, 0x2408]
        assert server.stop().refused == 0


def test_what_is_not_on_the_tape_is_refused_by_name() -> None:
    with served(taped(), "derby") as server:
        driver = logged_in(server)
        driver.codes(piece(0x51, 1, PREPARE) + piece(0x03, 1, SQL))
        assert driver.codes(opening(b"7")) == [0x2212, 0x2408]
        assert b"XXTAP" in driver.last[1].body
        assert b"the tape has no answer: this request was not recorded: OPNQRY SELECT a FROM t" in driver.last[1].body
        words = of(0x2414, b"\0\0\0\0\x1bCALL SYSIBM.SQLCAMESSAGE(?)\xff")
        assert driver.codes(piece(0x51, 1, PREPARE.replace(SECTION, SECTION[:-1] + b"\2")) + piece(0x03, 1, words)) == [
            0x2408
        ]
        assert b"OPNQRY SELECT a FROM t" in driver.last[0].body  # as a driver wants to know of the same error
        assert driver.codes(piece(0x01, 1, ROLLBACK)) == [0x220C, 0x2408] and b"XXTAP" not in driver.last[1].body
        assert driver.codes(opening(b"1")) == [0x2205, 0x241A]
        assert driver.codes(piece(0x01, 1, SYNC)) == [0x1254] and driver.ended()
        stranger = logged_in(server, ACCRDB.replace(b"DNC", b"JCC"))
        assert stranger.codes(piece(0x51, 1, PREPARE) + piece(0x03, 1, SQL)) == [0x2408]
        assert b"another driver was recorded, or other settings of it: PRPSQLSTT SELECT" in stranger.last[0].body
        encrypting = Driver(server.port)
        secret = ACCSEC.replace(b"\0\3", b"\0\x09")
        assert encrypting.codes(piece(0x41, 1, EXCSAT) + piece(0x01, 2, secret))[1:] == [0x1254]
        assert any("a login that encrypts" in one for one in server.stop().reasons)


@pytest.mark.parametrize("driver", ["derby", pytest.param("jcc", marks=pytest.mark.long)])
def test_a_driver_is_recorded_and_replayed_without_its_server(driver: str, tmp_path: Path) -> None:
    if driver == "jcc" and not FETCHED:
        pytest.skip("rowpath engine fetch derby-10.8, then jcc")
    version = derby.OLD if driver == "jcc" else ENGINE.version()
    text = (TAPES / "reads.toml").read_text(encoding="utf-8")
    text = text.replace('driver = "derby"', f'driver = "{driver}"').replace("sets = 6", "sets = 1")
    (tmp_path / "reads.toml").write_text(text.replace("rounds = 15", "rounds = 3"), encoding="utf-8")
    tape = tmp_path / "derby.tape"
    done = rowpath("record", "--experiment", tmp_path / "reads.toml", "engine=derby", "-o", tape)
    assert done.returncode == 0, done.stderr
    assert f"derby (Apache Derby {version})" in done.stdout and "different replies" not in done.stdout
    words = (f"engine_version={version},tape", "-r", "1", "-w", "0.1", "-q", "--gate", "-o", tmp_path / "r")
    done = rowpath("run", "--tape", tape, *words)
    assert done.returncode == 0, done.stderr
    found = records(tmp_path / "r")
    verified = [one for one in found if one["record"] == "verify"]
    (recorded,) = read(tape).header.paths
    assert len(verified) == 4 and all(one["ok"] for one in verified)
    assert {one["digest"] for one in verified} == set(recorded.digests.values())
    steady = [one for one in found if one["record"] == "sample" and one["regime"] == "steady"]
    assert steady and all(one["touch_ok"] and not one["failed"] for one in steady)
    counts: dict[str, set[tuple[int, ...]]] = {"keyed": set(), "scan": set()}
    for one in (one for one in found if one["record"] == "counted"):
        counts[one["workload"]].add(tuple(one[what] for what in ("round_trips", "bytes_sent", "bytes_received")))
    assert [len(each) for each in counts.values()] == [1, 1], counts  # the server's are the tape's


@pytest.mark.skipif(not FETCHED, reason="rowpath engine fetch derby-10.8, then jcc")
def test_the_tape_of_another_driver_is_refused_by_name(tmp_path: Path) -> None:
    words = ("--driver", "jcc", "-r", "1", "-w", "0.1", "-q", "--gate", "-o", tmp_path / "r")
    done = rowpath("run", "--tape", TAPES / "derby.tape", *words)
    assert done.returncode == 1, done.stderr
    failures = records(tmp_path / "r", "failure")
    assert failures and all("another driver was recorded" in one["text"] for one in failures), failures


def test_changed_tapes_of_drda_are_refused_or_served(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "scripts" / "fuzz_tape.py", "--seconds", str(FUZZ_S), TAPES / "derby.tape"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "contents served" in done.stdout and "contents refused" in done.stdout


SCRIPT = """#!/bin/sh
login=${ROWPATH_URL#derby://}; place=${login#*@}; login=${login%@*}
{ echo "connect 'jdbc:derby://$place;create=true;user=${login%:*};password=${login#*:}';"; cat STATEMENTS; } |
JAVA org.apache.derby.tools.ij | grep -v '^ij> connect\\|^ij version'
"""
STATEMENTS = """
CREATE TABLE t (a INT, b VARCHAR(20));
INSERT INTO t VALUES (1, 'one'), (2, 'two');
SELECT * FROM t;
SELECT * FROM nowhere;
AUTOCOMMIT OFF;
INSERT INTO t VALUES (3, 'three');
SELECT COUNT(*) FROM t;
ROLLBACK;
SELECT COUNT(*) FROM t;
DROP TABLE t;
COMMIT;
"""


def test_a_command_is_recorded_and_replayed_without_its_server(tmp_path: Path) -> None:
    server = ENGINE.instance("server", "full", Place(tmp_path, tmp_path, ()))
    server.start()
    try:
        given = server.options(AccessPath.of({}))
        password = str(given["password"])
        url = f"derby://{given['user']}:{password}@127.0.0.1:{given['port']}/{given['database']}"
        (tmp_path / "statements").write_text(STATEMENTS, encoding="utf-8")
        java = shlex.join(jvm_command(("derbyclient", "derbytools", "derbyshared")))
        text = SCRIPT.replace("STATEMENTS", str(tmp_path / "statements")).replace("JAVA", java)
        (tmp_path / "script").write_text(text, encoding="utf-8")
        tape, command = tmp_path / "a.tape", ("--", "sh", tmp_path / "script")
        real = rowpath("record", url, "-o", tape, *command)
        scrubbed = rowpath("record", url, "--scrub", "-o", tmp_path / "b.tape", *command)
    finally:
        server.stop()
    assert real.returncode == 0, real.stderr
    assert "Table/View 'NOWHERE' does not exist" in real.stdout and password.encode() not in read(tape).content
    again = rowpath("replay", tape, *command)
    assert again.returncode == 0 and again.stderr.endswith(" requests answered, 0 refused\n"), again.stderr
    assert again.stdout and real.stdout.startswith(again.stdout)
    assert scrubbed.returncode == 2 and "--scrub does not know how DRDA lays out rows" in scrubbed.stderr
    assert not (tmp_path / "b.tape").exists()
