"""Everything a user reads about a run, made only from a `model.Analysis`: terminal, page, Markdown, CSV, JSON."""
