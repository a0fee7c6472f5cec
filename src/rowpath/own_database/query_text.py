"""A query's text as people have it, and as it is sent: no byte-order mark, no comments, no semicolon at its end."""

from __future__ import annotations

import codecs
from pathlib import Path

from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError
from rowpath.own_database.tokens import BLANK, COMMENT, pieces_of
from rowpath.runners.protocol import REQUEST_LIMIT_BYTES

BYTE_ORDER_MARK = "\ufeff"
CODECS = {
    codecs.BOM_UTF32_LE: "utf-32",  # it begins as UTF-16's does
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # byte-order mark → how the file is written; otherwise it is UTF-8
LIMIT_BYTES = REQUEST_LIMIT_BYTES // 2  # in a request signs may take two bytes, and there are columns beside it


def text_of(query_file: Path) -> str:
    """What the file holds, in UTF-8 or, with a byte-order mark, in UTF-16. Errors: UsageError."""
    hint = "--query-file FILE, in UTF-8"
    try:
        data = query_file.read_bytes()
        codec = next((codec for mark, codec in CODECS.items() if data.startswith(mark)), "utf-8")
        return data.decode(codec)
    except OSError as error:
        raise UsageError(f"cannot read {query_file}: {error.strerror}", hint) from error
    except UnicodeDecodeError as error:
        at = f"byte {error.object[error.start]:#04x} at {error.start:,}"
        what = f"cannot read {query_file}: {at} is not {error.encoding}"
        raise UsageError(what, hint) from error


def as_sent(text: str, syntax: Syntax) -> str:
    """The query without what drivers stumble over; hints (`/*+ … */`) stay. Errors: UsageError.

    Drivers look for placeholders and quotes in comments too, and Rowpath writes more behind a query. Where a dialect is
    unknown, only a comment at the end goes: no one knows whether another one is a comment there.
    """
    text = text.lstrip(f" \r\n\t{BYTE_ORDER_MARK}")
    if "\0" in text:
        raise UsageError("the query has a NUL character", "save the query as plain text, in UTF-8")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise UsageError("the query is not UTF-8", "save it in a file in UTF-8: --query-file FILE") from error
    if size > LIMIT_BYTES:
        what = f"the query has {size:,} bytes: at most {LIMIT_BYTES:,} can be handed to a driver's process"
        raise UsageError(what, "write the values to a table and join it, or give them one by one with --params")
    pieces = list(pieces_of(text, syntax))
    while pieces and (pieces[-1].kind in (BLANK, COMMENT) or pieces[-1].token == ";"):
        pieces.pop()
    end = pieces[-1].end if pieces else 0
    if not end:
        raise UsageError("the query is empty", "--query 'SELECT …'")
    if syntax.unknown:
        return text[:end].strip()
    if not any(piece.kind == COMMENT for piece in pieces):
        return text[:end].lstrip()
    return "".join(" " if piece.kind == COMMENT else text[piece.begin : piece.end] for piece in pieces).lstrip()
