"""Writes the schemas of the runner protocol and of the JSON export: `PYTHONPATH=src python schemas/generate.py`."""

from pathlib import Path

import msgspec

from rowpath.report import json
from rowpath.runners import protocol

if __name__ == "__main__":
    for name, schema in (("protocol", protocol.schema()), ("results", json.schema())):
        encoded = msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2)
        Path(__file__).with_name(f"{name}.schema.json").write_bytes(encoded + b"\n")
