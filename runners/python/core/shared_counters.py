"""A client's slot in the shared counters (runners/PROTOCOL.md, `client-groups`)."""

from mmap import mmap
from pathlib import Path

from core.failure import Failure

HEAD = 16
COUNTS = 7296
WAITS, WORKS, DONE, GAVE_UP = 1, 2, 3, 4


class Slot:
    """One client's words as memoryviews: `control` (its group's), `head`, three histograms, `acknowledged`.

    The last is None where no counts by row are kept. Errors: Failure when no shared counters hold the slot.
    """

    def __init__(self, file, control, at, acknowledged, rows):
        try:
            with Path(file).open("r+b") as opened:
                memory = memoryview(mmap(opened.fileno(), 0))
        except (OSError, ValueError) as error:  # ValueError: it is empty
            raise Failure("internal", f"the shared counters {file}: {error}") from error
        kept = at + acknowledged if acknowledged else 0
        if max(control + 16, at + 8 * (HEAD + 3 * COUNTS), kept + 8 * rows) > len(memory):
            raise Failure("internal", f"the shared counters' {len(memory)} bytes end before the slot at {at}")
        self.control = memory[control : control + 16].cast("Q")
        words = memory[at : at + 8 * (HEAD + 3 * COUNTS)].cast("Q")
        self.head = words[:HEAD]
        self.service, self.latency, self.lateness = (
            words[HEAD + kind * COUNTS : HEAD + (kind + 1) * COUNTS] for kind in range(3)
        )
        self.acknowledged = memory[kept : kept + 8 * rows].cast("I") if kept else None
