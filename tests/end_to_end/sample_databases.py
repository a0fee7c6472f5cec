"""Tables in the shapes of well-known sample databases, with rows made from their number.

The names and types of columns follow Chinook, Sakila, Northwind and the employees database; values are ours, as awkward
as real ones: accents, quotes, NULLs, empty texts, old dates, pictures.
"""

from __future__ import annotations

from collections.abc import Iterator

# Of each table its columns: a name and what it holds.
SHAPES = {
    "chinook": """
artist: artist_id int, name text
album: album_id int, title text, artist_id int
employee: employee_id int, last_name text, first_name text, title null, reports_to optional, birth_date moment
customer: customer_id int, first_name text, company null, address text, phone code, fax null, support_rep_id optional
invoice: invoice_id int, customer_id int, invoice_date moment, billing_city null, billing_postal_code code, total money
invoice_line: invoice_line_id int, invoice_id int, track_id int, unit_price money, quantity int
track: track_id int, name text, album_id optional, composer null, milliseconds int, bytes big, unit_price money
playlist: playlist_id int, name null
playlist_track: playlist_id int, track_id int
genre: genre_id int, name null
media_type: media_type_id int, name null
""",
    "sakila": """
actor: actor_id small, first_name text, last_name text, last_update moment
address: address_id small, address text, address2 null, district text, postal_code code, phone code, location bytes
category: category_id tiny, name text, last_update moment
city: city_id small, city text, country_id small, last_update moment
country: country_id small, country text, last_update moment
sakila_customer: customer_id small, store_id tiny, email null, active flag, create_date moment, last_update moment
film: film_id small, title text, description long, release_year year, rental_rate money, rating choice, extras several
film_actor: actor_id small, film_id small, last_update moment
film_category: film_id small, category_id tiny, last_update moment
film_text: film_id small, title text, description long
inventory: inventory_id int, film_id small, store_id tiny, last_update moment
language: language_id tiny, name padded, last_update moment
payment: payment_id small, rental_id optional, amount money, payment_date moment
rental: rental_id int, rental_date moment, inventory_id int, return_date later, staff_id tiny
staff: staff_id tiny, first_name text, picture picture, email null, active flag, password null
store: store_id tiny, manager_staff_id tiny, address_id small, last_update moment
""",
    "northwind": """
categories: category_id small, category_name text, description long, picture picture
customer_demographics: customer_type_id padded, customer_desc long
northwind_customers: customer_id padded, company_name text, contact_title null, region null, postal_code code, fax null
northwind_employees: employee_id small, last_name text, birth_date day, hire_date day, photo picture, notes long
employee_territories: employee_id small, territory_id code
order_details: order_id small, product_id small, unit_price real, quantity small, discount real
orders: order_id small, customer_id padded, order_date day, shipped_date later_day, freight real, ship_name text
products: product_id small, product_name text, unit_price real, units_in_stock small, discontinued int
region: region_id small, region_description padded
shippers: shipper_id small, company_name text, phone code
suppliers: supplier_id small, company_name text, homepage long
territories: territory_id code, territory_description padded, region_id small
us_states: state_id small, state_name null, state_abbr null
""",
    "employees": """
employees: emp_no int, birth_date day, first_name text, last_name text, gender choice, hire_date day
departments: dept_no padded, dept_name text
dept_emp: emp_no int, dept_no padded, from_date day, to_date far_day
dept_manager: emp_no int, dept_no padded, from_date day, to_date far_day
salaries: emp_no int, salary int, from_date day, to_date far_day
titles: emp_no int, title text, from_date day, to_date far_day
""",
}
ROWS = 60
# By what a column holds: its type in SQLite, PostgreSQL and MariaDB.
TYPES = {
    "tiny": ("INTEGER", "smallint", "TINYINT UNSIGNED"),
    "small": ("INTEGER", "smallint", "SMALLINT"),
    "int": ("INTEGER", "integer", "INT"),
    "optional": ("INTEGER", "integer", "INT"),
    "big": ("INTEGER", "bigint", "BIGINT"),
    "text": ("NVARCHAR(160)", "varchar(160)", "VARCHAR(160)"),
    "null": ("NVARCHAR(80)", "varchar(80)", "VARCHAR(80)"),
    "code": ("VARCHAR(24)", "varchar(24)", "VARCHAR(24)"),
    "padded": ("CHAR(20)", "char(20)", "CHAR(20)"),
    "long": ("TEXT", "text", "TEXT"),
    "money": ("NUMERIC(10,2)", "numeric(10,2)", "DECIMAL(10,2)"),
    "real": ("REAL", "real", "DOUBLE"),
    "flag": ("BOOLEAN", "boolean", "TINYINT(1)"),
    "year": ("INTEGER", "integer", "YEAR"),
    "day": ("DATE", "date", "DATE"),
    "later_day": ("DATE", "date", "DATE"),
    "far_day": ("DATE", "date", "DATE"),
    "moment": ("TIMESTAMP", "timestamp", "DATETIME"),
    "later": ("DATETIME", "timestamp", "DATETIME"),
    "bytes": ("BLOB", "bytea", "BLOB"),
    "picture": ("BLOB", "bytea", "LONGBLOB"),
    "choice": ("VARCHAR(10)", "rating", "ENUM('G','PG','NC-17')"),
    "several": ("VARCHAR(100)", "text[]", "SET('Trailers','Deleted Scenes')"),
}
ENGINES = ("sqlite", "postgresql", "mariadb")
NAMES = ("AC/DC", "Björk", "O'Brien", "Antônio Carlos Jobim", '"Quoted", with a comma', "", "Dvořák\nNew World", "日本")


