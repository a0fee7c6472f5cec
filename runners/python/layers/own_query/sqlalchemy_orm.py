"""SQLAlchemy's ORM: `Session.execute` of a text, objects of a mapped class; a Session for each operation."""

from sqlalchemy import select
from sqlalchemy.orm import DeclarativeBase, Session

from families.sqlalchemy.own_query import SqlAlchemyOwnQuery, named, named_text, table_of


class Adapter(SqlAlchemyOwnQuery):
    def prepare(self, phase, parameters):
        self.bound = bool(phase.parameter_columns)
        return super().prepare(phase, parameters)

    def raw(self, sql):
        query = named_text(sql, self.bound)

        def rows(parameters):
            with Session(self.engine) as session:
                return session.execute(query, named(parameters)).all()

        return rows

    def mapped(self, table):
        class Base(DeclarativeBase):
            pass

        everything = select(type("Row", (Base,), {"__table__": table_of(table)}))

        def objects():
            with Session(self.engine) as session:
                return session.scalars(everything).all()

        return objects
