"""The commands that README, CONTRIBUTING, SECURITY, the protocol and docs/ show, and which of them no test can run.

`python -m tests.documents` prints every command with what proves it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rowpath.cli import arguments

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "runners/PROTOCOL.md")),
        *(page for page in DOCS.rglob("*.md") if page.name not in ("capabilities.md", "command-line.md")),  # generated
    ]
)
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = (
    "rowpath", "./rowpath", "make", "sudo", "pipx", "python", "python3", "npm", "cargo", "go", "git", "gh",
    "apt-get", "ray", "export", ".", ".ci/run",
)  # fmt: skip
# What stands for something of the reader's.
STANDS_FOR = {
    "ID": "imdbench-asyncpg", "NAME": "tour", "EXPERIMENT": "tour", "SQL": "SELECT * FROM orders",
    "URL": "postgresql://me@localhost/shop", "OLD,NEW": "42.7.8,42.7.14", "…": "SELECT 1",
    "rowpath.ROOM": "rowpath.model", "MODULE": "github.com/lib/pq", "CRATE": "libc",
}  # fmt: skip

# A cluster that others began: the test's addresses are its own.
JOINS = "ray start --address=10.0.0.5:6379"
RAY_START = (
    "ray start",
    JOINS,
    f'{JOINS} --labels "rowpath-host=db,rowpath-roles=server,rowpath-helpers=0"',
    f'{JOINS} --labels "rowpath-host=app1,rowpath-roles=client.load,rowpath-address=10.1.0.21"',
)
# Proven by another test, or by continuous integration: the file that does it, and what of the command stands there.
ELSEWHERE = {
    ".ci/run": (".ci/Containerfile", '".ci/run"'),
    "sudo scripts/install-packages.sh": (".ci/run", "scripts/install-packages.sh"),
    "npm ci --prefix web": (".ci/run", "npm ci --prefix web"),
    "python3 -m build --wheel": (".github/workflows/release.yml", "-m build"),
    "pipx install .": ("tests/end_to_end/test_wheel.py", '"pip", "wheel"'),
    "pipx install '.[parquet]'": ("tests/end_to_end/test_wheel.py", '"pip", "wheel"'),
    "pipx install dist/rowpath-*.whl": ("tests/end_to_end/test_wheel.py", '"pip", "install"'),
    "python3 -m venv rowpath-environment": ("tests/end_to_end/test_wheel.py", "venv.create(environment"),
    "rowpath-environment/bin/pip install dist/rowpath-*.whl": ("tests/end_to_end/test_wheel.py", '"pip", "install"'),
    "rowpath-environment/bin/rowpath probe sqlite:///shop.db --query 'SELECT * FROM orders'": (
        "tests/end_to_end/test_wheel.py", '"probe"',
    ),
    "rowpath-environment/bin/rowpath run tour": ("tests/end_to_end/test_wheel.py", '"run"'),
    ". share/bash-completion/completions/rowpath": ("tests/unit/house/test_shell_files.py", "bash-completion"),
    "scripts/licences.py": ("tests/unit/house/test_licences.py", 'script("licences")'),
    "scripts/fuzz_tape.py": ("tests/engines/test_tape_drda.py", '"fuzz_tape.py"'),
    "apt-get install linux-perf": ("packages.txt", "linux-perf"),
    **dict.fromkeys(RAY_START, ("tests/hosts/foreign_cluster.py", '"ray.scripts.scripts", "start"')),
    "rowpath run pools driver=psycopg pool=queue -r 1": ("tests/runners/python/test_pools.py", '"add-a-pool.md"'),
    "rowpath adapter test example --adapters runners/example/adapters.toml": (
        "tests/runners/protocol/test_example.py", '"adapter", "test", "driver=example", "--adapters", manifest',
    ),
    "rowpath adapter test engine=sqlite statement=prepared -- ./my-runner": (
        "tests/runners/protocol/test_example.py", '"--", sys.executable)',
    ),
    "rowpath adapter new python apsw --into my-adapters": ("tests/end_to_end/test_adapter_kit.py", "my-adapters"),
    "rowpath adapter test apsw --adapters my-adapters/adapters.toml": (
        "tests/end_to_end/test_adapter_kit.py", '"adapter", "test", "apsw", "--adapters"',
    ),
    "rowpath run my-adapters/apsw-or-sqlite3.toml --adapters my-adapters/adapters.toml --fast": (
        "tests/end_to_end/test_adapter_kit.py", '"run", "my-adapters/apsw-or-sqlite3.toml"',
    ),
}  # fmt: skip
# No test can run them, and why.
NOT_RUN = {
    "gh attestation verify": "needs a release on GitHub",
}


class Shown(NamedTuple):
    """A command as a page shows it; `inline`: in a sentence."""

    page: Path
    text: str
    inline: bool

    @property
    def words(self) -> list[str]:
        """Its words up to a pipe or a redirection, `./rowpath` as `rowpath`, the reader's own things replaced."""
        words = shlex.split(self.text, comments=True)
        end = next((at for at, word in enumerate(words) if word in ("|", ">", "&&")), len(words))
        named = [STANDS_FOR.get(word, word) for word in words[:end]]
        if "--driver" in named and named[named.index("--driver") + 1] == "tour":
            named[named.index("--driver") + 1] = "pgjdbc"
        return ["rowpath" if word == "./rowpath" else word for word in named]

    @property
    def is_name(self) -> bool:
        """Whether a sentence only names a command, an action of it, or one of its options: nothing is to be typed."""
        if not self.inline or self.words[0] != "rowpath":
            return False
        own = {word for word in self.words[2:] if word.startswith("-") or word in _actions(self.words[1])}
        return all(word in own or word == "SELECT 1" for word in self.words[2:])


def _actions(command: str) -> set[str]:
    parser = arguments.commands().get(command)
    usage = parser.format_usage() if parser else ""
    return {word for listed in re.findall(r"\{([\w,]+)\}", usage) for word in listed.split(",")}


def commands() -> list[Shown]:
    """Every command of every page, each text once."""
    found: dict[str, Shown] = {}
    for page in PAGES:
        for shown in of_page(page):
            found.setdefault(" ".join(shown.words), shown)
    return list(found.values())


def of_page(page: Path) -> Iterator[Shown]:
    """The commands of its blocks for a shell, and those within sentences."""
    text = page.read_text(encoding="utf-8")
    for language, block in BLOCK.findall(text):
        lines = re.sub(r"\\\n\s*", "", block).splitlines() if language in ("sh", "console", "bash") else []
        prompted = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        for line in prompted or lines:
            if line.strip() and shlex.split(line, comments=True)[:1]:
                yield Shown(page, line.strip(), inline=False)
    sentences = re.sub(r"\s*\n\s*", " ", BLOCK.sub("\n\n", text).replace("\n\n", "\0")).replace("\0", "\n")
    for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", sentences):
        first, _, rest = code.partition(" ")
        if (first in PROGRAMS and rest) or re.match(r"(scripts/[\w-]+\.(sh|py)|\.ci/run)\b", code):
            yield Shown(page, code, inline=True)


def not_run(shown: Shown) -> str:
    """The entry of NOT_RUN that a command is one of; empty: it is run."""
    text = " ".join(shown.words)
    return next((beginning for beginning in NOT_RUN if text.startswith(beginning)), "")


if __name__ == "__main__":
    for each in commands():
        how = "a name" if each.is_name else f"not run: {NOT_RUN[not_run(each)]}" if not_run(each) else "run"
        print(f"{each.page.relative_to(ROOT)}: {' '.join(each.words)}: {how}")
