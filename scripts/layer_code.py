"""The code of each layer of a language, of both profiles, with the lines that its user writes: blocks of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from scripts.capabilities import table

from rowpath.model.path import BY_HAND, AccessPath
from rowpath.runners.manifest import Adapter, Layer, source_file
from rowpath.runners.user_lines import UserCode, user_code

OPERATION = "film"
PROFILES = ("shipped", "tuned")
DEFINING = ("class ", "def ", "async def ", "@")  # the formatter wants two blank lines around these


def layers_of(language: str, adapters: Iterable[Adapter], _engines: Mapping[str, Any]) -> str:
    """A table of lines, the floor first, then each layer's code."""
    rows, parts, seen = [], [], set()
    for adapter in (each for each in adapters if each.language == language):
        for layer in sorted(adapter.layers, key=lambda each: each.name != BY_HAND):
            if (file := source_file(adapter, layer.source)) in seen:
                continue  # above another driver it is the same
            seen.add(file)
            codes = list(_codes(adapter, layer))
            drivers = ", ".join(layer.over)
            rows += [[drivers, f"`{layer.name}`", how, *map(str, code.lines)] for how, code in codes]
            if layer.name != BY_HAND:
                parts.append(_section(language, layer, dict(codes)))
    heading = table(["above", "layer", "profile or technique", "lines of the operation", "of its mapping"], rows)
    return f"{heading}\n{''.join(parts).rstrip()}\n"


def _codes(adapter: Adapter, layer: Layer) -> Iterator[tuple[str, UserCode]]:
    """By profile, or by technique where there is no layer."""
    for technique in layer.techniques:
        for profile in ("tuned",) if layer.name == BY_HAND else PROFILES:
            where = {"language": adapter.language, "driver": adapter.driver, "layer": layer.name}
            path = AccessPath.of(where | {"technique": technique, "profile": profile})
            names = layer.operations.get(technique, [OPERATION])
            if OPERATION in names and (code := user_code(adapter, path, OPERATION)):
                yield (technique if layer.name == BY_HAND else profile), code


def _section(language: str, layer: Layer, codes: dict[str, UserCode]) -> str:
    """What differs between the profiles, then the mapping that both have."""
    shipped, tuned = (codes[profile] for profile in PROFILES)
    both = [text for text in shipped.mapping if text in tuned.mapping]
    link = f"[{Path(layer.source).name}](../runners/{language}/{layer.source})"
    parts = [f"## {layer.name}\nAbove {', '.join(layer.over)}: {link}.\n"]

    def block(texts: Iterable[str]) -> str:
        code, defined = "", False
        for text in texts:
            before, defined = defined, language == "python" and text.startswith(DEFINING)
            code += "\n" * (1 + (before or defined)) * bool(code) + f"{text.rstrip()}\n"
        return f"\n```{language}\n{code}```\n"

    for profile, code in codes.items():
        if profile == "tuned" and code == shipped:
            parts.append("\n`profile=tuned`: the same lines; the file says what differs.\n")
            continue
        operation, mapping = code.lines
        parts.append(f"\n`profile={profile}`: {operation} lines, and {mapping} of mapping.\n")
        parts.append(block([*(text for text in code.mapping if text not in both), *code.operation]))
    if both:
        parts += ["\nMapping of both:\n", block(both)]
    return "".join(parts) + "\n"


BLOCKS: dict[str, Callable[[Iterable[Adapter], Mapping[str, Any]], str]] = {
    f"layers-{language}": partial(layers_of, language) for language in ("python", "java")
}
