from rowpath.toml_file import key_lines, line_of, nearest, suggest

TEXT = """\
name = "x"
phases = [
  "a.b",
  # sets = 3
]
text = '''
[not.a.header]
key = 1
'''

[measure]
sets = 3

[[paths]]
select = { engine = "sqlite" }
[paths.inner]
deep.key = 1

[[paths]]
name = "second"
"""


def test_keys_and_headers_have_their_lines() -> None:
    lines = key_lines(TEXT)
    assert lines[("name",)] == 1
    assert lines[("phases",)] == 2
    assert lines[("measure",)] == 11
    assert lines[("measure", "sets")] == 12
    assert lines[("paths", 0)] == 14
    assert lines[("paths", 0, "select")] == 15
    assert lines[("paths", 0, "inner", "deep", "key")] == 17
    assert lines[("paths", 1, "name")] == 20


def test_what_stands_inside_a_value_is_no_key() -> None:
    lines = key_lines(TEXT)
    assert ("key",) not in lines
    assert ("sets",) not in lines
    assert ("not", "a", "header") not in lines


def test_a_location_inside_an_inline_table_has_its_line() -> None:
    assert line_of(TEXT, ("paths", 0, "select", "engin")) == 15


def test_nearest_word() -> None:
    assert nearest("engin", ("engine", "driver")) == "engine"
    assert nearest("zzz", ("engine", "driver")) == ""
    assert suggest("drivr", ("engine", "driver")) == "did you mean 'driver'?"
    assert suggest("zzz", ("engine", "driver")) == "one of: engine, driver"
