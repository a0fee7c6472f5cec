"""What a layer wants of its user for one operation: code and lines, found in the layer's own file.

An operation begins with the method of its name, for its profile or technique. All methods that it reaches are the
operation; whatever else it reaches, such as classes, tables and statements, is its mapping, with the classes that refer
to those classes. Reaching goes through the folder `families` too, but not into the core. How connections are made is in
neither.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rowpath.model.path import BY_HAND, AccessPath
from rowpath.model.workload import PhaseName
from rowpath.runners.manifest import Adapter, source_file
from rowpath.runners.source_lines import count, without_comments

_TYPE = re.compile(r"\b(?:class|record|interface|enum)\s+(\w+)")
_ANNOTATION = re.compile(r"@\w+(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\))?")
_NEAR = re.compile(r"^import (?:static )?[\w.]*?\.(\w+)\.([A-Z]\w*)", re.MULTILINE)
_CALL = re.compile(r"(?:(?<![\w.])|(?<=this\.))([a-z]\w*)\s*\(|::([a-z]\w*)")
_OF_INTERFACE = re.compile(r"\.([a-z]\w*)\s*\(")
_TEXT = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')


@dataclass(frozen=True, eq=False)
class Part:
    """A definition with its text, and the names of others that it refers to."""

    text: str
    methods: frozenset[str]
    others: frozenset[str]
    related: frozenset[str] = frozenset()  # of a class: those that its fields refer to
    bases: tuple[str, ...] = ()  # of a class: mapped ones have the same


@dataclass
class Parts:
    """A file's definitions by name: the methods of its class, and all others."""

    methods: dict[str, list[Part]] = field(default_factory=dict)
    others: dict[str, list[Part]] = field(default_factory=dict)
    near: Parts | None = None  # of the folder `families`

    def add(self, more: Parts) -> None:
        """Those of another file, where this one has none of the name."""
        for name, parts in more.methods.items():
            self.methods.setdefault(name, parts)
        for name, parts in more.others.items():
            self.others.setdefault(name, parts)


class UserCode(NamedTuple):
    """The texts of an operation and of its mapping, each in the order of reaching, and the suffix of their file."""

    operation: tuple[str, ...]
    mapping: tuple[str, ...]
    suffix: str

    @property
    def lines(self) -> tuple[int, int]:
        """Of the operation and of its mapping: neither blank nor comment."""
        operation, mapping = (sum(count(text, self.suffix) for text in texts) for texts in self[:2])
        return operation, mapping


def user_code(adapter: Adapter, path: AccessPath, access: str) -> UserCode | None:
    """An operation's code on this path; None where there is no such method, or no reader of such files."""
    layer = adapter.layer_of(path)
    if layer is None:
        return None
    file = source_file(adapter, layer.source)
    read = READERS.get(file.suffix)
    if read is None or not file.is_file():
        return None
    files = [read(each, file.parents[1]) for each in _files(file)]
    scopes = [*files, *(each.near for each in files if each.near)]
    starts = ((scope, name) for name in _names(path, access, file.suffix) for scope in scopes if name in scope.methods)
    begun, begin = next(starts, (None, ""))
    if begun is None:
        return None
    parts = Parts()
    for scope in (begun, *scopes):
        parts.add(scope)
    back = _relations(parts.others)
    operation = _reached({begin}, parts.methods, lambda part: part.methods)
    named = frozenset[str]().union(*(part.others for part in operation))
    mapping = _reached(set(named), parts.others, lambda part: part.others | back.get(part, frozenset()))
    return UserCode(tuple(part.text for part in operation), tuple(part.text for part in mapping), file.suffix)


def lines_by_phase(adapter: Adapter, path: AccessPath, phases: Iterable[str]) -> dict[str, tuple[int, int]]:
    """By phase the lines of its operation and of its mapping, where they are known."""
    made = {name: user_code(adapter, path, PhaseName.of(name).phase.replace("-", "_")) for name in phases}
    return {name: code.lines for name, code in made.items() if code}


def _files(file: Path) -> list[Path]:
    """A layer's file, and those that it may have beside it (PROTOCOL.md, "Layers")."""
    beside = file.parent.glob(f"{file.stem}*{file.suffix}") if READERS[file.suffix] is _braces else ()
    return [file, *sorted(each for each in beside if each != file)]


def _names(path: AccessPath, access: str, suffix: str) -> list[str]:
    """What the method may be called, the first choice first."""
    if path.layer == BY_HAND:
        words = [f"{access}_by_{path.technique}", access]
    else:
        words = [access] if path.get("profile") == "shipped" else [f"tuned_{access}", access]
    return words if suffix == ".py" else [re.sub(r"_(\w)", lambda found: found[1].upper(), word) for word in words]


def _relations(others: Mapping[str, list[Part]]) -> dict[Part, frozenset[str]]:
    """By class those of its kind that refer to it: a relation is used from both ends."""
    back: dict[Part, set[str]] = {}
    for name, parts in others.items():
        for part in parts:
            for there in (each for other in part.related for each in others.get(other, ()) if each.bases == part.bases):
                back.setdefault(there, set()).add(name)
    return {part: frozenset(names) for part, names in back.items()}


