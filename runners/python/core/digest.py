"""The digests of the rows that `verify` met, and the file in which they are kept when asked for."""

from contextlib import contextmanager
from pathlib import Path

import xxhash

from core.codec import Met
from core.failure import Failure
from core.row_bytes import row_encoder
from core.touch import MASK64, touch_text

ORDER = 0x9E3779B97F4A7C15
MOST_COLUMNS = 8000  # that a reply of 1 MiB has room for
BLOCK_ROWS = 1000  # whose values are hashed at once, column by column

row_hash = xxhash.xxh64_intdigest  # XXH64 with seed 0


def digest_text(rows, total):
    """`rows:hex16` of the number of rows and the sum of their hashes."""
    return f"{rows}:{touch_text(total)}"


class Sums:
    """The sum of hashes, and their order digest."""

    def __init__(self):
        self.total = self.order = 0

    def add(self, hashes):
        """These, in the order of delivery."""
        order = self.order
        for one in hashes:
            order = order * ORDER + one & MASK64
        self.order = order
        self.total += sum(hashes)


class Digest:
    """Of the first `most` rows added; each one's length (u32, little endian) and codec bytes go to `write`, if any."""

    def __init__(self, columns, most, write=None):
        self._met = [Met() for _ in columns]
        self._encode = row_encoder(columns, self._met)
        self._most = most
        self._write = write
        self._count = 0
        self._block = []
        self._rows, self._columns = Sums(), [Sums() for _ in columns]

    def room(self):
        """How many more rows it takes."""
        return self._most - self._count

    def add(self, row):
        """One more row of natural values; beyond the last that it takes nothing happens. ValueError: another width."""
        if not self.room():
            return
        values = self._encode(row)
        self._count += 1
        self._block.append(values)
        if self._write:
            data = b"".join(values)
            self._write(len(data).to_bytes(4, "little") + data)
        if len(self._block) == BLOCK_ROWS:
            self._hash()

    def _hash(self):
        block, self._block = self._block, []
        self._rows.add([row_hash(b"".join(values)) for values in block])
        for sums, values in zip(self._columns, zip(*block, strict=True), strict=False):
            sums.add(list(map(row_hash, values)))

    def text(self):
        """`rows:hex16`."""
        self._hash()
        return digest_text(self._count, self._rows.total)

    def fields(self):
        """The protocol's fields of the digest, of its order and of its columns: left out where these are too many."""
        digest = self.text()
        if len(self._columns) > MOST_COLUMNS:
            return {"digest": digest}
        columns = [
            {"digest": touch_text(sums.total), "order": touch_text(sums.order), **met.fields()}
            for sums, met in zip(self._columns, self._met, strict=True)
        ]
        return {"digest": digest, "order": touch_text(self._rows.order), "columns": columns}


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
