"""Files as engines: delimited text, Parquet, Arrow, record files."""
