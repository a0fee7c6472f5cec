"""Whose time a sample of a layer's path is: the layer's, the driver's or ours."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePath

import pytest

from rowpath.explain import async_profiler, py_spy
from rowpath.explain.packages import Packages
from rowpath.explain.parts import KERNEL, LOOP
from rowpath.runners.manifest import Layer, language, load_manifest

ENVIRONMENT = "/cache/environment-1/lib/python3.11/site-packages"
RUNNER = str(Path(language("python").folder))
ORM = Packages(
    language("python"), {"psycopg": "psycopg", "sqlmodel": "sqlmodel", "sqlalchemy": "sqlmodel", "_sqlite": "sqlite3"}
)
JOOQ = Packages(language("java"), {"org.postgresql": "org.postgresql", "org.jooq": "org.jooq"})

OURS = f"sample ({RUNNER}/core/sampler.py:1);block (<string>:2)"
PY_SPY = f"""\
{OURS};Session.exec ({ENVIRONMENT}/sqlalchemy/orm/session.py:7) 10
{OURS};Session.exec ({ENVIRONMENT}/sqlalchemy/orm/session.py:7);finalize (/usr/lib/python3.11/weakref.py:5) 4
{OURS};f ({ENVIRONMENT}/sqlmodel/main.py:7);dict_get (/usr/lib/libpython3.11.so.1.0);memcpy (/usr/lib/libc.so.6) 3
{OURS};f ({ENVIRONMENT}/sqlmodel/main.py:7);execute ({ENVIRONMENT}/psycopg/cursor.py:9) 5
{OURS};read (<string>:2);getattr (/project/lib/sqlalchemy/engine/_row_cy.c:53);PyDict_Get (/lib/libpython3.11.so) 2
{OURS};execute ({ENVIRONMENT}/psycopg/cursor.py:9);PQgetvalue ({ENVIRONMENT}/psycopg_binary.libs/libpq-9b38dd5e.so.5) 6
{OURS};f ({ENVIRONMENT}/sqlmodel/main.py:7);stmt_step (/tmp/Python-3.11.7/Modules/_sqlite/cursor.c:524) 1
{OURS};execute ({ENVIRONMENT}/psycopg/cursor.py:9);syscall (/usr/lib/libc.so.6) 99
{OURS} 7
"""


def owners(stacks: Counter[tuple], packages: Packages) -> Counter[str]:
    found: Counter[str] = Counter()
    for stack, count in stacks.items():
        found[packages.resolved(stack)[-1].part] += count
    return found


def test_whose_python_code_is() -> None:
    stacks = py_spy.stacks(PY_SPY.splitlines(), ORM.header, ORM)
    assert owners(stacks, ORM) == {"sqlmodel": 19, "psycopg": 5, "libpq": 6, "sqlite3": 1, LOOP: 7}


def test_only_what_perf_does_not_name_is_divided_by_stacks() -> None:
    stacks = py_spy.stacks(PY_SPY.splitlines(), ORM.header, ORM)
    shares = {"Python interpreter": 0.5, "C library": 0.14, "libpq": 0.2, KERNEL: 0.1, "sqlalchemy": 0.06}
    divided = ORM.divided(shares, stacks)
    assert sum(divided.values()) == pytest.approx(1)
    assert (divided["libpq"], divided[KERNEL]) == (0.2, 0.1)
    # 19 of the 32 stacks in the interpreter or the C library, and the layer's own library.
    assert divided["sqlmodel"] == pytest.approx(0.64 * 19 / 32 + 0.06)
    assert divided["psycopg"] == pytest.approx(0.64 * 5 / 32)


def test_without_stacks_the_shares_stay_those_of_libraries() -> None:
    assert ORM.divided({"Python interpreter": 0.9, KERNEL: 0.1}, {}) == {"Python interpreter": 0.9, KERNEL: 0.1}


COLLAPSED = """\
[main tid=7];rowpath/core/Sampler.sample_[j];org/jooq/impl/DSL.fetch_[j];java/util/HashMap.get_[i] 8
[main tid=7];rowpath/core/Sampler.sample_[j];org/jooq/impl/DSL.fetch_[j];org/postgresql/jdbc/PgResultSet.next_[j] 3
[main tid=7];rowpath/core/Sampler.sample_[j];org/jooq/impl/DSL.fetch_[j];libjvm.so`Runtime1::new_instance 2
[main tid=7];rowpath/core/Sampler.sample_[j];org/postgresql/core/PGStream.flush_[j];do_syscall_64_[k] 5
[G1 Main tid=8];libjvm.so`G1::work 1
"""


def test_whose_java_code_is() -> None:
    stacks = async_profiler.stacks(COLLAPSED.splitlines(), JOOQ.header, JOOQ)
    assert owners(stacks, JOOQ) == {"org.jooq": 10, "org.postgresql": 3, KERNEL: 5, "Java runtime": 1}


def test_a_name_is_matched_by_whole_words() -> None:
    assert ORM.of_file(PurePath(f"{ENVIRONMENT}/sqlalchemy_utils/x.py")) == ""
    assert JOOQ.of_module("org.jooqx.A") == ""
    assert ORM.of_file(PurePath(f"{RUNNER}/layers/sqlmodel.py")) == LOOP


def layers() -> list[tuple[str, Layer]]:
    return [(name, layer) for name in ("python", "java") for layer in load_manifest(name).layer]


@pytest.mark.parametrize(("name", "layer"), layers(), ids=lambda value: getattr(value, "name", value))
def test_every_layer_and_the_drivers_below_it_name_their_modules(name: str, layer: Layer) -> None:
    assert bool(layer.modules) == (layer.kind != "by hand")
    below = [adapter for adapter in load_manifest(name).adapter if adapter.driver in layer.over]
    assert below and all(adapter.modules for adapter in below)
