"""Groups of clients at work at once on one engine: what they are asked to do, watched second by second."""
