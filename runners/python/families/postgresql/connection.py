"""Where a PostgreSQL server is, how to log in, and its placeholders."""

from core.adapter import Unsupported
from core.driver_settings import driver_settings
from families.sql import placeholders

SSLMODE = {
    "off": {"sslmode": "disable", "gssencmode": "disable"},
    "on": {"sslmode": "require"},
    "default": {},
    "verify-ca": {"sslmode": "verify-ca"},
    "verify-full": {"sslmode": "verify-full"},
}
FILES = {"tls_ca": "sslrootcert", "tls_cert": "sslcert", "tls_key": "sslkey"}


def tls(options):
    """`off`, `on`, `default`, `verify-ca` or `verify-full`; Unsupported where it cannot be."""
    wanted = options.get("tls", "off")
    if wanted not in ("off", "default") and options.get("transport") == "unix":
        raise Unsupported("PostgreSQL has no TLS on a unix socket: use transport=tcp")
    return wanted


def address(options):
    """Where the server is and who logs in, by the names that most drivers use."""
    return {
        "host": options["socket_dir"] if options.get("transport") == "unix" else options["host"],
        "port": options["port"],
        "user": options["user"],
        "password": options.get("password"),
    }


def plain(options):
    """Whether a connection begins without settings of ours: a pooler may refuse them."""
    return options.get("startup") == "plain"


def certificates(options):
    """The PEM files of authorities, certificate and key that are given, by libpq's keywords."""
    return {word: options[option] for option, word in FILES.items() if options.get(option)}


def libpq_keywords(options):
    """libpq's connection keywords."""
    return {
        **address(options),
        **SSLMODE[tls(options)],
        **certificates(options),
        "dbname": options["database"],
        "client_encoding": "UTF8",
        **({} if plain(options) else {"options": "-c TimeZone=UTC -c IntervalStyle=iso_8601"}),
        **driver_settings(options),
    }


def numbered(sql):
    """The SQL with `$1`, `$2`, … for its placeholders."""
    return placeholders.numbered(sql, "$")
