"""The core of Rowpath's Python runner: hosts adapters, owns the loop and the clock. See runners/PROTOCOL.md."""

VERSION = "0.1.0"
