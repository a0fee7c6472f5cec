"""What a URL says of encryption: whether the server's certificate is checked, by which authorities, and our own one."""

from __future__ import annotations

import re
import shlex
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rowpath.engines.probe_facts import TlsFacts, home
from rowpath.errors import UsageError
from rowpath.model.path import CHECKED, ENCRYPTED
from rowpath.toml_file import suggest

MODES = {
    **dict.fromkeys(("disable", "disabled", "false", "off", "0"), "off"),
    **dict.fromkeys(("allow", "prefer", "preferred"), "default"),
    **dict.fromkeys(("require", "required", "true", "on", "1", "trust"), "on"),
    "verify-ca": "verify-ca",
    **dict.fromkeys(("verify-full", "verify-identity"), "verify-full"),
}  # what URLs say of TLS → the coordinate `tls`
# Options as clients, drivers and JDBC URLs spell them, in lower case without - and _ → what they mean.
MEANINGS = {
    **dict.fromkeys(("sslmode", "tls", "ssl", "usessl", "forcetls"), "mode"),
    **dict.fromkeys(("sslrootcert", "sslca", "serversslcert", "tlsca"), "ca"),
    **dict.fromkeys(("sslcert", "tlscert"), "cert"),
    **dict.fromkeys(("sslkey", "tlskey"), "key"),
    **dict.fromkeys(("verifyservercertificate", "sslverifycert"), "verify-ca"),
    **dict.fromkeys(("sslverifyservercert", "sslverifyidentity", "sslverify"), "verify-full"),
}
SWITCHES = ("ssl", "usessl", "forcetls")  # they say nothing where a mode is named too
_PEM = "name PEM files: {ca}=FILE, {cert}=FILE, {key}=FILE"
REFUSED = {
    "sslpassword": "write the key without a password: openssl pkey -in FILE -out PLAIN-FILE",
    **dict.fromkeys(("sslcrl", "sslcrldir"), "revoked certificates are not looked for here: leave it out"),
    "sslcapath": "name one file of authorities: {ca}=FILE",
    **dict.fromkeys(("sslfactory", "sslhostnameverifier"), "leave it out: {strongest} checks chain and name"),
    **dict.fromkeys(("truststore", "keystore", "trustcertificatekeystoreurl", "clientcertificatekeystoreurl"), _PEM),
}
SYSTEM = "system"  # in place of a file: the authorities that this machine trusts
USUAL_FILES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


@dataclass(frozen=True)
class Tls:
    """The coordinate `tls`, and PEM files: the authorities of a check, our own certificate with its key."""

    mode: str = "default"
    ca: str = ""
    cert: str = ""
    key: str = ""

    @property
    def files(self) -> dict[str, str]:
        """The options of `open` that name files."""
        named = {"tls_ca": self.ca, "tls_cert": self.cert, "tls_key": self.key}
        return {option: file for option, file in named.items() if file}

    @property
    def demands(self) -> tuple[str, ...]:
        """What a driver must do beside the check: send a certificate; trust nobody but the authorities of a file."""
        authorities = bool(self.ca) and self.ca not in _system_files()
        return ("client",) * bool(self.cert) + ("authorities",) * authorities


def is_tls_option(key: str) -> bool:
    """Whether a URL's option of that name is about encryption."""
    return _plain(key) in MEANINGS or _plain(key) in REFUSED


def read_tls(options: Mapping[str, str], environment: Mapping[str, str], facts: TlsFacts) -> Tls:
    """What a URL's options mean, completed as the engine's client programs do.

    Errors: UsageError for an unknown mode, an option without a counterpart, files that cannot be read or that nothing
    would be checked by.
    """
    for key in options:
        if hint := REFUSED.get(_plain(key)):
            raise UsageError(f"{key} is not supported here", hint.format(**facts.options, strongest=facts.strongest))
    given: dict[str, tuple[str, str]] = {}
    for key in sorted(options, key=lambda key: _plain(key) in SWITCHES):
        if meaning := MEANINGS.get(_plain(key)):
            given.setdefault(meaning, (f"{key}={options[key]}", options[key]))
    for meaning, variable in facts.variables.items():
        if value := environment.get(variable):
            given.setdefault(meaning, (f"{variable}={value}", value))
    given = _with_saved(given, facts.saved(environment))
    asked = Tls(_mode(given), *(given.get(meaning, ("", ""))[1] for meaning in ("ca", "cert", "key")))
    tls = _completed(asked, given, {key: str(home(environment) / file) for key, file in facts.files.items()}, facts)
    words = {meaning: shown for meaning, (shown, _value) in given.items()}
    _refuse_halves(tls, words, facts)
    for meaning, file in (("ca", tls.ca), ("cert", tls.cert), ("key", tls.key)):
        if file:
            _refuse_unreadable(Path(file), words.get(meaning, file))
    return tls


