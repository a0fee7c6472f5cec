"""Probing a user's own database and query: what it is, how it is reached without changing it, what is fastest there."""
