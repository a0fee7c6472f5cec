"""The graph that `add` inserts below a film: a plain rule gives its rows from the number of one of the people."""

DIRECTORS = 2
ROLES = ("part 1", "part 2", "part 3", "part 4", "part 5", "part 6", "part 7", None)


def directors_of(person):
    """(person, position) of each."""
    return [(person + position, position) for position in range(DIRECTORS)]


def cast_of(person):
    """(person, position, role) of each."""
    return [(person + DIRECTORS + position, position, role) for position, role in enumerate(ROLES)]
