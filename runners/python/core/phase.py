"""A phase as the controller sends it."""

from core.codec import Column


class Phase:
    """The phase of a `prepare` request; `columns`, `parameter_columns` and `table_columns` are lists of Column."""

    def __init__(self, spec):
        self.name = spec["name"]
        self.kind = spec["kind"]
        self.way = spec.get("way", "")
        self.rows_per_operation = spec.get("rows_per_operation", 1)
        self.sql = spec.get("sql", "")
        self.table = spec.get("table", "")
        self.scan = spec.get("scan", False)
        self.access = spec.get("access", "")
        self.transaction = spec.get("transaction", "autocommit") == "transaction" or self.kind == "load"
        self.stamps = spec.get("stamps", False)
        self.columns = [Column(one) for one in spec.get("columns", [])]
        self.delivers = bool(self.columns) or self.kind == "query"  # rows, which may have no columns
        self.parameter_columns = [Column(one) for one in spec.get("parameter_columns", [])]
        self.table_columns = [Column(one) for one in spec.get("table_columns", [])]
        self.key_columns = spec.get("key_columns", [])
