"""The replay server: what it answers, what it refuses, and the two tapes that come with the tests."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.tape.format import Header, Tape, TapeRecords, read, write
from rowpath.tape.replay_server import ReplayServer
from tests.end_to_end.command import error_form, records, rowpath
from tests.unit.tape.test_mysql import column, eof, greeting, packets
from tests.unit.tape.test_postgresql import STARTUP, message, prepared, ready, replies, startup_of

TAPES = Path(__file__).parents[1] / "tapes"
FLAGS = 0x00FFF7DF & ~0x828 | 1  # neither TLS nor a database named
TIMEOUT_S = 60.0


@contextlib.contextmanager
def served(made: TapeRecords, engine: str) -> Iterator[ReplayServer]:
    header = Header(engine, "1", "now")
    server = ReplayServer(Tape(Path("made.tape"), header, made.content()))
    server.start()
    try:
        yield server
    finally:
        server.stop()


class Client:
    """A client of raw bytes."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            more = self.socket.recv(size - len(found))
            assert more, f"it hung up after {found!r}"
            found += more
        return found

    def ended(self) -> bool:
        return self.socket.recv(1) == b""

    def message(self) -> bytes:
        head = self.exactly(5)
        return head + self.exactly(int.from_bytes(head[1:], "big") - 4)

    def until_ready(self) -> list[bytes]:
        found = [self.message()]
        while found[-1][:1] != b"Z":
            found.append(self.message())
        return found

    def packet(self) -> bytes:
        head = self.exactly(4)
        return self.exactly(int.from_bytes(head[:3], "little"))


def postgresql_client(server: ReplayServer, startup: bytes = STARTUP) -> Client:
    client = Client(server.port)
    client.send(struct.pack("!II", 8, 80877103))
    assert client.exactly(1) == b"N"
    client.send(struct.pack("!I", len(startup) + 4) + startup)
    return client


def keyed(count: int = 3) -> TapeRecords:
    """A statement under the name s1, executed with parameters x0, x1, …"""
    made = TapeRecords("postgresql")
    number = made.connect(startup_of(STARTUP), message("S", b"a\0b\0"))
    asked, got = prepared(), replies()
    made.ask(number, asked[0], got[0], "I", False)
    for key in range(count):
        for request, reply in zip(asked[1:-1], got[1:-1], strict=True):
            made.ask(number, request.replace(b"x", b"%d" % key), reply.replace(b"abc", b"ab%d" % key), "I", False)
    return made


def of_key(key: int, name: str = "s1") -> bytes:
    return b"".join(prepared(name)[1:]).replace(b"x", b"%d" % key)


def test_a_login_is_answered_and_the_pid_is_the_servers() -> None:
    with served(keyed(), "postgresql") as server:
        got = postgresql_client(server).until_ready()
        assert [one[:1] for one in got] == [b"R", b"S", b"K", b"Z"]
        assert int.from_bytes(got[2][5:9], "big") in server.pids


def test_names_pieces_and_pipelines_do_not_matter() -> None:
    with served(keyed(), "postgresql") as server:
        client = postgresql_client(server)
        client.until_ready()
        client.send(prepared("other")[0] + of_key(2, "other") + of_key(0, "other"))
        assert b"ab2" in b"".join(client.until_ready()) and b"ab0" in b"".join(client.until_ready())
        for byte in of_key(1, "other"):
            client.send(bytes((byte,)))
        assert b"".join(client.until_ready()) == b"".join(replies()[1:]).replace(b"abc", b"ab1")
        one_sync = of_key(0, "other")[:-5] + of_key(1, "other")
        client.send(one_sync)
        got = b"".join(client.until_ready())
        assert got.index(b"ab0") < got.index(b"ab1") and got.count(b"SELECT 2") == 2
        client.send(message("X"))
        assert client.ended()
        assert server.stop().refused == 0


def test_a_statement_is_ended_under_any_name() -> None:
    made = keyed()
    tag = message("C", b"DEALLOCATE\0") + ready()
    made.ask(0, message("Q", b'DEALLOCATE "s1"\0'), tag, "I", False)
    with served(made, "postgresql") as server:
        client = postgresql_client(server)
        client.until_ready()
        client.send(prepared("other")[0] + of_key(1, "other"))
        client.until_ready()
        client.send(message("Q", b"DEALLOCATE PREPARE other\0"))
        assert b"".join(client.until_ready()) == tag
        client.send(message("Q", b"DEALLOCATE PREPARE other\0"))  # which is not there any more
        assert b"the tape has no answer" in client.until_ready()[0]


