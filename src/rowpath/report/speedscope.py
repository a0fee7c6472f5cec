"""Call stacks in the format of speedscope, one profile for each side, weighted by time of an operation.

Source: https://www.speedscope.app/file-format-schema.json. Its viewer colours frames by `file`, which is the part here.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from rowpath import __version__
from rowpath import text as fmt
from rowpath.model.explanation import Flame, Frame

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write(flame: Flame, file: Path) -> None:
    """Write the file; OSError where it cannot be written."""
    file.write_bytes(msgspec.json.encode(document(flame)) + b"\n")


def document(flame: Flame) -> dict[str, object]:
    """The document."""
    numbers: dict[Frame, int] = {}
    profiles = []
    for side in flame.sides:
        times_ns = sorted(side.times_ns().items(), key=lambda item: item[0])  # callers beside each other
        profiles.append(
            {
                "type": "sampled",
                "name": f"{side.side} ({side.by})",
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": sum(ns for _stack, ns in times_ns),
                "samples": [[numbers.setdefault(frame, len(numbers)) for frame in stack] for stack, _ns in times_ns],
                "weights": [ns for _stack, ns in times_ns],
            }
        )
    return {
        "$schema": SCHEMA,
        "name": fmt.clean(f"{flame.name} · {flame.phase}"),
        "exporter": f"rowpath@{__version__}",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": fmt.clean(frame.name), "file": frame.part} for frame in numbers]},
        "profiles": profiles,
    }
