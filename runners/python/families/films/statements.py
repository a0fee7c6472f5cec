"""The statements of programs that write their SQL by hand; `{}` stands for a placeholder."""

PAGE, LATEST = 20, 3

# By engine: its placeholder, and its functions that make JSON.
MARKS = {"postgresql": "%s", "sqlite": "?"}
JSON_LIST = {"postgresql": "coalesce(json_agg(one), '[]')", "sqlite": "json_group_array(json(one))"}
JSON_OBJECT = {"postgresql": "json_build_array", "sqlite": "json_array"}

FILM = "SELECT id, title, released, budget FROM films WHERE id = {}"
DIRECTORS = (
    "SELECT p.id, p.name FROM directors d JOIN people p ON p.id = d.person_id WHERE d.film_id = {} ORDER BY d.position"
)
CAST = (
    "SELECT a.role, p.id, p.name FROM actors a JOIN people p ON p.id = a.person_id WHERE a.film_id = {} "
    "ORDER BY a.position"
)
REVIEWS = (
    "SELECT r.id, r.stars, r.body, r.written, u.id, u.name FROM reviews r JOIN users u ON u.id = r.user_id "
    "WHERE r.film_id = {} ORDER BY r.written DESC, r.id DESC"
)
DIRECTOR_KEYS = "SELECT person_id FROM directors WHERE film_id = {} ORDER BY position"
ACTOR_KEYS = "SELECT role, person_id FROM actors WHERE film_id = {} ORDER BY position"
REVIEW_KEYS = "SELECT id, stars, body, written, user_id FROM reviews WHERE film_id = {} ORDER BY written DESC, id DESC"
PERSON = "SELECT id, name FROM people WHERE id = {}"
AUTHOR = "SELECT id, name FROM users WHERE id = {}"
WHOLE_FILM = (
    "SELECT f.id, f.title, f.released, f.budget, "
    "(SELECT {list} FROM (SELECT {object}(p.id, p.name) AS one FROM directors d JOIN people p ON p.id = d.person_id "
    "WHERE d.film_id = f.id ORDER BY d.position) AS x), "
    "(SELECT {list} FROM (SELECT {object}(a.role, p.id, p.name) AS one FROM actors a JOIN people p "
    "ON p.id = a.person_id WHERE a.film_id = f.id ORDER BY a.position) AS x), "
    "(SELECT {list} FROM (SELECT {object}(r.id, r.stars, r.body, r.written, u.id, u.name) AS one FROM reviews r "
    "JOIN users u ON u.id = r.user_id WHERE r.film_id = f.id ORDER BY r.written DESC, r.id DESC) AS x) "
    "FROM films f WHERE f.id = {mark}"
)
TOTALS = (
    "SELECT u.id, u.name, count(r.id), coalesce(sum(r.stars), 0) FROM users u LEFT JOIN reviews r ON r.user_id = u.id "
    "WHERE u.id = {} GROUP BY u.id, u.name"
)
OPINIONS = (
    "SELECT r.id, r.stars, r.written, f.id, f.title FROM reviews r JOIN films f ON f.id = r.film_id "
    "WHERE r.user_id = {} ORDER BY r.written DESC, r.id DESC LIMIT " + str(LATEST)
)
OPINION_KEYS = (
    "SELECT id, stars, written, film_id FROM reviews WHERE user_id = {} ORDER BY written DESC, id DESC LIMIT "
    + str(LATEST)
)
FILM_TITLE = "SELECT id, title FROM films WHERE id = {}"
WHOLE_USER = (
    "SELECT u.id, u.name, (SELECT count(*) FROM reviews r WHERE r.user_id = u.id), "
    "(SELECT coalesce(sum(r.stars), 0) FROM reviews r WHERE r.user_id = u.id), "
    "(SELECT {list} FROM (SELECT {object}(r.id, r.stars, r.written, f.id, f.title) AS one FROM reviews r "
    "JOIN films f ON f.id = r.film_id WHERE r.user_id = u.id ORDER BY r.written DESC, r.id DESC LIMIT "
    + str(LATEST)
    + ") AS x) FROM users u WHERE u.id = {mark}"
)
FILM_BY_JOIN = (
    "SELECT f.id, f.title, f.released, f.budget, d.id, dp.id, dp.name, a.id, a.role, ap.id, ap.name, "
    "r.id, r.stars, r.body, r.written, u.id, u.name FROM films f "
    "LEFT JOIN directors d ON d.film_id = f.id LEFT JOIN people dp ON dp.id = d.person_id "
    "LEFT JOIN actors a ON a.film_id = f.id LEFT JOIN people ap ON ap.id = a.person_id "
    "LEFT JOIN reviews r ON r.film_id = f.id LEFT JOIN users u ON u.id = r.user_id "
    "WHERE f.id = {} ORDER BY d.position, a.position, r.written DESC, r.id DESC"
)
USER_BY_JOIN = (
    "SELECT u.id, u.name, count(r.id) OVER (), coalesce(sum(r.stars) OVER (), 0), "
    "r.id, r.stars, r.written, f.id, f.title FROM users u "
    "LEFT JOIN reviews r ON r.user_id = u.id LEFT JOIN films f ON f.id = r.film_id "
    "WHERE u.id = {} ORDER BY r.written DESC, r.id DESC LIMIT " + str(LATEST)
)
SEARCH = "SELECT id, title, released FROM films WHERE title LIKE {0} AND title >= {0} ORDER BY title LIMIT " + str(PAGE)
PAGE_OF_FILMS = (
    "SELECT id, title, released FROM films WHERE title LIKE {} ORDER BY title LIMIT " + str(PAGE) + " OFFSET {}"
)

ADD_FILM = "INSERT INTO films_added (title, released, budget) VALUES ({}, {}, {}) RETURNING id"
ADD_DIRECTORS = "INSERT INTO directors_added (film_id, person_id, position) VALUES "
ADD_ACTORS = "INSERT INTO actors_added (film_id, person_id, position, role) VALUES "
ADD_DIRECTOR, ADD_ACTOR = ADD_DIRECTORS + "({}, {}, {})", ADD_ACTORS + "({}, {}, {}, {})"
ADD_WHOLE = (
    "WITH film AS (INSERT INTO films_added (title, released, budget) VALUES ({}, {}, {}) RETURNING id), "
    "direction AS (INSERT INTO directors_added (film_id, person_id, position) SELECT film.id, new.person, new.at - 1 "
    "FROM film, unnest({}::integer[]) WITH ORDINALITY AS new (person, at) ORDER BY new.at) "
    "INSERT INTO actors_added (film_id, person_id, position, role) SELECT film.id, new.person, new.at - 1, new.role "
    "FROM film, unnest({}::integer[], {}::text[]) WITH ORDINALITY AS new (person, role, at) ORDER BY new.at"
)
CHANGE = "UPDATE films_changed SET title = {}, budget = {} WHERE id = {}"
BUDGET = "SELECT budget FROM films_changed WHERE id = {}"
LOCKED_BUDGET = {"postgresql": BUDGET + " FOR UPDATE", "sqlite": BUDGET}
SET_BUDGET = "UPDATE films_changed SET budget = {} WHERE id = {}"
RAISE_BUDGET = {
    "postgresql": "UPDATE films_changed SET budget = coalesce(budget, 0) + {} WHERE id = {}",
    "sqlite": "UPDATE films_changed SET budget = printf('%.2f', coalesce(budget, 0) + {}) WHERE id = {}",
}


def spelt(mark, *texts):
    """The statements with an engine's placeholders."""
    return [text.replace("{}", mark) for text in texts]


def of_rows(text, mark, row, count):
    """The INSERT of as many rows, `row` values each."""
    return text + ", ".join([f"({', '.join([mark] * row)})"] * count)
