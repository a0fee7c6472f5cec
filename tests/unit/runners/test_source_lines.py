"""Lines of code: what is code and what is comment in each language, and what an adapter rests on."""

from __future__ import annotations

import msgspec
import pytest

from rowpath.errors import UsageError
from rowpath.runners import source_lines
from rowpath.runners.manifest import every_adapter, load_manifest, source_file
from rowpath.runners.source_lines import lines_of_code

C = """\
/* A comment
   of three lines, int hidden;

   and a blank one. */
int a; /* behind code */
// int b;
const char *s = "/* no comment", *t = "// none"; int c;
/* before code */ int d;
char quote = '"'; /* "
int e; */
"""
PYTHON = '''\
"""Docstring of the module,
two lines."""

# a comment
x = 1  # behind code
TEXT = """not a docstring

of two lines that are not blank"""


def f() -> None:
    """What it does.

    More.
    """
    "a string that is no docstring"


class Thing:
    """One line."""

    y = 2
'''
JAVA = '''\
/** Javadoc. */
class A {
  String text = """
      // in a text
      """;
  char slash = '/'; // behind
}
'''
CSHARP = '/// A summary.\nvar path = @"C:\\"; // behind code\nvar said = @"a ""quoted"" /* word";\nint x;\n'
COBOL = '      *> A comment.\n       MOVE "*> text" TO hit.\n\n       GOBACK.\n'


@pytest.mark.parametrize(
    ("text", "suffix", "lines"),
    [
        (C, ".c", 4),
        (PYTHON, ".py", 7),
        (JAVA, ".java", 6),
        (CSHARP, ".cs", 3),
        (COBOL, ".cob", 2),
        ("", ".c", 0),
        ("", ".py", 0),
    ],
)
def test_comments_and_blank_lines_are_not_code(text: str, suffix: str, lines: int) -> None:
    assert source_lines.count(text, suffix) == lines


def test_the_closure_is_the_file_and_its_families() -> None:
    for adapter in every_adapter():
        for engine in adapter.engines:
            own, closure = lines_of_code(adapter, engine)
            assert 0 < own <= closure, adapter.driver
            rests_on = adapter.build.get("engine", {}).get(engine, {}).keys() | adapter.build.keys()
            assert (own < closure) == bool({"families", "more_sources"} & rests_on), adapter.driver


def test_a_program_for_each_engine_is_counted_by_its_engine() -> None:
    drain = next(adapter for adapter in load_manifest("c").adapter if adapter.driver == "drain")
    own, _closure = lines_of_code(drain, "mariadb")
    text = source_file(drain, "adapters/drain_mysql.c").read_text(encoding="utf-8")
    assert own == source_lines.count(text, ".c")
    assert own != lines_of_code(drain, "postgresql")[0]


def test_a_runner_of_the_users_own_has_none() -> None:
    null = load_manifest("c").adapter[0]
    assert lines_of_code(msgspec.structs.replace(null, build={"command": ["./mine"]}), "null") == (0, 0)


def test_an_unknown_family_is_refused_by_name() -> None:
    null = load_manifest("c").adapter[0]
    with pytest.raises(UsageError, match="unknown family 'nothing'"):
        lines_of_code(msgspec.structs.replace(null, build={"families": ["nothing"]}), "null")
