"""A probe's outcome, made by hand: what is faster than the user's way, as rows and as columns, and what is not."""

from __future__ import annotations

import msgspec

from rowpath.analysis.answer import answer
from rowpath.analysis.chapters.probe import probe_sentences
from rowpath.analysis.model import Analysis
from rowpath.model.probe import Baseline, DigestGroup, LanguageBest, LanguageRow, Probe, Saving, Snippet, TriedPath
from tests.golden.analysis_fixture import analysis as tour

MS = 1e6
ROWS = (
    LanguageRow("p1", "connectorx with 2 threads", "columnar", 98 * MS, 1.0, None, None, "full sets"),
    LanguageRow("p2", "psycopg with a server-side cursor of 1,000", "row", 155 * MS, 1.58, 1.52, 1.65, "full sets"),
    LanguageRow("p4", "asyncpg with blocks of 100 rows", "block", 171 * MS, 1.74, None, None, "round 2"),
    LanguageRow("p3", "psycopg2 as it ships", "row", 412 * MS, 4.2, 4.05, 4.36, "full sets", "yours"),
    LanguageRow("p5", "adbc-postgresql as it ships", "row", 1.9e9, 19.4, None, None, "try"),
)
YOURS = Baseline("yours", "p3", "psycopg2 as it ships", "row", 412 * MS)
SAVINGS = (
    Saving("p1", ROWS[0].description, "columnar", 98 * MS, 0.76, 0.753, 0.771, sure=True, sets=6),
    Saving("p2", ROWS[1].description, "row", 155 * MS, 0.624, 0.58, 0.66, sure=True, sets=6),
)
C_ROW = LanguageRow("c1", "libpq as it ships", "row", 67.9 * MS, 1.0, None, None, "full sets", "usual")
JAVA_ROWS = (
    LanguageRow("j1", "pgjdbc with binary values", "row", 140 * MS, 1.0, None, None, "full sets"),
    LanguageRow("j2", "pgjdbc as it ships", "row", 143 * MS, 1.02, 0.99, 1.05, "full sets", "usual"),
)


def probe() -> Probe:
    """A probe of three languages."""
    names = {row.name: row for row in (*ROWS, C_ROW, *JAVA_ROWS)}
    tried = tuple(
        TriedPath(
            row.description,
            {"language": name[0], "driver": row.description.split()[0]},
            row.step,
            description=row.description,
        )
        for name, row in names.items()
    )
    return Probe(
        tried=(*tried, TriedPath("c libpq text", {"language": "c", "driver": "libpq"}, "", "not tried: no time")),
        languages=(
            LanguageBest("c", "c1", "row", 67.9 * MS, 1.0, "full sets", "C", (C_ROW,), Baseline("usual", *BASE)),
            LanguageBest("python", "p1", "columnar", 98 * MS, 1.44, "full sets", "Python", ROWS, YOURS, SAVINGS),
            LanguageBest("java", "j1", "row", 140 * MS, 2.06, "full sets", "Java", JAVA_ROWS, JAVA, (UNSURE,)),
        ),
        settings=(),
        digest_groups=(DigestGroup("20000:9f31c2d4e5f60718", 20_000, ("libpq", "psycopg2", "pgjdbc")),),
        caveats=(),
        snippets=(
            Snippet("python", "p1", "fastest-python.py", "import connectorx\n", "python fastest-python.py", "1–3"),
        ),
    )


BASE = ("c1", C_ROW.description, "row", 67.9 * MS)
JAVA = Baseline("usual", "j2", JAVA_ROWS[1].description, "row", 143 * MS)
UNSURE = Saving("j1", JAVA_ROWS[0].description, "row", 140 * MS, 0.02, -0.01, 0.048, sure=False, sets=6)


def analysis() -> Analysis:
    """The probe, in an analysis of one ranking."""
    found = probe()
    sentences = tuple(probe_sentences(found))
    made = msgspec.structs.replace(
        tour(),
        chapters={"probe": found},
        verdict=tuple(each.text for each in sentences),
        findings=(),
        dropped=(),
    )
    return msgspec.structs.replace(made, answer=answer(made, made.rankings, sentences, {}))
