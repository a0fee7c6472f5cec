"""A static site over many runs: which path for which work, histories of drivers, machines side by side."""
