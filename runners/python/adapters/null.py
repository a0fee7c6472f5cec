"""Nothing: what the loop and the clock cost; `burn_ns`, and `stall_ns` every `stall_every` operations, on request."""

from time import perf_counter_ns, sleep

from core.adapter import Adapter as Base
from core.operation import Operation


class Adapter(Base):
    def prepare(self, phase, parameters):
        burn_ns = int(self.options.get("burn_ns", 0))
        stall_ns = int(self.options.get("stall_ns", 0))
        stall_every = int(self.options.get("stall_every", 0))
        if stall_ns and stall_every:
            return Operation(stalling(burn_ns, stall_ns / 1e9, stall_every))
        return Operation(burning(burn_ns) if burn_ns else nothing)


def nothing(argument):
    pass


def burning(burn_ns):
    def burn(argument):
        end = perf_counter_ns() + burn_ns
        while perf_counter_ns() < end:
            pass

    return burn


def stalling(burn_ns, stall_s, every):
    burn = burning(burn_ns)
    done = 0

    def stall(argument):
        nonlocal done
        burn(argument)
        done += 1
        if done % every == 0:
            sleep(stall_s)

    return stall
