"""`rowpath adapter new|test`: create an adapter of one's own, or test one against its real engine."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from rowpath.cli.options import WILL_RUN, add_option, add_shared, add_words, parse_filters
from rowpath.errors import UsageError

if WILL_RUN:
    from rowpath.checks.conformance import report
    from rowpath.checks.conformance.checks import CaseOutcome
    from rowpath.checks.conformance.paths import paths_of
    from rowpath.engines import ENGINES
    from rowpath.report import junit
    from rowpath.report.console import make_console
    from rowpath.report.exports import open_export
    from rowpath.runners.manifest import every_adapter, languages, read_manifest
    from rowpath.runners.manifest import language as language_of
    from rowpath.toml_file import suggest

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
OUTCOMES: dict[str, Literal["passed", "failed", "skipped"]] = {
    "ok": "passed", "failed": "failed", "not applicable": "skipped",
}  # fmt: skip


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `adapter`."""
    parser.add_argument("action", choices=("new", "test"))
    new_ = "new: LANGUAGE NAME and engine=ENGINE (default sqlite)"
    test = "test: NAME or a runner's command (its own options after --), and COORDINATE=VALUE to select paths"
    add_words(parser, "WORD", f"{new_}; {test}")
    into = "new: the directory for adapters.toml and the source (default rowpath-adapters)"
    add_option(parser, "--into DIR", into, type=Path, default=Path("rowpath-adapters"))
    add_shared(parser, "--adapters")
    add_option(parser, "--every", "test: every path (default: the default path, then each other value once)")
    add_shared(parser, "--junit", "--color")


def run(options: argparse.Namespace) -> int:
    """Write the adapter's files, or run its suite; 1 when a case fails."""
    wanted = parse_filters(options.filters)
    if options.action == "new":
        print(*new(options.words, wanted, options.into), sep="\n")
        return 0
    paths = paths_of(options.words, wanted, "every" if options.every else "values")
    file = open_export(options.junit) if options.junit else None
    cases: list[junit.Case] = []
    console = make_console(options.color, options.junit == "-")
    code = report.run(paths, console, lambda path, outcome: cases.append(_case(path, outcome)))
    if file is not None:
        junit.write(f"rowpath adapter test {' '.join(options.words)}", cases, file)
    return code


def _case(path: str, outcome: CaseOutcome) -> junit.Case:
    texts = {"": outcome.reason, "expected ": outcome.expected, "got ": outcome.got}
    said = "; ".join(f"{word}{text}" for word, text in texts.items() if text)
    return junit.Case(path, outcome.name, OUTCOMES[outcome.status], said)


def new(words: list[str], wanted: dict[str, tuple[str, ...]], into: Path) -> Iterator[str]:
    """Write LANGUAGE NAME's source into the directory and its entry into adapters.toml there; the lines to print.

    Errors: UsageError for words that are not LANGUAGE NAME, a name or a file that is there already, a directory that
    cannot be written. No existing file is overwritten: an entry is appended.
    """
    if len(words) != 2:
        raise UsageError("no language or name given", "rowpath adapter new python NAME")
    language, name = words
    if language not in languages():
        raise UsageError(f"unknown language '{language}'", suggest(language, languages()))
    if not _NAME.fullmatch(name):
        raise UsageError(f"invalid driver name '{name}'", "lower-case letters, digits, - and _, starting with a letter")
    if any((adapter.language, adapter.driver) == (language, name) for adapter in every_adapter()):
        raise UsageError(f"{language} adapter '{name}' already exists", "choose another name")
    engine = _engine(wanted)
    identifier = name.replace("-", "_")
    class_name = "".join(part.capitalize() for part in identifier.split("_"))
    header = language_of(language)
    source = into / ((class_name if header.source_by_class else identifier) + header.source_suffix)
    manifest = into / "adapters.toml"
    fields = {
        "DRIVER": name,
        "IDENTIFIER": identifier,
        "CLASS": class_name,
        "SOURCE": source.name,
        "ENGINE": engine,
        "DEPLOYMENT": ENGINES[engine].deployments[0],
    }
    templates = Path(header.folder) / "templates"
    if not templates.is_dir():
        raise UsageError(f"no template for {header.title} in {templates}", "docs/add-a-driver.md")
    if source.exists():
        raise UsageError(f"{source} already exists; nothing was written", "choose another name, or --into DIR")
    head = _head(manifest, language, name)
    try:
        into.mkdir(parents=True, exist_ok=True)
        with source.open("x", encoding="utf-8") as file:
            file.write(_filled(templates / "adapter.template", fields))
        with manifest.open("a", encoding="utf-8") as file:
            file.write(head + _filled(templates / "entry.template", fields))
    except OSError as error:
        raise UsageError(f"cannot write into {into}: {error.strerror}", "--into DIR") from error
    yield f"wrote {source} (fill it in) and its entry in {manifest}"
    yield ""
    yield f"test it:     rowpath adapter test {name} --adapters {manifest}"
    yield f"then run it: rowpath run access-methods --adapters {manifest} --plan"
    yield "a worked example: docs/add-a-driver.md"


def _engine(wanted: dict[str, tuple[str, ...]]) -> str:
    if unknown := [key for key in wanted if key != "engine"]:
        what = f"unknown option '{unknown[0]}' of adapter new"
        raise UsageError(what, "engine=ENGINE; write the rest in adapters.toml")
    engine = wanted.get("engine", ("sqlite",))
    if len(engine) != 1 or engine[0] not in ENGINES:
        raise UsageError(f"unknown engine '{','.join(engine)}'", suggest(engine[0], tuple(ENGINES)))
    return engine[0]


def _head(manifest: Path, language: str, name: str) -> str:
    """What must stand before the entry: nothing but a blank line in a manifest that is there."""
    if not manifest.exists():
        return f'schema_version = 1\nlanguage = "{language}"\n\n'
    there = read_manifest(manifest)
    if there.language_name != language:
        hint = "a manifest has one language: choose another DIR with --into"
        raise UsageError(f"{manifest} is for {there.language_name}", hint)
    if any(adapter.driver == name for adapter in there.adapter):
        raise UsageError(f"{manifest} already has an adapter '{name}'", "choose another name")
    return "\n"


def _filled(template: Path, fields: dict[str, str]) -> str:
    text = template.read_text(encoding="utf-8")
    return re.sub(r"@([A-Z]+)@", lambda match: fields[match.group(1)], text)
