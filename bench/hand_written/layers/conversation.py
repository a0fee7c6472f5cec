"""What the programs of layers and pools have in common: their settings, the loop with its clock, and reading what came.

On standard input settings come first, a line `name=value` each, then an empty line; `ready` is the answer. Each further
line is a number of operations, answered by `ns touch`; a pool's program adds what it times itself. A touch has what a
run's has of such objects: 5 for a list.
"""

import sys
from pathlib import Path
from time import perf_counter_ns


def read_settings():
    """The settings, and the keys of the operation: numbers of films, or titles."""
    settings = {}
    while line := sys.stdin.readline().rstrip("\n"):
        name, _, value = line.partition("=")
        settings[name] = value
    lines = Path(settings["keys"]).read_text().splitlines()
    return settings, [int(line) for line in lines] if settings["operation"] == "film" else lines


def loans(settings, borrow, give_back):
    """What a pool's program borrows and gives back by; with `hold=on` one connection for all its reads."""
    if settings["hold"] == "off":
        return borrow, give_back
    held = borrow()
    return lambda: held, lambda _held: None


def read_film(film):
    """Take every attribute, nested ones too."""
    _directors = [(person.id, person.name) for person in film.directors]
    _cast = [(part.role, part.person.id, part.person.name) for part in film.cast]
    _reviews = [
        (review.id, review.stars, review.body, review.written, review.author.id, review.author.name)
        for review in film.reviews
    ]
    budget = 1 if film.budget is None else int(film.budget)
    return film.id + len(film.title) + film.released.day + budget + 3 * 5


def read_titles(films):
    """Take every attribute of what a search found."""
    return sum([film.id + len(film.title) + film.released.day for film in films])


def serve(operation, keys):
    """Do as many operations as each line says; `operation` takes a key and gives what its objects touch."""
    print("ready", flush=True)
    for line in sys.stdin:
        touch = 0
        begin = perf_counter_ns()
        for at in range(int(line)):
            touch += operation(keys[at % len(keys)])
        print(perf_counter_ns() - begin, touch, flush=True)


async def serve_tasks(operation, keys):
    """The same of an operation that is a coroutine."""
    print("ready", flush=True)
    for line in sys.stdin:
        touch = 0
        begin = perf_counter_ns()
        for at in range(int(line)):
            touch += await operation(keys[at % len(keys)])
        print(perf_counter_ns() - begin, touch, flush=True)


def serve_blocks(run):
    """The same of a function that does so many operations; it gives their touch and the nanoseconds it timed itself."""
    print("ready", flush=True)
    for line in sys.stdin:
        begin = perf_counter_ns()
        touch, own_ns = run(int(line))
        print(perf_counter_ns() - begin, touch, own_ns, flush=True)
