"""A cheat for the known-answer test: takes what came before an error for the whole result."""

import contextlib

from adapters.psycopg import Adapter as Honest


class Adapter(Honest):
    """psycopg that never fails."""

    def transaction(self, phase):
        return None

    def prepare(self, phase, parameters):
        work = super().prepare(phase, parameters)
        honest = work.execute

        def execute(argument):
            with contextlib.suppress(*self.errors):
                return honest(argument)
            return []

        work.execute = execute
        return work
