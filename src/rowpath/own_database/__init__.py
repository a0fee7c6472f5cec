"""A user's own database: how it is named, reached, read and left as it was."""
