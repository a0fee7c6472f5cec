"""What programs by hand write, on a bare driver of PostgreSQL or SQLite."""

from contextlib import contextmanager
from decimal import Decimal

from families.films.graph import DIRECTORS, ROLES, cast_of, directors_of
from families.films.statements import (
    ADD_ACTOR,
    ADD_ACTORS,
    ADD_DIRECTOR,
    ADD_DIRECTORS,
    ADD_FILM,
    ADD_WHOLE,
    CHANGE,
    LOCKED_BUDGET,
    MARKS,
    RAISE_BUDGET,
    SET_BUDGET,
    of_rows,
)


@contextmanager
def immediate(execute):
    """A transaction of SQLite that has the lock to write from its beginning."""
    execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        execute("ROLLBACK")
        raise
    execute("COMMIT")


class Writes:
    """The operations that write; `rows`, `spelt` and `decimal` are the adapter's."""

    def open(self):
        connection = self.driver.connection
        self.execute = connection.cursor().execute
        self.transaction_here = (
            connection.transaction if self.options["engine"] == "postgresql" else lambda: immediate(self.execute)
        )

    def add_by_queries(self):
        rows, execute, transaction = self.rows, self.execute, self.transaction_here
        (film,), mark = self.spelt(ADD_FILM), MARKS[self.engine]
        directors = of_rows(ADD_DIRECTORS, mark, 3, DIRECTORS)
        actors = of_rows(ADD_ACTORS, mark, 4, len(ROLES))

        def deliver(title, released, budget, person):
            with transaction():
                ((key,),) = rows(film, title, released, budget)
                execute(directors, [value for row in directors_of(person) for value in (key, *row)])
                execute(actors, [value for row in cast_of(person) for value in (key, *row)])

        return deliver

    def add_by_lazy(self):
        rows, execute, transaction = self.rows, self.execute, self.transaction_here
        film, director, actor = self.spelt(ADD_FILM, ADD_DIRECTOR, ADD_ACTOR)

        def deliver(title, released, budget, person):
            with transaction():
                ((key,),) = rows(film, title, released, budget)
                for row in directors_of(person):
                    execute(director, (key, *row))
                for row in cast_of(person):
                    execute(actor, (key, *row))

        return deliver

    def add_by_server(self):
        execute = self.execute
        (whole,) = self.spelt(ADD_WHOLE)

        def deliver(title, released, budget, person):
            directors = [at for at, _position in directors_of(person)]
            cast = [at for at, _position, _role in cast_of(person)]
            execute(whole, (title, released, budget, directors, cast, list(ROLES)))

        return deliver

    def change_by_queries(self):
        execute = self.execute
        (change,) = self.spelt(CHANGE)
        return lambda key, title, budget: execute(change, (title, budget, key))

    def read_modify_write_by_queries(self):
        rows, execute, transaction, decimal = self.rows, self.execute, self.transaction_here, self.decimal
        read, write = self.spelt(LOCKED_BUDGET[self.engine], SET_BUDGET)

        def deliver(key, amount):
            with transaction():
                ((budget,),) = rows(read, key)
                execute(write, ((decimal(budget) or Decimal(0)) + amount, key))

        return deliver

    def read_modify_write_by_server(self):
        execute = self.execute
        (write,) = self.spelt(RAISE_BUDGET[self.engine])
        return lambda key, amount: execute(write, (amount, key))
