"""SQLAlchemy Core: `exec_driver_sql` of a query, `select` of a table."""

from sqlalchemy import select

from families.sql.placeholders import formatted
from families.sqlalchemy.own_query import SqlAlchemyOwnQuery, table_of


class Adapter(SqlAlchemyOwnQuery):
    def statement(self, phase):
        if self.options["engine"] == "sqlite":
            return phase.sql
        return formatted(phase.sql) if phase.parameter_columns else phase.sql.replace("%", "%%")

    def raw(self, sql):
        def rows(parameters):
            with self.engine.connect() as connection:
                return connection.exec_driver_sql(sql, parameters or None).all()

        return rows

    def mapped(self, table):
        everything = select(table_of(table))

        def objects():
            with self.engine.connect() as connection:
                return connection.execute(everything).all()

        return objects