def _with_saved(given: dict[str, tuple[str, str]], saved: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """With what the user's own file says for every server; what is of no use to this one is no mistake there."""
    read = {MEANINGS[_plain(key)]: (f"{key}={value}", value) for key, value in saved.items()}
    if {"mode", "verify-ca", "verify-full"} & set(given):
        read.pop("mode", None)
    both = read | given
    mode = _mode(both)
    needless = {*(() if mode in CHECKED else ("ca",)), *(() if mode in ENCRYPTED else ("cert", "key"))}
    return {meaning: words for meaning, words in both.items() if meaning in given or meaning not in needless}


def _plain(key: str) -> str:
    return re.sub("[-_]", "", key).lower()


def _mode(given: dict[str, tuple[str, str]]) -> str:
    for stronger in ("verify-full", "verify-ca"):
        if given.get(stronger, ("", ""))[1].lower() in ("true", "1", "yes", "on"):
            return stronger
    shown, value = given.get("mode", ("", "prefer"))
    word = value.lower().replace("_", "-")
    if word not in MODES:
        raise UsageError(f"unknown {shown.partition('=')[0]} '{value}'", suggest(word, tuple(MODES)))
    return MODES[word]


def _completed(asked: Tls, given: dict[str, tuple[str, str]], usual: dict[str, str], facts: TlsFacts) -> Tls:
    """With the usual files that are there, and the authorities that every check needs; all paths absolute."""
    tls = replace(asked, **{key: _absolute(getattr(asked, key)) for key in ("ca", "cert", "key")})
    if asked.ca == SYSTEM:
        if asked.mode == "verify-ca" or (asked.mode != "verify-full" and "mode" in given):
            # Some authority of the world signs for any server that asks.
            raise UsageError(f"{given['ca'][0]} needs a check of the host's name too", facts.strongest)
        return replace(tls, mode="verify-full", ca=_system_authorities())
    if tls.mode in ENCRYPTED:
        there = {key: file for key, file in usual.items() if Path(file).is_file()}
        tls = replace(tls, ca=tls.ca or there.get("ca", ""))
        if not tls.cert and not tls.key and {"cert", "key"} <= set(there):
            tls = replace(tls, cert=there["cert"], key=there["key"])
    if tls.ca and tls.mode == facts.checks_with_ca:
        tls = replace(tls, mode="verify-ca")
    if tls.mode in CHECKED and not tls.ca and "ca" in usual:
        what = f"tls={tls.mode} needs a file of authorities, and there is no {usual['ca']}"
        raise UsageError(what, f"{facts.options['ca']}=FILE, or {facts.options['ca']}={SYSTEM}")
    return replace(tls, ca=_system_authorities()) if tls.mode in CHECKED and not tls.ca else tls


def _absolute(file: str) -> str:
    return str(Path(file).expanduser().absolute()) if file and file != SYSTEM else file


def _refuse_halves(tls: Tls, words: dict[str, str], facts: TlsFacts) -> None:
    with_mode = f" with {words['mode']}" if "mode" in words else ""
    if tls.ca and tls.mode not in CHECKED:
        raise UsageError(f"{words['ca']} checks nothing{with_mode}", facts.strongest)
    if bool(tls.cert) != bool(tls.key):
        there, lacks = ("cert", "key") if tls.cert else ("key", "cert")
        missing = {"cert": "certificate", "key": "key"}[lacks]
        raise UsageError(f"{words[there]} comes without its {missing}", f"{facts.options[lacks]}=FILE")
    if tls.cert and tls.mode not in ENCRYPTED:
        raise UsageError(f"{words['cert']} is not sent{with_mode}", facts.strongest)


def _refuse_unreadable(file: Path, shown: str) -> None:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{shown}: {error.strerror}", f"ls -l {shlex.quote(str(file))}") from error
    if b"-----BEGIN " not in content:
        raise UsageError(f"{shown}: {file} is no PEM file", f"openssl x509 -inform der -in {file} -out {file.stem}.pem")
    if b"BEGIN ENCRYPTED" in content or b"4,ENCRYPTED" in content:
        raise UsageError(f"{shown}: the key has a password", f"openssl pkey -in {file} -out {file.stem}.plain.pem")


def _system_authorities() -> str:
    """The file of the authorities that this machine trusts, the same for every driver. Errors: UsageError."""
    if files := _system_files():
        return files[0]
    raise UsageError("this machine has no file of trusted authorities", "apt-get install ca-certificates")


def _system_files() -> list[str]:
    return [file for file in (ssl.get_default_verify_paths().cafile, *USUAL_FILES) if file and Path(file).is_file()]
