"""Where a server of MariaDB or MySQL is, and the driver that is to reach it."""

import importlib

from core.adapter import Unsupported


def address(options):
    """Where the server is and who logs in, by the names that all of these drivers use."""
    if options.get("transport") == "unix":
        where = {"unix_socket": options["socket"]}
    else:
        where = {"host": options["host"], "port": int(options["port"])}
    login = {"user": options["user"], "password": options.get("password") or "", "database": options["database"]}
    return where | login


def address_over_tcp(options):
    """The same for drivers over libmariadb, to which `localhost` is a socket of its own choice, whatever the port."""
    if options.get("transport") != "unix" and options["host"] == "localhost":
        checked = options.get("tls") == "verify-full"
        remedy = "it checks no server of that name" if checked else "name the host by its address"
        raise Unsupported(f"libmariadb takes localhost for a socket: {remedy}")
    return address(options)


def driver_module(name, remedy):
    """The driver's own module; Unsupported with the reason when it cannot be loaded."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unsupported(f"the driver {name} cannot be loaded: {error}; {remedy}") from error
