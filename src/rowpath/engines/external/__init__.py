"""Servers and drivers that are not ours: named by URL, started by others."""
