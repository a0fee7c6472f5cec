"""SQLModel: `Session.exec` of a text, objects of a class that is both SQLAlchemy's and Pydantic's."""

from types import new_class
from typing import Any

import sqlmodel
from sqlmodel import Field, Session, SQLModel, select

from families.sqlalchemy import engine
from families.sqlalchemy.own_query import SqlAlchemyOwnQuery, named, named_text, sql_column


class Adapter(SqlAlchemyOwnQuery):
    def prepare(self, phase, parameters):
        self.bound = bool(phase.parameter_columns)
        return super().prepare(phase, parameters)

    def raw(self, sql):
        query = named_text(sql, self.bound)

        def rows(parameters):
            with Session(self.engine) as session:
                return session.exec(query, params=named(parameters)).all()

        return rows

    def mapped(self, table):
        everything = select(model_of(table))

        def objects():
            with Session(self.engine) as session:
                return session.exec(everything).all()

        return objects

    def version(self):
        return {"sqlmodel": sqlmodel.__version__, **engine.version()}


def model_of(table):
    """The class of a mapped table."""
    SQLModel.metadata.clear()  # of a class that was made before

    def fill(namespace):
        namespace["__tablename__"] = table.parts[-1]
        namespace["__table_args__"] = {"schema": table.schema}
        namespace["__annotations__"] = dict.fromkeys(table.attributes, Any)
        for attribute, column in table.each():
            namespace[attribute] = Field(sa_column=sql_column(attribute, column, table.is_key(column)))

    return new_class("Row", (SQLModel,), {"table": True}, fill)
