"""Two sides of runs compared: which paths pair, what differs between them, and which got slower or faster."""
