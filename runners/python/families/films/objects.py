"""The objects of the workload `films` as a program by hand makes them."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal


@dataclass(slots=True)
class Person:
    id: int
    name: str


@dataclass(slots=True)
class Part:
    role: str | None
    person: Person


@dataclass(slots=True)
class Review:
    id: int
    stars: int
    body: str
    written: datetime
    author: Person


@dataclass(slots=True)
class Film:
    id: int
    title: str
    released: date
    budget: Decimal | None
    directors: list
    cast: list
    reviews: list


@dataclass(slots=True)
class FilmOnly:
    id: int
    title: str
    released: date
    budget: Decimal | None


@dataclass(slots=True)
class Title:
    id: int
    title: str
    released: date


@dataclass(slots=True)
class FilmTitle:
    id: int
    title: str


@dataclass(slots=True)
class Opinion:
    id: int
    stars: int
    written: datetime
    film: FilmTitle


@dataclass(slots=True)
class User:
    id: int
    name: str
    reviews: int
    stars: int
    latest: list
