"""Who had a core that was being measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["ours", "program", "kernel", "hypervisor", "unknown"]


@dataclass(frozen=True)
class CoreUser:
    """One user of measured cores, and for how long."""

    kind: Kind
    name: str  # `java: C2 CompilerThre`: process and thread
    ns: int
