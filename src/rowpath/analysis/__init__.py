"""A journal becomes an analysis: cells, statistics, rankings, findings, claims and the verdict."""
