"""A phase made ready on every connection, and where its clients go on."""

from typing import NamedTuple

from core.load import load_operation
from core.pipeline import PipelineSampler, pipeline_size


class Share(NamedTuple):
    """What one client is to do; `limit` is None when it goes by time."""

    position: int
    lead_in_ns: int
    duration_ns: int
    limit: int | None


class PreparedPhase:
    """One phase: a sampler per client, and where each client goes on."""

    def __init__(self, phase, parameters, samplers):
        self.phase = phase
        self.parameters = parameters
        self.samplers = samplers
        self.pipelined = isinstance(samplers[0], PipelineSampler)
        wrap = len(parameters or ()) // (phase.rows_per_operation if phase.kind == "load" else 1)
        self._starts = [client * wrap // len(samplers) for client in range(len(samplers))]
        self._positions = list(self._starts)
        self._next = 0

    def shares(self, first, lead_in_ns, duration_ns, operations):
        """What each client is to do in a sample, as the protocol divides it."""
        count = len(self.samplers)
        if operations:
            begin = self._next if first < 0 else first
            bounds = [client * operations // count for client in range(count + 1)]
            return [
                Share(begin + bounds[client], lead_in_ns, 0, bounds[client + 1] - bounds[client])
                for client in range(count)
            ]
        positions = self._positions if first < 0 else [first + start for start in self._starts]
        return [Share(position, lead_in_ns, duration_ns, None) for position in positions]

    def ended(self, turns):
        """Go on from here the next time."""
        self._positions = [turn.first + turn.outcome.operations + turn.outcome.failed for turn in turns]
        self._next = max(self._positions)


def prepared_sampler(phase, parameters, adapter):
    """The sampler of a phase on one connection."""
    if phase.kind == "load":
        operation, transaction = load_operation(adapter, phase, parameters or [], adapter.options.get("bulk", "none"))
    else:
        operation = adapter.prepare(phase, parameters)
        transaction = adapter.transaction(phase)
    size = pipeline_size(adapter, phase, parameters, transaction)
    if size:
        sampler = PipelineSampler(phase, operation, size)
    else:
        sampler = operation.sampler(phase.kind, phase.columns, phase.stamps, transaction)
    sampler.prepare_ns = operation.prepare_ns
    return sampler
