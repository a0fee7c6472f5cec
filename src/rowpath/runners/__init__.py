"""Our side of runners/PROTOCOL.md: manifests, toolchains that build a runner, messages, one process."""
