"""What adapters of SQL engines have in common."""

from functools import partial

from core.adapter import Adapter


class SqlAdapter(Adapter):
    """A driver whose `run` executes SQL; its engine begins a transaction at BEGIN."""

    def adopt(self, connection):
        """Work on a connection in autocommit that a layer made, with values as on one of the driver's own."""
        self.shipped = False
        self.connection = connection

    def transaction(self, phase):
        if not phase.transaction:
            return None
        return partial(self.run, "BEGIN"), partial(self.run, "COMMIT"), partial(self.run, "ROLLBACK")
