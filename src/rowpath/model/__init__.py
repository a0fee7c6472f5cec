"""The nouns that stand in files: access paths, workloads, experiments, claims, metrics; frozen, without I/O."""
