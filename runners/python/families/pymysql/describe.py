"""What MariaDB and MySQL report of a query's columns: the statement is prepared in the server, never executed.

Sources: MariaDB's documentation, "COM_STMT_PREPARE" and "Result Set Packets" (column definition).
"""

import struct

from pymysql.constants import COMMAND, FIELD_TYPE, FLAG
from pymysql.protocol import FieldDescriptorPacket

from core.describe import decimal, described, opaque

BYTES = 63  # the character set of what is no text
INTEGERS = {
    FIELD_TYPE.TINY: ("TINYINT", 16),
    FIELD_TYPE.SHORT: ("SMALLINT", 16),
    FIELD_TYPE.INT24: ("MEDIUMINT", 32),
    FIELD_TYPE.LONG: ("INT", 32),
    FIELD_TYPE.LONGLONG: ("BIGINT", 64),
}
OTHERS = {
    FIELD_TYPE.YEAR: ("integer", "YEAR", {"bits": 16}),
    FIELD_TYPE.FLOAT: ("float32", "FLOAT", {}),
    FIELD_TYPE.DOUBLE: ("float64", "DOUBLE", {}),
    FIELD_TYPE.DATE: ("date", "DATE", {}),
    FIELD_TYPE.NEWDATE: ("date", "DATE", {}),
    FIELD_TYPE.TIME: ("time", "TIME", {}),
    FIELD_TYPE.DATETIME: ("timestamp", "DATETIME", {}),
    FIELD_TYPE.TIMESTAMP: ("timestamp", "TIMESTAMP", {}),  # the wall clock of the session's time zone
    FIELD_TYPE.JSON: ("json", "JSON", {}),
    FIELD_TYPE.NULL: ("text", "NULL", {}),
}
TEXTS = {
    FIELD_TYPE.TINY_BLOB: ("TINYTEXT", "TINYBLOB"),
    FIELD_TYPE.BLOB: ("TEXT", "BLOB"),
    FIELD_TYPE.MEDIUM_BLOB: ("MEDIUMTEXT", "MEDIUMBLOB"),
    FIELD_TYPE.LONG_BLOB: ("LONGTEXT", "LONGBLOB"),
    FIELD_TYPE.STRING: ("CHAR", "BINARY"),
    FIELD_TYPE.VAR_STRING: ("VARCHAR", "VARBINARY"),
    FIELD_TYPE.VARCHAR: ("VARCHAR", "VARBINARY"),
}
VECTOR = 242  # MySQL 9's
OPAQUE = {FIELD_TYPE.GEOMETRY: "GEOMETRY", VECTOR: "VECTOR"}


def columns(connection, sql):
    """The columns of `sql` through a connection of PyMySQL."""
    connection._execute_command(COMMAND.COM_STMT_PREPARE, sql)
    head = connection._read_packet()
    _, statement, count, placeholders = struct.unpack_from("<BIHH", head.get_all_data())
    if placeholders:
        for _ in range(placeholders + 1):  # and the end of their list
            connection._read_packet()
    fields = [connection._read_packet(FieldDescriptorPacket) for _ in range(count)]
    if count:
        connection._read_packet()
    connection._execute_command(COMMAND.COM_STMT_CLOSE, struct.pack("<I", statement))
    return [column(field) for field in fields]


def column(field):
    """One column by its definition."""
    name, kind, flags = field.name, field.type_code, field.flags
    nullable = not flags & FLAG.NOT_NULL
    unsigned = bool(flags & FLAG.UNSIGNED)
    if kind in INTEGERS:
        engine_type, bits = INTEGERS[kind]
        engine_type += " UNSIGNED" * unsigned
        wide = unsigned and kind in (FIELD_TYPE.SHORT, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG)
        return described(name, "integer", engine_type, nullable, bits=2 * bits if wide else bits)
    if kind in (FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL):
        precision = field.length - (not unsigned) - (field.scale > 0)
        return decimal(name, f"DECIMAL({precision},{field.scale})", precision, field.scale, nullable)
    if kind == FIELD_TYPE.BIT:
        return described(name, "bits", f"BIT({field.length})", nullable, length=field.length)
    if flags & FLAG.SET:
        return described(name, "text", "SET", nullable)
    if flags & FLAG.ENUM:
        return described(name, "text", "ENUM", nullable)
    if kind in TEXTS:
        text, binary = TEXTS[kind]
        if field.charsetnr == BYTES:
            return described(name, "binary", binary, nullable, length=field.length)
        return described(name, "char" if text == "CHAR" else "text", text, nullable)
    if kind in OTHERS:
        codec_type, engine_type, size = OTHERS[kind]
        return described(name, codec_type, engine_type, nullable, **size)
    return opaque(name, OPAQUE.get(kind, f"type {kind}"), nullable)
