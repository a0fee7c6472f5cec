"""The types of a delimited file's columns: the narrowest that every value fits without losing anything.

A column is text where one of its values is not in a type's usual form: a leading zero, a plus, a blank, an underscore,
24:00:00, 30 February, more digits than the type keeps. What is quoted is typed as what is not.
"""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from families.arrow_files.csv_options import convert_options, parse_options, read_options

MOST_BYTES = 256 << 20  # of a file that are looked at
BLOCK_BYTES = 4 << 20
EXACT_DIGITS = 15  # of a decimal number that binary64 always keeps
MOST_DIGITS = 38
WHOLE = "(0|[1-9][0-9]*)"
DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
FORMS = {
    "boolean": "^(true|false|True|False|TRUE|FALSE)$",
    "integer": "^(0|-?[1-9][0-9]{0,18})$",
    "date": f"^{DAY}$",
    "timestamp with a blank": f"^{DAY} {CLOCK}$",
    "timestamp with T": f"^{DAY}T{CLOCK}$",
    "decimal": rf"^-?{WHOLE}\.[0-9]+$",
    "float": rf"^-?{WHOLE}(\.[0-9]+)?([eE][+-]?[0-9]+)?$",
}
CASTS = {
    "integer": pa.int64(),
    "date": pa.date32(),
    "timestamp with a blank": pa.timestamp("us"),
    "timestamp with T": pa.timestamp("us"),
}


def of_file(file, dialect):
    """(name, type, what the type is called, nullable, its size) of each column."""
    header, first = dialect.first_records(file)
    names = header or [f"f{number}" for number in range(len(first or ()))]
    columns = [_Column() for _ in names]
    looked_at = 0
    if first:
        for batch in _texts(file, dialect, [f"f{number}" for number in range(len(names))]):
            looked_at += BLOCK_BYTES
            for column, values in zip(columns, batch.columns, strict=True):
                column.narrow(values)
            if looked_at >= MOST_BYTES:
                break
    whole = looked_at < MOST_BYTES or file.stat().st_size <= MOST_BYTES
    where = "in the whole file" if whole else f"in its first {MOST_BYTES >> 20} MiB"
    found = []
    for number, (name, column) in enumerate(zip(names, columns, strict=True)):
        kind, size = column.type()
        found.append((name or f"f{number}", kind, f"{kind} {where}", column.nullable or not whole, size))
    return found


def _texts(file, dialect, names):
    """The file as batches of texts."""
    with pa.csv.open_csv(
        file,
        read_options(dialect, names, use_threads=False, size=BLOCK_BYTES),
        parse_options(dialect, len(names)),
        convert_options(dialect, dict.fromkeys(names, pa.string())),
    ) as opened:
        yield from opened


class _Column:
    """What the values of one column so far may be."""

    def __init__(self):
        self.nullable = False
        self._any = False
        self._left = set(FORMS)
        self._whole_digits = 0
        self._fractions = set()  # numbers of digits behind the point
        self._has_fraction = False  # a point or an exponent

    def narrow(self, values):
        """Take in more of them."""
        self.nullable = self.nullable or values.null_count > 0
        values = values.drop_null()
        if not len(values) or (self._any and not self._left):
            return
        self._any = True
        self._left = {kind for kind in self._left if self._fits(kind, values)}

    def _fits(self, kind, values):
        if not _all_match(values, FORMS[kind]):
            return False
        if kind in CASTS:
            return _casts(values, CASTS[kind])
        if kind == "decimal":
            return self._fits_decimal(values)
        return kind != "float" or self._fits_float(values)

    def _fits_decimal(self, values):
        point = pc.find_substring(values, ".")
        whole = pc.max(pc.subtract(point, pc.cast(pc.starts_with(values, "-"), pa.int32()))).as_py()
        self._whole_digits = max(self._whole_digits, whole)
        fractions = pc.subtract(pc.utf8_length(values), pc.add(point, 1))
        self._fractions |= set(pc.unique(fractions).to_pylist())
        fits = len(self._fractions) == 1 and self._whole_digits + max(self._fractions) <= MOST_DIGITS
        return fits and not _any_matches(values, r"^-[0.]+$")  # a decimal has no -0

    def _fits_float(self, values):
        self._has_fraction = self._has_fraction or _any_matches(values, "[.eE]")
        digits = pc.replace_substring_regex(values, "^-?[0.]*|[eE].*$|[.]", "")
        long = pc.greater(pc.utf8_length(digits), EXACT_DIGITS)
        unsure = values.filter(pc.or_(long, pc.match_substring_regex(values, "[eE][+-]?[0-9]{3}")))
        if not len(unsure):
            return True
        again = pc.cast(pc.cast(unsure, pa.float64()), pa.string())
        different = unsure.filter(pc.not_equal(unsure, again)).to_pylist()
        return all(Decimal(repr(float(text))) == Decimal(text) for text in different)

    def type(self):
        """The type and its size."""
        left = self._left if self._any else ()
        for kind in ("boolean", "integer", "date"):
            if kind in left:
                return kind, {"bits": 64} if kind == "integer" else {}
        if any(kind.startswith("timestamp") for kind in left):
            return "timestamp", {}
        if "decimal" in left:
            scale = max(self._fractions)
            return "decimal", {"precision": self._whole_digits + scale, "scale": scale}
        return ("float64" if "float" in left and self._has_fraction else "text"), {}


def _all_match(values, form):
    return pc.all(pc.match_substring_regex(values, form)).as_py()


def _any_matches(values, form):
    return pc.any(pc.match_substring_regex(values, form)).as_py()


def _casts(values, kind):
    if kind != pa.int64() and _any_matches(values, "^0000"):  # Python has no such year
        return False
    try:
        pc.cast(values, kind)
    except pa.ArrowInvalid:
        return False
    return True
