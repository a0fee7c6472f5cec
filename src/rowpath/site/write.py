"""A site on disk: pages that are gone from one build to the next are removed, whatever else lies there stays."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from rowpath.errors import UsageError

LISTED = ".rowpath-site"  # which files a build wrote, one a line


def prepare(site: Path) -> None:
    """The directory, made where it is missing; UsageError where it holds files that no build of Rowpath wrote."""
    if site.exists() and not site.is_dir():
        raise UsageError(f"{site} is a file", "name a directory with -o SITE")
    if (site / "index.html").exists() and not (site / LISTED).exists():
        raise UsageError(f"{site} has an index.html that Rowpath did not write", "name another directory with -o SITE")
    try:
        site.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot(site, error) from error


def write(site: Path, pages: Iterable[tuple[str, str]], reports: Iterable[str]) -> None:
    """Write pages, each at once, keep these reports, and remove what an earlier build wrote and this one did not."""
    before = _listed(site)
    written = set(reports)
    try:
        for address, text in pages:
            file = site / address
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_name(f".{file.name}.part")
            beside.write_text(text, encoding="utf-8", newline="\n")
            beside.replace(file)
            written.add(address)
        for address in sorted(before - written):
            remove(site, address)
        (site / LISTED).write_text("".join(f"{address}\n" for address in sorted(written)), encoding="utf-8")
    except OSError as error:
        raise _cannot(site, error) from error


def _listed(site: Path) -> set[str]:
    """What the earlier build wrote; nothing outside the site."""
    try:
        lines = (site / LISTED).read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    return {line for line in lines if line and ".." not in Path(line).parts and not Path(line).is_absolute()}


def remove(site: Path, address: str) -> None:
    """Remove one file of a site, and folders that it leaves empty."""
    file = site / address
    file.unlink(missing_ok=True)
    for folder in file.relative_to(site).parents:
        if folder != Path() and (site / folder).is_dir() and not os.listdir(site / folder):  # noqa: PTH208
            (site / folder).rmdir()


def _cannot(site: Path, error: OSError) -> UsageError:
    return UsageError(f"cannot write {error.filename or site}: {error.strerror}", "name another directory with -o SITE")
