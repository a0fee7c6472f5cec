"""What a URL's options of encryption mean, and which are refused before anything connects."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.model.path import CHECKED
from rowpath.own_database import tls
from rowpath.own_database.candidates import ineligibility
from rowpath.own_database.target import read_target
from rowpath.own_database.tls import SYSTEM, Tls, read_tls
from rowpath.runners.manifest import adapter_of, every_adapter

PEM = "-----BEGIN CERTIFICATE-----\n"
FILES = ("root.crt", "own.crt", "own.key", "world.crt")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FILES:
        (tmp_path / name).write_text(PEM)
    (tmp_path / "no.pem").write_bytes(b"\x30\x82")
    (tmp_path / "locked.key").write_text("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tls, "_system_authorities", lambda: str(tmp_path / "world.crt"))
    return tmp_path


def read(engine: str, query: str, folder: Path, **environment: str) -> Tls:
    options = dict(pair.split("=", 1) for pair in query.split("&") if pair)
    found = read_tls(options, {"HOME": str(folder)} | environment, ENGINES[engine].probe.tls)
    here = f"{folder}/"
    return Tls(found.mode, *(file.removeprefix(here) for file in (found.ca, found.cert, found.key)))


@pytest.mark.parametrize(
    ("engine", "query", "expected"),
    [
        ("postgresql", "", Tls("default")),
        ("postgresql", "sslmode=disable", Tls("off")),
        ("postgresql", "sslmode=verify-full&sslrootcert=root.crt", Tls("verify-full", "root.crt")),
        ("postgresql", "sslMode=verify_ca&sslRootCert=root.crt", Tls("verify-ca", "root.crt")),
        ("postgresql", "sslmode=require&sslrootcert=root.crt", Tls("verify-ca", "root.crt")),
        ("postgresql", "sslrootcert=system", Tls("verify-full", "world.crt")),
        ("postgresql", "sslmode=require&sslcert=own.crt&sslkey=own.key", Tls("on", "", "own.crt", "own.key")),
        ("mysql", "ssl-mode=VERIFY_IDENTITY&ssl-ca=root.crt", Tls("verify-full", "root.crt")),
        ("mysql", "sslMode=VERIFY_CA&serverSslCert=root.crt", Tls("verify-ca", "root.crt")),
        ("mysql", "ssl_mode=VERIFY_IDENTITY", Tls("verify-full", "world.crt")),
        ("mariadb", "ssl-verify-server-cert=1&ssl-ca=root.crt", Tls("verify-full", "root.crt")),
        ("mariadb", "sslMode=trust&ssl_cert=own.crt&ssl_key=own.key", Tls("on", "", "own.crt", "own.key")),
        ("mysql", "useSSL=true&verifyServerCertificate=true&ssl-ca=root.crt", Tls("verify-ca", "root.crt")),
    ],
)
def test_the_spellings_of_clients_and_drivers_mean_the_same(
    engine: str, query: str, expected: Tls, folder: Path
) -> None:
    assert read(engine, query, folder) == expected


@pytest.mark.parametrize(
    ("lines", "query", "expected"),
    [
        ("ssl-mode=VERIFY_IDENTITY\nssl-ca=root.crt", "", Tls("verify-full", "root.crt")),
        ("ssl-ca=root.crt", "", Tls("verify-ca", "root.crt")),
        ("ssl_ca = root.crt\nssl-verify-server-cert", "", Tls("verify-full", "root.crt")),
        ("ssl-ca=root.crt\nskip-ssl-verify-server-cert", "", Tls("verify-ca", "root.crt")),
        ("ssl-cert=own.crt\nssl-key=own.key", "", Tls("on", "", "own.crt", "own.key")),
        ("ssl", "", Tls("on")),
        ("ssl=0\nssl-ca=root.crt", "", Tls("off")),
        ("skip-ssl", "", Tls("off")),
        ("loose-ssl-mode=REQUIRED\nssl-ca=root.crt", "", Tls("on")),
        ("ssl-mode=PREFERRED\nssl-cert=own.crt\nssl-key=own.key", "", Tls("default")),
        ("ssl-mode=VERIFY_CA\nssl-ca=root.crt", "ssl-mode=DISABLED", Tls("off")),
        ("ssl-ca=root.crt", "ssl-mode=VERIFY_IDENTITY", Tls("verify-full", "root.crt")),
        ("ssl-ca=root.crt", "ssl-verify-server-cert=1&ssl-ca=world.crt", Tls("verify-full", "world.crt")),
        ("ssl-ca=none.crt", "ssl-mode=REQUIRED", Tls("on")),
        ("user=u\n[mysqld]\nssl-ca=root.crt", "", Tls("default")),
    ],
)
@pytest.mark.parametrize("engine", ["mysql", "mariadb"])
def test_an_option_file_of_mysql_says_how_to_encrypt_where_the_url_does_not(
    engine: str, lines: str, query: str, expected: Tls, folder: Path
) -> None:
    (folder / ".my.cnf").write_text(f"[client]\n{lines}\n")
    assert read(engine, query, folder) == expected
    assert read("postgresql", "", folder) == Tls("default")


def test_authorities_of_an_option_file_that_cannot_be_read_are_an_error(folder: Path) -> None:
    (folder / ".my.cnf").write_text("[client]\nssl-ca=none.crt\n")
    with pytest.raises(UsageError, match=r"ssl_ca=none\.crt: No such file"):
        read("mysql", "", folder)


@pytest.mark.parametrize(
    ("engine", "query", "said"),
    [
        ("postgresql", "sslmode=requier", "unknown sslmode 'requier'"),
        ("postgresql", "sslmode=verify-full", ".postgresql/root.crt"),
        ("postgresql", "sslmode=verify-full&sslrootcert=none.crt", "No such file"),
        ("postgresql", "sslmode=verify-full&sslrootcert=no.pem", "no PEM file"),
        ("postgresql", "sslmode=verify-ca&sslrootcert=system", "check of the host's name"),
        ("postgresql", "sslrootcert=root.crt", "sslrootcert=root.crt checks nothing"),
        ("postgresql", "sslmode=require&sslcert=own.crt", "without its key"),
        ("postgresql", "sslmode=require&sslkey=own.key", "without its certificate"),
        ("postgresql", "sslmode=require&sslcert=own.crt&sslkey=locked.key", "has a password"),
        ("postgresql", "sslmode=disable&sslcert=own.crt&sslkey=own.key", "is not sent with sslmode=disable"),
        ("postgresql", "sslpassword=hunter2", "sslpassword is not supported"),
        ("mysql", "ssl-mode=REQUIRED&ssl-ca=root.crt", "checks nothing with ssl-mode=REQUIRED"),
        ("mysql", "trustCertificateKeyStoreUrl=file:x", "trustCertificateKeyStoreUrl is not supported"),
        ("mysql", "ssl-capath=/etc", "ssl-capath is not supported"),
    ],
)
def test_what_would_check_nothing_or_cannot_be_read_is_refused(
    engine: str, query: str, said: str, folder: Path
) -> None:
    with pytest.raises(UsageError) as refused:
        read(engine, query, folder)
    assert said in refused.value.message
    assert refused.value.hint
    assert "{" not in refused.value.hint
    assert "hunter2" not in f"{refused.value.message} {refused.value.hint}"


def test_the_usual_files_and_the_environment_complete_it_as_they_do_for_psql(folder: Path) -> None:
    usual = folder / ".postgresql"
    usual.mkdir()
    for name in ("root.crt", "postgresql.crt", "postgresql.key"):
        (usual / name).write_text(PEM)
    own = (".postgresql/postgresql.crt", ".postgresql/postgresql.key")
    assert read("postgresql", "sslmode=verify-full", folder) == Tls("verify-full", ".postgresql/root.crt", *own)
    assert read("postgresql", "sslmode=require", folder) == Tls("verify-ca", ".postgresql/root.crt", *own)
    assert read("postgresql", "", folder) == Tls("default")
    assert read("postgresql", "", folder, PGSSLMODE="verify-full").mode == "verify-full"
    given = read("postgresql", "sslrootcert=root.crt", folder, PGSSLMODE="verify-ca")
    assert given == Tls("verify-ca", "root.crt", *own)


@pytest.mark.parametrize(
    "text",
    [
        "host=h dbname=d user=u sslmode=verify-full sslrootcert=root.crt options='-c search_path=t1'",
        "jdbc:postgresql://h/d?user=u&sslmode=verify-full&sslrootcert=root.crt&currentSchema=t1",
        "Driver={PostgreSQL Unicode};Server=h;Database=d;Uid=u;SSLmode=verify-full;"
        "pqopt={sslrootcert=root.crt options='-c search_path=t1'}",
        "postgresql+psycopg2://u@h/d?sslmode=verify-full&sslrootcert=root.crt&options=-csearch_path%3Dt1",
    ],
)
def test_every_form_of_a_connection_string_may_hold_certificates_beside_settings(text: str, folder: Path) -> None:
    target = read_target(text, {"HOME": str(folder)})
    assert (target.tls, target.encryption.ca, target.session) == (
        "verify-full",
        f"{folder}/root.crt",
        {"search_path": "t1"},
    )


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("Driver={MariaDB Unicode};Server=h;Database=d;Uid=u;FORCETLS=1;SSLVERIFY=1;SSLCA=root.crt", "verify-full"),
        (
            "Driver={MySQL ODBC 8.0 Unicode Driver};Server=h;Database=d;Uid=u;SSLMODE=VERIFY_CA;SSLCA=root.crt",
            "verify-ca",
        ),
        ("jdbc:mysql://h/d?user=u&sslMode=VERIFY_CA&useSSL=true&serverSslCert=root.crt", "verify-ca"),
        ("mysql+pymysql://u@h/d?ssl_ca=root.crt&ssl_verify_identity=true", "verify-full"),
        ("jdbc:mysql://h/d?user=u&useSSL=true&verifyServerCertificate=false", "on"),
    ],
)
def test_a_mode_wins_over_a_switch_in_the_forms_of_drivers(text: str, mode: str, folder: Path) -> None:
    assert read_target(text, {"HOME": str(folder)}).tls == mode


def test_a_service_and_the_url_win_over_the_environment(folder: Path) -> None:
    (folder / ".pg_service.conf").write_text(f"[shop]\nhost=h\nsslmode=verify-full\nsslrootcert={folder}/own.crt\n")
    weaker = {"HOME": str(folder), "PGSSLMODE": "disable"}
    target = read_target("service=shop dbname=d user=u", weaker)
    assert (target.tls, target.encryption.ca) == ("verify-full", f"{folder}/own.crt")
    assert read_target("postgresql://u@h/d?sslMode=require", weaker).tls == "on"


def test_an_address_in_place_of_the_checked_name_is_refused(folder: Path) -> None:
    url = "postgresql://u@h/d?hostaddr=192.0.2.1&sslrootcert=root.crt&sslmode="
    with pytest.raises(UsageError, match="hostaddr"):
        read_target(f"{url}verify-full", {"HOME": str(folder)})
    assert read_target(f"{url}verify-ca", {"HOME": str(folder)}).host == "192.0.2.1"


@pytest.mark.parametrize("option", ["sslcrl=x", "sslpassword=hunter2", "sslMod=require", "ssl=true"])
def test_an_option_of_encryption_that_cannot_be_obeyed_is_refused(option: str, folder: Path) -> None:
    with pytest.raises(UsageError) as refused:
        read_target(f"postgresql://u@h/d?{option}", {"HOME": str(folder)})
    assert "hunter2" not in f"{refused.value.message} {refused.value.hint}"


def test_a_target_shows_its_files_and_checks_the_name_that_was_typed(folder: Path) -> None:
    query = f"ssl-mode=VERIFY_IDENTITY&ssl-ca={folder}/root.crt"
    target = read_target(f"mysql://me@localhost:3306/shop?{query}", {"HOME": str(folder)})
    assert (target.tls, target.host) == ("verify-full", "localhost")
    assert target.encryption.files == {"tls_ca": f"{folder}/root.crt"}
    assert target.shown.endswith(f"/shop?{query}")
    assert not target.notes


@pytest.mark.parametrize(
    ("language", "driver", "encryption", "said"),
    [
        ("python", "psycopg", Tls("verify-full", "ca", "own.crt"), ""),
        ("python", "psqlpy", Tls("verify-full", "ca"), "psqlpy does not check the server's certificate here"),
        ("python", "connectorx", Tls("verify-full", "ca"), "connectorx does not check the server's certificate here"),
        ("python", "mysqlclient", Tls("verify-ca", "ca"), "checks a certificate only together with the host's name"),
        ("python", "psqlpy", Tls("on", "", "own.crt"), "psqlpy sends no client certificate here"),
        ("rust", "sqlx-postgres", Tls("verify-full", "ca"), "sqlx-postgres trusts this machine's authorities too"),
        ("rust", "sqlx-postgres", Tls("verify-full", "world.crt"), ""),
    ],
)
def test_who_cannot_is_left_out_by_name(
    language: str, driver: str, encryption: Tls, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "_system_files", lambda: ["world.crt"])
    why, remedy = ineligibility(adapter_of(language, driver), encryption.mode, False, demands=encryption.demands)
    assert said in why
    assert bool(why) == bool(said) == bool(remedy)


def test_a_check_is_no_value_of_a_lattice() -> None:
    for adapter in every_adapter():
        assert not set(CHECKED) & set(adapter.coordinates.get("tls", ())), adapter.driver
        assert set(adapter.certificates) <= {*CHECKED, "client", SYSTEM}, adapter.driver