def tables() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each table's name with the names of its columns and what they hold."""
    for shape in SHAPES.values():
        for line in shape.strip().splitlines():
            name, _, columns = line.partition(": ")
            yield name, [(column.split()[0], column.split()[1]) for column in columns.split(", ")]


def statements(engine: str) -> Iterator[str]:
    """SQL that makes all tables and fills them."""
    place = ENGINES.index(engine)
    if engine == "postgresql":
        yield "CREATE TYPE rating AS ENUM ('G', 'PG', 'NC-17')"
    for name, columns in tables():
        declared = ", ".join(f"{column} {TYPES[holds][place]}" for column, holds in columns)
        yield f"CREATE TABLE {name} ({declared})"
        rows = (
            f"({', '.join(literal(holds, number, at, engine) for at, (_, holds) in enumerate(columns))})"
            for number in range(ROWS)
        )
        yield f"INSERT INTO {name} VALUES {', '.join(rows)}"


def literal(holds: str, number: int, at: int, engine: str) -> str:
    """A value in SQL."""
    name = NAMES[(number + at) % len(NAMES)].replace("'", "''")
    integers = {
        "tiny": number % 250,
        "small": number,
        "int": number * 7919,
        "big": number * 10**15 + 1,
        "year": 1980 + number % 40,
    }
    if holds in integers:
        return str(integers[holds])
    if holds in ("bytes", "picture"):
        data = bytes((number + byte) % 256 for byte in range(40 if holds == "picture" else number % 9)).hex()
        return f"'\\x{data}'" if engine == "postgresql" else f"x'{data}'"
    if holds == "flag":
        return ("true", "false")[number % 2] if engine == "postgresql" else str(number % 2)
    if holds == "several":
        chosen = ["Trailers", "Deleted Scenes"][: number % 3]
        return _several(chosen, engine) if chosen else "NULL"
    empty = holds in ("null", "optional", "later", "later_day") and number % 4 == 0
    return "NULL" if empty else _texts(holds, number, name)


def _several(chosen: list[str], engine: str) -> str:
    quoted = ", ".join(f"'{one}'" for one in chosen)
    return f"ARRAY[{quoted}]" if engine == "postgresql" else f"'{','.join(chosen)}'"


def _texts(holds: str, number: int, name: str) -> str:
    day = f"{1900 + number % 110}-{1 + number % 12:02}-{1 + number % 28:02}"
    texts = {
        "text": name,
        "null": name,
        "long": name * 40,
        "padded": f"R{number}",
        "code": f"0{number:04}",
        "day": day,
        "later_day": day,
        "far_day": "9999-01-01" if number % 2 else day,
        "moment": f"{day} {number % 24:02}:30:{number % 60:02}",
        "later": f"{day} {number % 24:02}:30:{number % 60:02}",
        "choice": ("G", "PG", "NC-17")[number % 3],
    }
    if holds in texts:
        return f"'{texts[holds]}'"
    return str(number) if holds == "optional" else f"{number * 1.25:.2f}"