def test_what_is_not_on_the_tape_is_refused_by_name() -> None:
    with served(keyed(), "postgresql") as server:
        client = postgresql_client(server)
        client.until_ready()
        client.send(prepared()[0] + of_key(7) + of_key(1))
        got = client.until_ready()
        assert [one[:1] for one in got] == [b"1", b"E", b"Z"] and b"XXTAP" in got[1]
        assert b"the tape has no answer: this request was not recorded: Bind SELECT $1" in got[1]
        assert b"ab1" in b"".join(client.until_ready())
        client.send(message("Q", b"SELECT 'unknown'\0"))
        got = client.until_ready()
        assert [one[:1] for one in got] == [b"E", b"Z"] and b"Query SELECT 'unknown'" in got[0]
        stranger = postgresql_client(server, STARTUP.replace(b"UTF8", b"LATIN1"))
        assert b"other settings of the connection" in stranger.message()
        assert stranger.ended()
        stopped = server.stop()
        assert stopped.refused == 3 and len(stopped.reasons) == 3


def test_replies_that_differ_follow_what_went_before() -> None:
    made = TapeRecords("postgresql")
    number = made.connect(startup_of(STARTUP), b"")

    def ask(sql: str, reply: str, state: str) -> None:
        tag = message("C", reply.encode() + b"\0")
        made.ask(number, message("Q", sql.encode() + b"\0"), tag + ready(state), state, False)

    for table in ("t", "u"):  # the same FETCH, of another cursor each time
        ask("BEGIN", "BEGIN", "T")
        ask(f"DECLARE c CURSOR FOR SELECT * FROM {table}", "DECLARE", "T")
        for part in ("first", "second", "empty"):
            ask("FETCH 10 FROM c", f"{table} {part}", "T")
        ask("COMMIT", "COMMIT", "I")
    for time in range(3):
        ask("SELECT now()", f"now {time}", "I")
    ask("SET a = 1", "SET", "I")
    ask("SELECT now()", "after a setting", "I")

    with served(made, "postgresql") as server:
        assert server.ambiguous == 0
        client = postgresql_client(server)
        client.until_ready()

        def said(sql: str) -> bytes:
            client.send(message("Q", sql.encode() + b"\0"))
            return client.until_ready()[0]

        for _ in range(3):
            for table in ("u", "t"):
                said("BEGIN")
                said(f"DECLARE c CURSOR FOR SELECT * FROM {table}")
                for part in ("first", "second", "empty"):
                    assert f"{table} {part}".encode() in said("FETCH 10 FROM c")
                said("COMMIT")
        for time in range(3):
            assert f"now {time}".encode() in said("SELECT now()")
        assert b"the tape has no answer" in said("SELECT now()")  # a fourth one would be a guess
        said("SET a = 1")
        assert b"after a setting" in said("SELECT now()")


def test_a_client_that_does_not_read_is_waited_for() -> None:
    made = TapeRecords("postgresql")
    number = made.connect(startup_of(STARTUP), b"")
    row = b"D" + struct.pack("!IHi", 10 + 1_000_000, 1, 1_000_000) + bytes(1_000_000)
    question = message("Q", b"SELECT big\0")
    made.ask(number, question, row + message("C", b"SELECT 1\0") + ready(), "I", False)
    with served(made, "postgresql") as server:
        client = postgresql_client(server)
        client.until_ready()
        sender = threading.Thread(target=client.send, args=(question * 300,), daemon=True)
        sender.start()
        other = postgresql_client(server)
        other.until_ready()
        other.send(question)
        assert other.until_ready()[0] == row
        for _ in range(300):
            assert [len(one) for one in client.until_ready()] == [len(row), 14, 6]


def test_a_client_that_reads_fast_gets_every_reply_of_a_full_pipeline() -> None:
    made = TapeRecords("postgresql")
    number = made.connect(startup_of(STARTUP), b"")
    row = b"D" + struct.pack("!IHi", 10 + 1_000_000, 1, 1_000_000) + bytes(1_000_000)
    question = message("Q", b"SELECT big\0")
    reply = row + message("C", b"SELECT 1\0") + ready()
    made.ask(number, question, reply, "I", False)
    room = bytearray(8 << 20)
    with served(made, "postgresql") as server:
        for _ in range(10):  # whether the server drains what it made is a matter of who is faster
            client = postgresql_client(server)
            client.until_ready()
            client.send(question * 300)
            left = 300 * len(reply)
            while left > 0:
                left -= client.socket.recv_into(room)
            assert left == 0


def mysql_client(server: ReplayServer, flags: int = FLAGS) -> Client:
    client = Client(server.port)
    hello = client.packet()
    assert hello[:8] == b"\x0a8.0.15\0" and b"mysql_native_password" in hello
    assert b"\0" not in hello[12:20] and hello[12:20] != Client(server.port).packet()[12:20]  # a salt of its own
    client.send(packets(struct.pack("<IIB", flags, 1 << 24, 33) + bytes(23) + b"me\0\0", first=1))
    return client


