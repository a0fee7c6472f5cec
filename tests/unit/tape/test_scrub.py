"""Noise of the same size that readers of the type still take."""

from __future__ import annotations

import json
import struct
import uuid
from datetime import datetime
from decimal import Decimal

import pytest

from rowpath.tape.conversation import Refused
from rowpath.tape.mysql import scrubbed_row as mysql_row
from rowpath.tape.postgresql import scrubbed_fields, scrubbed_row
from rowpath.tape.scrub import Scrub

TEXT = "Zoë Müller, 42 Main St. €5 😀".encode()


def test_texts_keep_length_signs_and_validity() -> None:
    scrub = Scrub()
    noise = scrub.text(TEXT)
    assert len(noise) == len(TEXT) and noise != TEXT
    assert len(noise.decode()) == len(TEXT.decode()) and b"Main" not in noise and noise.count(b",") == 1
    assert scrub.text(TEXT) == noise and Scrub().text(TEXT) != noise


@pytest.mark.parametrize("value", [b"2147483647", b"-12.50", b"1e-05", b"0.001", b"NaN", b"7"])
def test_numbers_never_grow(value: bytes) -> None:
    for _ in range(20):
        noise = Scrub().number(value)
        assert len(noise) == len(value)
        if value != b"NaN":
            assert abs(Decimal(noise.decode())) <= abs(Decimal("1e5" if b"e" in value else value.decode()))


def test_moments_and_documents_stay_readable() -> None:
    scrub = Scrub()
    noise = scrub.moment(b"2024-02-29 23:59:59.123456")
    datetime.fromisoformat(noise.decode())
    document = json.dumps({"name": 'O"Brien', "age": 41, "ok": True, "none": None, "list": [1.5, "x"]}).encode()
    found = json.loads(scrub.json(document))
    assert len(scrub.json(document)) == len(document) and b"Brien" not in scrub.json(document)
    assert True in found.values() and None in found.values()
    uuid.UUID(scrub.hexadecimal(b"12345678-1234-5678-1234-567812345678").decode())


def row(*values: bytes | None) -> bytes:
    body = struct.pack("!H", len(values))
    body += b"".join(struct.pack("!i", -1) if one is None else struct.pack("!i", len(one)) + one for one in values)
    return b"D" + struct.pack("!I", len(body) + 4) + body


def test_rows_of_postgresql_by_type() -> None:
    values = (b"secret", struct.pack("!i", 1000), None, struct.pack("!d", 2.5), b"\1", b"9")
    columns = [(25, 0), (23, 1), (25, 0), (701, 1), (16, 1), (23, 0)]
    raw = row(*values)
    noise = scrubbed_row(Scrub(), raw, columns)
    assert len(noise) == len(raw) and b"secret" not in noise
    assert 0 <= struct.unpack_from("!i", noise, 7 + 10 + 4)[0] <= 1000
    with pytest.raises(Refused, match="type 600"):
        scrubbed_row(Scrub(), row(bytes(16)), [(600, 1)])


def test_an_error_keeps_its_sentence_only() -> None:
    fields = b'SERROR\0C23505\0Mduplicate key "users_email"\0DKey (email)=(a@b.c) already exists.\0\0'
    raw = b"E" + struct.pack("!I", len(fields) + 4) + fields
    noise = scrubbed_fields(Scrub(), raw)
    assert len(noise) == len(raw) and b"C23505\0Mduplicate key" in noise
    assert b"a@b.c" not in noise and b"users_email" not in noise


def test_rows_of_mysql_by_type() -> None:
    text = b"\6secret" + b"\4" + b"1234" + b"\xfb"
    noise = mysql_row(Scrub(), text, [(253, 33), (3, 63), (253, 33)], False)
    assert len(noise) == len(text) and b"secret" not in noise and noise[-1:] == b"\xfb"
    binary = b"\0" + bytes((0b1000,)) + struct.pack("<i", 77) + b"\4" + struct.pack("<HBB", 2024, 2, 29)
    noise = mysql_row(Scrub(), binary, [(3, 63), (253, 33), (10, 63)], True)
    assert len(noise) == len(binary) and 0 <= struct.unpack_from("<i", noise, 2)[0] <= 77
    with pytest.raises(Refused, match="GEOMETRY"):
        mysql_row(Scrub(), b"\1x", [(255, 63)], False)
