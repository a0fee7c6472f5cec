"""Queries sent by psycopg's pipeline mode: `connection.pipeline()` ends with one Sync for all of them.

Its `sync()` waits for what was sent, so a Sync behind each statement would be a round trip for each.
"""

import psycopg


class Failed:
    """The rows of a query that failed: taking them raises its error."""

    def __init__(self, error):
        self.error = error

    def __iter__(self):
        raise self.error


def executed(connection, open_cursor, query, keep):
    """A function of a list of arguments: the cursors that have their rows, once all were sent and answered.

    `query` is None where the arguments are the SQL texts; `keep`: whether the statement is prepared once;
    `open_cursor()` gives a cursor.
    """
    cursors = []

    def execute(arguments):
        while len(cursors) < len(arguments):
            cursors.append(open_cursor())
        sent = 0
        try:
            with connection.pipeline():
                for cursor, argument in zip(cursors, arguments, strict=False):
                    sent += 1
                    if query is None:
                        cursor.execute(argument, prepare=False)
                    else:
                        cursor.execute(query, argument, prepare=keep)
        except psycopg.Error as error:
            # psycopg raises the first error; a cursor without a result belongs to that statement or to one behind it.
            done = [cursor if cursor.pgresult else Failed(error) for cursor in cursors[:sent]]
            return done + [Failed(error)] * (len(arguments) - sent)
        return cursors[: len(arguments)]

    return execute
