"""Our side of runners/PROTOCOL.md: manifests, what toolchains share, messages, one process.

An `adapters.toml` flows in, replies of a living runner flow out. `manifest` reads the files of all languages
(`language`: their headers), says whether an adapter can run here, and builds it: it loads `toolchain.py` of the
language's folder, or `command`, where the header names the commands itself. No module here names a language; what
toolchains share is in `building`, and in `machine` what they compile and fetch with.

The command that a toolchain returns is started by `process`, which sends the messages of `protocol` and reads their
replies within a deadline. Beside this way lie `driver_facts`, what a driver's own package says of it, and
`source_lines`, how many lines of code an adapter has.
"""
