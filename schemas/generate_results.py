"""Writes results.schema.json, the JSON Schema of the JSON export: `python schemas/generate_results.py`."""

from pathlib import Path

import msgspec

from rowpath.report.json import schema

if __name__ == "__main__":
    encoded = msgspec.json.format(msgspec.json.encode(schema(), order="sorted"), indent=2)
    Path(__file__).with_name("results.schema.json").write_bytes(encoded + b"\n")
