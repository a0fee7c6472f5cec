"""Writes the schemas of experiments, runner protocol and exports: `PYTHONPATH=src python schemas/generate.py`."""

from pathlib import Path

import msgspec

from rowpath.model import experiment
from rowpath.report import comparison, json
from rowpath.runners import protocol

if __name__ == "__main__":
    schemas = {
        "comparison": comparison.schema(),
        "experiment": experiment.schema(),
        "protocol": protocol.schema(),
        "results": json.schema(),
    }
    for name, schema in schemas.items():
        encoded = msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2)
        Path(__file__).with_name(f"{name}.schema.json").write_bytes(encoded + b"\n")
