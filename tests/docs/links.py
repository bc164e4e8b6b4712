"""The links of a page of markdown, and the anchors that it offers, as GitHub makes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

_FENCED = re.compile(r"^ *(`{3,}|~{3,})[^\n]*\n.*?^ *\1`*~*$", re.S | re.M)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\(<?([^()<>\s]*)>?(?: \"[^\"]*\")?\)")
_DEFINED = re.compile(r"^ *\[[^\]]+\]: +<?(\S+?)>?$", re.M)
_HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)?$", re.M)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)


def links(text: str) -> Iterator[str]:
    """Where a page points within the project: links and pictures, not those in code, nor addresses of the web."""
    prose = _CODE.sub("", _FENCED.sub("", text))
    for target in (*_LINK.findall(prose), *_DEFINED.findall(prose)):
        if not _ELSEWHERE.match(target):
            yield target


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings: lower case, without punctuation, blanks as hyphens, repetitions numbered."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in _HEADING.findall(_FENCED.sub("", text)):
        told = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", told.lower()).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def broken(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of one; every one once, in order."""
    return [target for target in dict.fromkeys(links(page.read_text())) if not _leads_somewhere(page, target)]


def _leads_somewhere(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    there = page.parent / unquote(path) if path else page
    if not anchor:
        return there.exists()
    return there.suffix == ".md" and there.exists() and unquote(anchor) in anchors(there.read_text())