def mysql_tape() -> TapeRecords:
    made = TapeRecords("mysql")
    hello = greeting(FLAGS).replace(b"caching_sha2_password\0", b"mysql_native_password\0")
    hello = hello.replace(b"saltsaltsalt", bytes(12)).replace(b"saltsalt", bytes(8))
    ok = b"\0\0\0\2\0\0\0"
    number = made.connect(struct.pack("<IIB", FLAGS, 0, 33) + bytes(23), bytes((len(hello),)) + hello + ok)
    statement = packets(b"\0" + struct.pack("<IHHBH", 70, 1, 1, 0, 0), column(), eof(0), column(), eof(0))
    made.ask(number, b"\x16SELECT ?", statement, "I", False, 1)
    for key in range(3):
        binary = packets(b"\1", column(), eof(0), b"\0\0\3ab%d" % key, eof(0))
        bound = b"\x01\xfe\0" if key == 0 else b"\0"  # the types come once
        made.ask(number, b"\x17\1\0\0\0\0\1\0\0\0\0" + bound + b"\1%d" % key, binary, "I", False)
    made.ask(number, b"\x0e", packets(ok), "I", False)
    return made


def test_statements_of_mysql_are_numbered_by_connection() -> None:
    with served(mysql_tape(), "mariadb") as server:
        client = mysql_client(server)
        assert client.packet()[:1] == b"\0"

        def answer(count: int) -> list[bytes]:
            return [client.packet() for _ in range(count)]

        def execute(number: int, key: int, typed: bool) -> bytes:
            types = b"\1\xfe\0" if typed else b"\0"
            client.send(
                packets(
                    b"\x17" + struct.pack("<I", number) + b"\0\1\0\0\0\0" + types + b"\1%d" % key,
                    first=0,
                )
            )
            return b"".join(answer(5))

        for expected in (1, 2):
            client.send(packets(b"\x16SELECT ?", first=0))
            assert answer(5)[0][1:5] == struct.pack("<I", expected)
        assert b"ab2" in execute(2, 2, True) and b"ab1" in execute(2, 1, False)
        assert b"ab0" in execute(1, 0, True)
        client.send(packets(b"\x19\1\0\0\0", first=0) + packets(b"\x0e", first=0))
        assert client.packet()[:1] == b"\0"
        client.send(packets(b"\x03SELECT 'unknown'", first=0))
        assert b"the tape has no answer: this request was not recorded: QUERY SELECT 'unknown'" in client.packet()
        client.send(packets(b"\x17\1\0\0\0\0\1\0\0\0\0\0\1x", first=0))
        assert b"has not prepared" in client.packet()
        stranger = mysql_client(server, FLAGS & ~2)
        assert b"other capabilities" in stranger.packet() and stranger.ended()


# Of Derby one is recorded and run in test_tape_drda, which also serves and refuses the tape that is here.
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_run_from_a_tape_proves_its_rows(engine: str, tmp_path: Path) -> None:
    done = rowpath(
        "run", "--tape", TAPES / f"{engine}.tape", "-r", "1", "-w", "0.1", "-q", "--gate", "-o", tmp_path / "r"
    )
    assert done.returncode == 0, done.stderr
    found = records(tmp_path / "r")
    (path,) = (one for one in found if one["record"] == "path")
    assert path["coordinates"]["engine_version"] == "tape"
    verified = [one for one in found if one["record"] == "verify"]
    assert {(one["workload"], one["phase"]) for one in verified} == {("keyed", "read"), ("scan", "read")}
    assert all(one["ok"] for one in verified)
    steady = [one for one in found if one["record"] == "sample" and one["regime"] == "steady"]
    assert steady and all(one["touch_ok"] and not one["failed"] for one in steady)


def test_another_drivers_requests_are_its_failure(tmp_path: Path) -> None:
    words = ("--driver", "psycopg2,psycopg", "-r", "1", "-w", "0.1", "-q", "--gate", "-o", tmp_path / "r")
    done = rowpath("run", "--tape", TAPES / "postgresql.tape", *words)
    assert done.returncode == 1, done.stderr
    failures = records(tmp_path / "r", "failure")
    assert failures and all("driver=psycopg2" in one["path_id"] for one in failures)
    assert any("the tape has no answer: this request was not recorded" in one["text"] for one in failures)


def test_a_tape_without_an_experiment_names_the_next_command(tmp_path: Path) -> None:
    made = keyed()
    write(tmp_path / "a.tape", Header("postgresql", "1", "now"), made.content())
    done = rowpath("run", "--tape", tmp_path / "a.tape")
    message_, hint = error_form(done.stderr)
    assert done.returncode == 2 and "holds no experiment" in message_ and hint.startswith("rowpath replay")


def test_a_tape_with_senseless_records_is_refused(tmp_path: Path) -> None:
    made = keyed()
    made.ask(0, message("d", b"x"), b"", "I", False)
    write(tmp_path / "a.tape", Header("postgresql", "1", "now"), made.content())
    with pytest.raises(UsageError, match="is damaged: a COPY from the client"):
        ReplayServer(read(tmp_path / "a.tape")).check()
