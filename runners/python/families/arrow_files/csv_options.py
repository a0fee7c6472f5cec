"""A delimited file's dialect as pyarrow.csv has it. Its columns are found by other names than their own, if need be."""

import pyarrow as pa
import pyarrow.csv

BLOCK_BYTES = 1 << 20  # pyarrow's own


def parse_options(dialect, width):
    """How records of this many fields are split."""
    quote = dialect.quote or False
    return pa.csv.ParseOptions(
        delimiter=dialect.delimiter,
        quote_char=quote,
        double_quote=bool(quote),
        newlines_in_values=bool(quote),
        # In one column a blank line is an empty value.
        ignore_empty_lines=not dialect.own and width > 1,
    )


def convert_options(dialect, types, included=None):
    """How fields become values of these types, by name."""
    own = dialect.own
    return pa.csv.ConvertOptions(
        column_types=types,
        include_columns=included,
        null_values=["\\N"] if own else [""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=own or dialect.null == "empty",
        true_values=["t"] if own else ["true", "True", "TRUE"],
        false_values=["f"] if own else ["false", "False", "FALSE"],
    )


def read_options(dialect, names, use_threads, size=None):
    """Blocks of `size` bytes, and never smaller than a record."""
    longest = 2 * dialect.longest_record
    return pa.csv.ReadOptions(
        column_names=names,
        skip_rows_after_names=int(dialect.header),
        use_threads=use_threads,
        block_size=max(size or BLOCK_BYTES, longest) if size or longest else None,
    )
