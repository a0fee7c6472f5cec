"""The page of a run with very many paths: small enough to send, every path with its panel."""

from __future__ import annotations

from pathlib import Path

from rowpath.analysis.analyse import analyse
from rowpath.report import html
from tests.unit import journal_factory as factory

MOST_BYTES = 700_000


def test_a_page_of_many_paths_stays_small_and_opens_every_one(tmp_path: Path) -> None:
    paths = [
        factory.path(f"PostgreSQL psycopg {number}", words, {"keyed.read": 9_000 + 200 * number}, client_share=0.6)
        for number, words in enumerate(
            f"postgresql server python psycopg result=cursor:{size} statement={statement} transport={transport}"
            for size in range(1, 51)
            for statement in ("prepared", "text", "bound")
            for transport in ("unix", "tcp")
        )
    ]
    made = analyse(factory.write(tmp_path, factory.records(factory.Run(paths=paths, rounds=5))))
    text = html.page(made)
    assert len(text.encode()) <= MOST_BYTES
    assert text.count('<div class="panel">') == len(paths) == 300
    assert "260 more rows are in the JSON export" in text
