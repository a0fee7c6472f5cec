"""For a known-answer test: nothing, beside a thread that burns CPU all the time, as a compiler with a backlog does."""

import threading

from adapters.null import Adapter as Honest


class Adapter(Honest):
    """null with a helper that never rests."""

    def prepare(self, phase, parameters):
        threading.Thread(target=burn, daemon=True).start()
        return super().prepare(phase, parameters)


def burn():
    while True:
        pass
