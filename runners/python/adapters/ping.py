"""One byte there and one back: the least that any client of a server could spend."""

import socket

from core.adapter import Adapter as Base
from core.operation import Operation


class Adapter(Base):
    def connect(self):
        if self.options.get("transport") == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(self.options["socket"])
        else:
            self.socket = socket.create_connection((self.options["host"], int(self.options["port"])))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def prepare(self, phase, parameters):
        send, receive = self.socket.send, self.socket.recv

        def ping(argument):
            send(b"x")
            if not receive(1):
                raise ConnectionError("the ping server hung up")

        return Operation(ping)

    def close(self):
        self.socket.close()
