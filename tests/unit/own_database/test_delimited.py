"""How delimited files are written, found from them; what is refused before anything is timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.own_database import delimited
from rowpath.own_database.delimited import Dialect, dialect_of


def found(folder: Path, content: str | bytes, usual: str = ",", **given: str) -> tuple[Dialect, tuple[str, ...]]:
    file = folder / "orders.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return dialect_of(file, given, usual)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('\ufeffid;name\r\n1;"a\nb"\r\n', "delimiter ';', header, quotes, CRLF, byte-order mark, UTF-8"),
        ("1,01067,town\n2,10115,town\n", "delimiter ',', no header, no quotes, LF, UTF-8"),
        ("a\tb\n1\t2\n", "delimiter tab, header, no quotes, LF, UTF-8"),
        ("1|2\n3|4\n", "delimiter '|', no header, no quotes, LF, UTF-8"),
        ("id,n\n1,a; b\n2,c; d\n", "delimiter ',', header, no quotes, LF, UTF-8"),
        ('1,"a; b"\n2,"c; d"\n', "delimiter ',', no header, quotes, LF, UTF-8"),
        ('a,"b, c"\nd,"e, f"\n', "delimiter ',', header, quotes, LF, UTF-8"),
        ("1,5;2,5\n3,5;4,5\n", "delimiter ';', no header, no quotes, LF, UTF-8"),
        ('a,b\n1,5" disk\n', "delimiter ',', header, no quotes, LF, UTF-8"),
        ("word\n", "one column, header, no quotes, LF, UTF-8"),
        ("a,b\n1,2\r\n3,4\n", "delimiter ',', header, no quotes, LF and CRLF, UTF-8"),
        (",a,b\n0,x,y\n", "delimiter ',', header, no quotes, LF, UTF-8"),
        ("t1,E-2\n1,2\n", "delimiter ',', header, no quotes, LF, UTF-8"),
        ("a,-.5%\nb,x\n", "delimiter ',', no header, no quotes, LF, UTF-8"),
        ("name,2019\nx,1\n", "delimiter ',', no header, no quotes, LF, UTF-8"),
        ("Anna,Rome\nBob,Oslo\nCid,Rome\n", "delimiter ',', no header, no quotes, LF, UTF-8"),
    ],
)
def test_what_a_file_shows_is_said(content: str, said: str, tmp_path: Path) -> None:
    assert found(tmp_path, content)[1] == (f"orders.csv: {said}",)


def test_what_is_given_is_not_looked_for(tmp_path: Path) -> None:
    given = {"delimiter": "tab", "quote": "'", "header": "no", "null": "unquoted"}
    dialect, notes = found(tmp_path, "a;b\n'1\t2'\n", **given)
    assert (dialect.delimiter, dialect.quote, dialect.header, dialect.null) == ("\t", "'", False, "unquoted")
    assert notes == ("orders.csv: one column, no header, quotes ', LF, UTF-8",)
    assert not found(tmp_path, '1,"2\n3,4\n', quote="none")[0].quote
    assert found(tmp_path, "2019,2020\n1,2\n", header="yes")[0].header


def test_a_quote_far_behind_the_head_is_found(tmp_path: Path) -> None:
    assert found(tmp_path, "1,x\n" * (delimited.HEAD_BYTES // 2) + '1,"a, b"\n')[0].quote == '"'


def test_which_empty_fields_are_null_is_said_where_libraries_cannot_tell(tmp_path: Path) -> None:
    assert found(tmp_path, '1,,"x"\n')[0].null == "empty"
    dialect, notes = found(tmp_path, '"1","","x"\n')
    assert (dialect.null, len(notes), "empty texts" in notes[-1]) == ("never", 2, True)
    dialect, notes = found(tmp_path, '1,"",x\n2,,y\n')
    assert (dialect.null, len(notes), "cannot tell" in notes[-1]) == ("empty", 2, True)
    assert found(tmp_path, '1,"",x\n2,,y\n', null="unquoted")[0].null == "unquoted"


def test_a_long_record_is_known(tmp_path: Path) -> None:
    assert found(tmp_path, "a,b\n1,2\n")[0].longest_record == 0
    long = "x" * delimited.LONG_RECORD
    assert found(tmp_path, f'a,b\n1,"{long}\n{long}"\n')[0].longest_record == len(long) * 2 + 6


def test_only_the_first_bytes_of_a_great_file_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MOST_BYTES", 1 << 20)
    dialect, notes = found(tmp_path, "a,b\n" + "1,2\n" * (1 << 19) + "1,2,3\n")
    assert (dialect.quote, "first 1 MiB" in notes[0]) == ('"', True)


@pytest.mark.parametrize(
    ("content", "what", "hint"),
    [
        ("a,b,c\n1,2,3\n1,2\n", "line 3 has 2 fields, the first record has 3", "delimiter="),
        ('a,b\n1,"x\ny"\n1,2,3\n', "line 4 has 3 fields", ""),
        ("a,b\n1,2,3\n", "line 2 has 3 fields", ""),
        ("Report\n\na,b\n1,2\n3,4\n", "line 2 is blank|line 3 has 2 fields", ""),
        ("a,b\n1,2\n\n3,4\n", "line 3 is blank", ""),
        ('a,b\n1,"x" y\n', "line 2: text follows a closing quote", "quote=off"),
        ('a,b\n1,"x\n2,y\n', "open in line 2 is never closed", "quote=off"),
        ("a,b\r1,2\r", "line 1 has a carriage return", "tr '"),
        ("a,b\n1,2\r3,4\n", "line 2 has a carriage return", "tr '"),
        ("a,b\n1,é\n".encode("latin-1"), "line 2 has the byte 0xE9", "iconv -f WINDOWS-1252"),
        ("a,b\n1,é\n".encode("utf-16"), "is UTF-16", "iconv -f UTF-16"),
        ("a,b\n1,é\n".encode("utf-16-be"), "is UTF-16BE", "iconv -f UTF-16BE"),
        ("a,b\n1,é\n".encode("utf-32"), "is UTF-32", "iconv -f UTF-32"),
        (b"", "is empty", ""),
        (b"\xef\xbb\xbf\r\n", "is empty", ""),
    ],
)
def test_what_no_reader_could_agree_on_is_refused_with_its_line(
    content: str | bytes, what: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=what) as refused:
        found(tmp_path, content)
    assert hint in str(refused.value.hint)


@pytest.mark.parametrize(
    "given",
    [{"delimiter": "xy"}, {"delimiter": "é"}, {"header": "maybe"}, {"quote": "xy"}, {"null": "NA"}, {"delimiter": '"'}],
)
def test_options_that_mean_nothing_are_refused(given: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=next(iter(given))):
        found(tmp_path, "a,b\n", **given)
