"""Experiments on tapes: recorded once on a real server, run again without one."""
