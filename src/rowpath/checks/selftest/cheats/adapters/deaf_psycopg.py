"""A cheat for the known-answer test: accepts a cancel and a timeout, and does nothing."""

from adapters.psycopg import Adapter as Honest


class Adapter(Honest):
    """psycopg that does not hear."""

    def cancel(self):
        pass

    def set_timeout(self, milliseconds):
        pass
