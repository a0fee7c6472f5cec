"""Tapes: a conversation between driver and server as a file, how it is recorded, and the server that replays it."""
