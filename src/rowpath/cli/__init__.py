"""The command line, one module per command: prints, wires and sets exit codes."""
