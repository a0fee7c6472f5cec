"""Our own declarations of MariaDB Connector/C say what its header says: the wheel is compiled with them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rowpath.machine import c_compiler
from rowpath.machine.directories import data_dir

OWN = data_dir() / "runners" / "c" / "families" / "mysql_connection" / "mysql_declarations.h"
HEADERS = ("mariadb/mysql.h", "mariadb/errmsg.h", "mariadb/mysqld_error.h")
FIELDS = {
    "MYSQL_TIME": "year month day hour minute second second_part neg time_type",
    "MYSQL_FIELD": "name length max_length flags decimals charsetnr type extension",
    "MYSQL_BIND": "length is_null buffer error u.row_ptr u.indicator buffer_length offset length_value flags "
    "pack_length buffer_type error_value is_unsigned long_data_used is_null_value extension",
}
pytestmark = pytest.mark.skipif(not c_compiler.has_header(HEADERS[0]), reason="no libmariadb-dev")


def test_numbers_sizes_and_places(tmp_path: Path) -> None:
    text = OWN.read_text(encoding="utf-8")
    numbers = re.findall(r"\b([A-Z][A-Z0-9_]+) = -?\d+", text)
    assert len(numbers) > 50
    shown = [f'printf("{name} %d\\n", (int)({name}));' for name in numbers]
    for structure, fields in FIELDS.items():
        shown.append(f'printf("{structure} %zu\\n", sizeof({structure}));')
        shown += [f'printf("{structure}.{name} %zu\\n", offsetof({structure}, {name}));' for name in fields.split()]
    body = "".join(f"    {line}\n" for line in shown)
    assert printed(tmp_path, f'"{OWN}"', body=body) == printed(tmp_path, *(f"<{name}>" for name in HEADERS), body=body)


def test_functions(tmp_path: Path) -> None:
    names = sorted(set(re.findall(r"\b(mysql_\w+)\(", OWN.read_text(encoding="utf-8"))))
    assert len(names) >= 40
    program = tmp_path / "all"
    listed = "".join(f"(void (*)(void)){name}, " for name in names)
    source = f'#include "{OWN}"\nvoid (*all[])(void) = {{{listed}}};\nint main(void) {{ return 0; }}\n'
    program.with_suffix(".c").write_text(source, encoding="utf-8")
    c_compiler.run([str(program.with_suffix(".c")), "-l:libmariadb.so.3", "-o", str(program)], "all functions")


def printed(folder: Path, *headers: str, body: str) -> str:
    included = "".join(f"#include {header}\n" for header in headers)
    source, program = folder / "shown.c", folder / "shown"
    text = f"#include <stddef.h>\n#include <stdio.h>\n{included}int main(void) {{\n{body}    return 0;\n}}\n"
    source.write_text(text, encoding="utf-8")
    c_compiler.run([str(source), "-o", str(program)], "the declarations")
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout
