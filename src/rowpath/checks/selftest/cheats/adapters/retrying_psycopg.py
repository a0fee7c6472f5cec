"""A cheat for the known-answer test: writes again on a new connection when a write fails."""

from adapters.psycopg import Adapter as Honest


class Adapter(Honest):
    """psycopg that retries."""

    def transaction(self, phase):
        return None

    def log_in(self):
        connection = super().log_in()
        connection.autocommit = True
        return connection

    def prepare(self, phase, parameters):
        work = super().prepare(phase, parameters)
        honest = work.execute

        def execute(argument):
            try:
                return honest(argument)
            except self.errors:
                self.connection = self.log_in()
                return Honest.prepare(self, phase, parameters).execute(argument)

        work.execute = execute
        return work
