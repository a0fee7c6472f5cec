"""A cheat for the known-answer test: a layer that sends one statement more than it needs."""

from sqlalchemy import text

from layers.sqlalchemy_orm import Adapter as Honest


class Adapter(Honest):
    """SQLAlchemy's ORM that asks whether the connection is alive before each film."""

    def tuned_film(self, key):
        with self.engine.connect() as connection:
            connection.execute(text("SELECT 1")).all()
        return super().tuned_film(key)
