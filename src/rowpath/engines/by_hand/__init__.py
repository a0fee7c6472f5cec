"""Servers that a user starts to look at: `rowpath engine up`."""
