"""A cheat for the known-answer test: leaves a descriptor open with each connection."""

import socket

from adapters.psycopg import Adapter as Honest

LEFT = []


class Adapter(Honest):
    """psycopg that leaks."""

    def log_in(self):
        LEFT.append(socket.socket())
        return super().log_in()
