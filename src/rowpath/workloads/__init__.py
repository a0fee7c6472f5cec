"""Workload files, the rows they stand for, and what each phase must deliver."""
