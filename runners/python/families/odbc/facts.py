"""What the engines behind ODBC report of themselves."""

from families.mysql.adapter import SHOWN
from families.postgresql.facts import TLS, server_facts
from families.sqlite.facts import engine_facts


def facts_of(engine, rows, settings):
    """The engine's part of the reply to `facts`; `rows(sql)` is a query's rows, `settings` are the driver's own."""

    def one(sql):
        return rows(sql)[0][0]

    if engine == "postgresql":
        return server_facts(one, settings | {"tls": one(TLS)})
    if engine == "sqlite":
        return engine_facts(one, settings)
    names = ", ".join(f"'{name}'" for name in SHOWN)
    shown = dict(map(tuple, rows(f"SHOW VARIABLES WHERE Variable_name IN ({names})")))
    cipher = dict(map(tuple, rows("SHOW STATUS LIKE 'Ssl_cipher'"))).get("Ssl_cipher")
    build = shown.pop("version_comment")
    return {
        "engine_version": shown["version"],
        "build": build,
        "settings": shown | settings | {"tls": f"on ({cipher})" if cipher else "off"},
    }
