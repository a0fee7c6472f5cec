"""An experiment and the user's words become a plan: which paths, which cannot run and why, in which order."""
