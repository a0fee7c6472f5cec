"""How the runner of each language is built and started, one module a language."""
