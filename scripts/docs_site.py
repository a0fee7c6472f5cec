"""What mkdocs.yml needs beside docs/: the front page, the protocol, and pages of the sources that documents link to.

MkDocs takes pages from docs/ only, but documents link to files all over the repository. Those get pages of their own
below `source/`, and links are written again so that they lead there.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?!\w+:)([^)#]+)(#[^)]*)?\)")
OUTSIDE = {ROOT / "README.md": "index.md", ROOT / "runners" / "PROTOCOL.md": "protocol.md"}
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
NESTED = re.compile(r"^ {2,3}(?=\S)", re.MULTILINE)
NO_SEARCH = "---\nsearch:\n  exclude: true\n---\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside of docs/."""
    for path, uri in OUTSIDE.items():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for path in sources():
        text = folder_page(path) if path.is_dir() else file_page(path)
        files.append(File.generated(config, uri_of(path), content=text, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links between files of the repository lead to their pages; indent nested lists as MkDocs wants them."""
    if page.file.src_uri.startswith("source/"):
        return markdown
    return indented(relinked(markdown, Path(str(page.file.abs_src_path)), page.file.src_uri))


def relinked(markdown: str, origin: Path, uri: str) -> str:
    """The text of the file `origin`, which becomes the page `uri`, with links to pages instead of files."""

    def to_page(found: re.Match[str]) -> str:
        target = uri_of((origin.parent / found[1]).resolve())
        return f"]({posixpath.relpath(target, posixpath.dirname(uri) or '.')}{found[2] or ''})"

    return LINK.sub(to_page, markdown)


def indented(markdown: str) -> str:
    """What a list holds by four spaces instead of two or three; blocks of code as they are."""
    texts, blocks = FENCED.split(markdown), FENCED.findall(markdown)
    return "".join(
        NESTED.sub("    ", text) + block for text, block in itertools.zip_longest(texts, blocks, fillvalue="")
    )


def uri_of(path: Path) -> str:
    """Where in the site the file of the repository is."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"source/{path.relative_to(ROOT).as_posix()}.md"


def sources() -> list[Path]:
    """Files and folders outside of docs/ that documents link to, with the files of the folders."""
    linked = {
        (page.parent / found[1]).resolve()
        for page in (*DOCS.rglob("*.md"), *OUTSIDE)
        for found in LINK.finditer(page.read_text(encoding="utf-8"))
    }
    outside = {path for path in linked if not path.is_relative_to(DOCS) and path not in OUTSIDE}
    return sorted(outside.union(*(files_in(path) for path in outside if path.is_dir())))


def files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder that a reader may want."""
    return (path for path in folder.iterdir() if path.is_file() and path.suffix in (".py", ".toml", ".json", ".c"))


def folder_page(folder: Path) -> str:
    """A list of its files."""
    names = sorted(path.name for path in files_in(folder))
    listed = "".join(f"- [{name}]({folder.name}/{name}.md)\n" for name in names)
    return f"{NO_SEARCH}# {folder.relative_to(ROOT)}\n\n{listed}"


def file_page(path: Path) -> str:
    """Its text; the fence is one that no source contains."""
    language = path.suffix.removeprefix(".") or "text"
    text = path.read_text(encoding="utf-8")
    return f"{NO_SEARCH}# {path.relative_to(ROOT)}\n\n~~~~~~~~ {language}\n{text}\n~~~~~~~~\n"
