"""Everything a user reads about a run, made from a `model.Analysis` alone: terminal, page, Markdown, CSV, JSON."""
