"""Breaks the network of a lab again and again, and prints the longest times: python -m tests.hosts.repeat_faults 10."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.hosts import broken_network, lab
from tests.hosts.conftest import load_experiment


def main(times: int, names: list[str]) -> None:
    """Each fault, that many times; a line for every one, as soon as it is known."""
    with tempfile.TemporaryDirectory() as name, lab.in_namespaces(Path(name)) as hosts:
        hosts.up()
        for fault in names or broken_network.FAULTS:
            seen = [_once(hosts, Path(tempfile.mkdtemp(dir=name)), fault) for _ in range(times)]
            noticed = max(each.noticed_s for each in seen)
            gone = max(each.gone_s for each in seen)
            named = sum(f"error: host {_named(each.errors)} was lost" in each.errors for each in seen)
            right = sum(_named(each.errors) in broken_network.FAULTS[fault].named for each in seen)
            left = sum(bool(each.left) for each in seen)
            print(
                f"{fault:24} {times} times: ended within {noticed:.1f} s, processes gone within {gone:.1f} s; "
                f"said {named}, rightly {right}; something left {left}",
                flush=True,
            )


def _named(errors: str) -> str:
    return errors.partition("error: host ")[2].partition(" ")[0]


def _once(hosts: lab.Lab, folder: Path, fault: str) -> broken_network.Seen:
    if not broken_network.whole(hosts):
        hosts.down()
        hosts.up()
    file = load_experiment(folder, 30.0)
    return broken_network.meet(hosts, broken_network.FAULTS[fault], file, folder / "run", at_most_s=60.0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
