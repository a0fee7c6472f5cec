"""Rows into a data frame of pandas: read_sql through a DBAPI connection, SQLAlchemy or ADBC."""

from functools import partial

import pandas

from families.columnar.sampler import ColumnarOperation
from families.dataframes.adapter import DataFrameAdapter
from families.pandas.frames import Frames
from families.sql.placeholders import formatted


class Adapter(DataFrameAdapter):
    own_errors = (pandas.errors.DatabaseError,)

    def prepare(self, phase, parameters):
        read = partial(pandas.read_sql, con=self.connection)
        if self.through != "adbc":
            read = partial(read, coerce_float=False)  # else decimals become floating point
        frames = Frames(phase.columns, self.as_text, self.readers(phase))
        if parameters is None or self.options.get("statement") == "text":
            return ColumnarOperation(frames, lambda sql: [read(sql)], self.texts(phase, parameters))
        sql = phase.sql if self.options["engine"] == "sqlite" else formatted(phase.sql)
        return ColumnarOperation(frames, lambda row: [read(sql, params=row)], parameters)

    def facts(self):
        return self.facts_with(pandas.__version__)
