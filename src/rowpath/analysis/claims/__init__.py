"""Published claims and figures, checked against the measured ones."""
