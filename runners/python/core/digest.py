"""The digest of the rows that `verify` met, and the file in which they are kept when asked for."""

from contextlib import contextmanager
from pathlib import Path

import xxhash

from core.failure import Failure
from core.row_bytes import row_encoder
from core.touch import touch_text


def row_hash(row):
    """XXH64 with seed 0."""
    return xxhash.xxh64_intdigest(row)


def digest_text(rows, total):
    """`rows:hex16` of the number of rows and the sum of their hashes."""
    return f"{rows}:{touch_text(total)}"


class Digest:
    """Of the first `most` rows added; each one's length (u32, little endian) and codec bytes go to `write`, if any."""

    def __init__(self, columns, most, write=None):
        self._encode = row_encoder(columns)
        self._most = most
        self._write = write
        self._rows = self._hashes = 0

    def room(self):
        """How many more rows it takes."""
        return self._most - self._rows

    def add(self, row):
        """One more row of natural values; beyond the last that it takes nothing happens. Errors: as the codec's."""
        if not self.room():
            return
        data = self._encode(row)
        self._rows += 1
        self._hashes += row_hash(data)
        if self._write:
            self._write(len(data).to_bytes(4, "little") + data)

    def text(self):
        """`rows:hex16`."""
        return digest_text(self._rows, self._hashes)


@contextmanager
def digesting(columns, most, keep=""):
    """A `Digest`; `keep`: a file to make of its rows. Errors: Failure when that cannot be made."""
    if not keep:
        yield Digest(columns, most)
        return
    try:
        file = Path(keep).open("wb")  # noqa: SIM115 (closed below: errors of the body are no errors of the file)
    except OSError as error:
        raise Failure("internal", f"{keep}: {error.strerror}") from error
    with file:
        yield Digest(columns, most, file.write)
