"""`hosts.toml`: what it says, and every mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.cli.main import main
from rowpath.errors import UsageError
from rowpath.hosts import hosts_file, reach
from rowpath.model.hosts import Host, cpu_list

HOSTS = Path(__file__).parents[3] / "docs" / "hosts.md"
GOOD = """schema_version = 1
[[host]]
name = "db"
address = "10.0.0.10"
roles = ["server"]
[[host]]
name = "app1"
address = "10.0.0.21"
roles = ["client"]
helpers = "0-1"
"""


def _read(folder: Path, text: str) -> hosts_file.HostsFile:
    file = folder / "hosts.toml"
    file.write_text(text)
    return hosts_file.read(file)


def test_a_right_file(tmp_path: Path) -> None:
    hosts = _read(tmp_path, GOOD)
    assert [host.name for host in hosts.host] == ["db", "app1"]
    assert hosts.in_role("client") == ("app1", "db")
    assert cpu_list(hosts.named("app1").helpers) == (0, 1)


def test_a_host_may_have_several_roles(tmp_path: Path) -> None:
    hosts = _read(tmp_path, GOOD.replace('["client"]', '["client", "load"]'))
    assert hosts.loading == ("app1",)
    assert _read(tmp_path, GOOD).loading == ()


@pytest.mark.parametrize(
    ("right", "wrong", "where", "what"),
    [
        ("schema_version = 1", "schema_version = 2", ":1:", "schema_version 2"),
        ('name = "app1"', 'name = "db"', ":7:", "two hosts are called 'db'"),
        ('name = "app1"', 'name = "here"', ":7:", "invalid name 'here'"),
        ("10.0.0.21", "app1.example", ":8:", "invalid address 'app1.example'"),
        ("10.0.0.21", "10.0.0.10", ":8:", "the address 10.0.0.10 is used twice"),
        ('["client"]', "[]", ":9:", "host 'app1' has no role"),
        ('["client"]', '["klient"]', ":9:", "klient"),
        ('"0-1"', '"first"', ":10:", "invalid helpers 'first'"),
        ('helpers = "0-1"', 'cache = "cache"', ":10:", "invalid cache 'cache': expected an absolute path there"),
        ("helpers", "helper", ":10:", "unknown key 'helper'"),
        ('roles = ["server"]', 'roles = ["client"]', ":5:", "no host has the role 'server'"),
        ("schema_version = 1", "schema_version = 1\n[cluster]\nwait_s = -1", ":3:", "invalid wait_s -1"),
        ("schema_version = 1", "schema_version = 1\n[cluster]\nwait_s = inf", ":3:", "invalid wait_s inf"),
    ],
)
def test_a_mistake_has_its_line(tmp_path: Path, right: str, wrong: str, where: str, what: str) -> None:
    with pytest.raises(UsageError) as raised:
        _read(tmp_path, GOOD.replace(right, wrong))
    assert where in raised.value.message
    assert what in raised.value.message
    assert raised.value.hint


def test_no_such_file_but_a_command_that_writes_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hosts.toml"
    with pytest.raises(UsageError, match="no file") as raised:
        hosts_file.read(file)
    words = raised.value.hint.partition(" > ")[0].split()[1:]
    assert main(words) == 0
    file.write_text(capsys.readouterr().out)
    assert [host.name for host in hosts_file.read(file).host] == ["db", "app1"]
    assert f"```toml\n{file.read_text()}```" in HOSTS.read_text(encoding="utf-8"), "the document shows another one"


@pytest.mark.parametrize(
    ("rowpath", "there"),
    [
        ("", "rowpath hosts node"),
        ("/my programs/rowpath", "'/my programs/rowpath' hosts node"),
        ("~/my rowpath/rowpath", "~/'my rowpath/rowpath' hosts node"),
    ],
)
def test_options_of_ssh_come_before_the_command_which_the_shell_there_reads(rowpath: str, there: str) -> None:
    host = Host("db", "10.0.0.10", ("server",), ssh="-F '/my keys/config' -p 2222 me@db.example", rowpath=rowpath)
    words = reach.words(host)
    assert words[-7:] == ["-F", "/my keys/config", "-p", "2222", "me@db.example", "--", there]
