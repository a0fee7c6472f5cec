"""The forms in which values arrive, so that they can be compared."""

import struct

from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import TextBinaryLoader, TextLoader

from families.text.values import interval

INVALID_OID = 0  # of a type that the driver does not know


class IntervalText(Loader):
    """(months, days, nanoseconds): psycopg's own timedelta has no months."""

    def load(self, data):
        return interval(bytes(data).decode())


class IntervalBinary(Loader):
    format = Format.BINARY

    def load(self, data):
        microseconds, days, months = struct.unpack("!qii", data)
        return months, days, microseconds * 1000


class JsonbBinary(TextBinaryLoader):
    def load(self, data):
        return super().load(data[1:])  # after a version byte


class OwnTypeBinary(TextBinaryLoader):
    """Of the types that psycopg does not know some have a binary form that is no text."""

    def load(self, data):
        try:
            return super().load(data)
        except UnicodeDecodeError:
            return bytes(data)


def with_loaders(connection):
    """The connection, whose values arrive in the forms that are compared."""
    for name in ("json", "jsonb"):
        connection.adapters.register_loader(name, TextLoader)
    connection.adapters.register_loader("json", TextBinaryLoader)
    connection.adapters.register_loader("jsonb", JsonbBinary)
    connection.adapters.register_loader(INVALID_OID, OwnTypeBinary)  # types of the user's own: enums
    connection.adapters.register_loader("interval", IntervalText)
    connection.adapters.register_loader("interval", IntervalBinary)
    return connection