def _reached(
    names: set[str], parts: Mapping[str, list[Part]], more: Callable[[Part], frozenset[str]]
) -> tuple[Part, ...]:
    """Each part that is reached from these names, once."""
    found: dict[Part, None] = {}
    waiting = sorted(names)
    while waiting:
        for part in parts.get(waiting.pop(0), ()):
            if part not in found:
                found[part] = None
                waiting += sorted(more(part))
    return tuple(found)


def _python(file: Path, root: Path, adapters: frozenset[str] = frozenset({"Adapter"})) -> Parts:
    """`adapters`: the classes whose methods are operations; what they inherit is one too."""
    text = file.read_text(encoding="utf-8")
    lines, body, parts, near = text.splitlines(keepends=True), ast.parse(text).body, Parts(), Parts()
    classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name in adapters]
    adapters |= {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
    for node in body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("families."):
            there = root / f"{str(node.module).replace('.', '/')}.py"
            imported = _python(there, root, adapters) if there.is_file() else Parts()
            near.add(imported)
            near.add(imported.near or Parts())
        elif isinstance(node, ast.ClassDef) and node.name in adapters:
            for each in node.body:
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                    parts.methods.setdefault(each.name, []).append(_part(each, lines))
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            parts.others.setdefault(node.name, []).append(_part(node, lines))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            made = _part(node, lines)
            for name in _targets(node):
                parts.others.setdefault(name, []).append(made)
    parts.near = near
    return parts


def _part(node: ast.stmt, lines: list[str]) -> Part:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    code = textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
    walked = list(ast.walk(node))
    own = {each.attr for each in walked if isinstance(each, ast.Attribute) and _is_self(each.value)}
    named = {each.id for each in walked if isinstance(each, ast.Name)}
    texts = (each.value for each in walked if isinstance(each, ast.Constant) and isinstance(each.value, str))
    named |= {name for value in texts for name in re.findall(r"(?:^|\.|, )([A-Z]\w*)", value)}  # "Director.position"
    if not isinstance(node, ast.ClassDef):
        return Part(code, frozenset(own), frozenset(named))
    bases = tuple(map(ast.unparse, node.bases))
    return Part(code, frozenset(own), frozenset(named), frozenset(named - set(bases)), bases)


def _is_self(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == "self"


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


def _braces(file: Path, root: Path) -> Parts:
    text = without_comments(file.read_text(encoding="utf-8"), file.suffix)
    parts = Parts()
    for member in _interfaces_opened(_members(text)):
        bare = _TEXT.sub('""', member)
        called = {call or reference for call, reference in _CALL.findall(bare)}
        named = {
            *_OF_INTERFACE.findall(bare),
            *re.findall(r"\b[A-Z]\w*", bare),
            *re.findall(r"\b[A-Z][a-z]\w*", member),
        }  # "from Film f"
        made = Part(textwrap.dedent(member), frozenset(called), frozenset(named))
        head = re.split(r"[{=;]", _ANNOTATION.sub("", bare), maxsplit=1)[0]
        if found := _TYPE.search(head):
            parts.others.setdefault(found[1], []).append(made)
        elif found := re.search(r"(\w+)\s*\(", head):
            of_interface = not bare.rstrip().endswith("}")  # a statement of a mapper: its text is an annotation
            (parts.others if of_interface else parts.methods).setdefault(found[1], []).append(made)
        elif found := re.search(r"(\w+)\s*$", head):
            parts.others.setdefault(found[1], []).append(made)
    parts.near = Parts()
    for folder, name in _NEAR.findall(text):
        if (there := root / "families" / folder / f"{name}{file.suffix}").is_file():
            imported = _braces(there, root)
            parts.near.add(imported)
            parts.near.add(imported.near or Parts())
    return parts


def _interfaces_opened(members: Iterable[str]) -> Iterator[str]:
    """Each member; of an interface each of its own members instead."""
    for member in members:
        head = _ANNOTATION.sub("", _TEXT.sub('""', member)).split("{")[0]
        if re.search(r"\binterface\b", head):
            yield from _members(member)
        else:
            yield member


def _members(text: str) -> Iterator[str]:
    """What a class is made of, with the indentation of its first line."""
    bare = _TEXT.sub(lambda found: "x" * len(found[0]), text)
    found = _TYPE.search(bare)
    if found is None:
        return
    begin = bare.index("{", found.end()) + 1
    deep = 0
    for at in range(begin, len(bare)):
        deep += (bare[at] in "{(") - (bare[at] in "})")
        if deep < 0:
            return
        is_field = "=" in re.sub(r"\([^()]*\)", "", _ANNOTATION.sub("", bare[begin:at])).split("{")[0]
        if deep == 0 and (bare[at] == ";" or (bare[at] == "}" and not is_field)):
            if (member := text[begin : at + 1]).strip(" \n;"):
                yield member.lstrip("\n")
            begin = at + 1


READERS: dict[str, Callable[[Path, Path], Parts]] = {".py": _python, ".java": _braces}
