"""Every link of every page has a target within the project; links to headings too."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import ROOT

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
    targets = set()
    for heading in _HEADING.findall(_FENCED.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        targets.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return targets


def broken(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of one; every one once, in order."""
    return [target for target in dict.fromkeys(links(page.read_text())) if not _target_exists(page, target)]


def _target_exists(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    there = page.parent / unquote(path) if path else page
    if not anchor:
        return there.exists()
    return there.suffix == ".md" and there.exists() and unquote(anchor) in anchors(there.read_text())


def _pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_has_a_target(page: Path) -> None:
    assert broken(page) == []


def test_every_page_of_the_documentation_can_be_reached_from_the_readme() -> None:
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop().resolve()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        for target in links(page.read_text()):
            there = page.parent / target.partition("#")[0]
            left += sorted(there.glob("*.md")) if there.is_dir() else [there]
    lost = {page.relative_to(ROOT) for page in _pages() if page.is_relative_to(ROOT / "docs")}
    assert lost - {page.relative_to(ROOT) for page in reached} == set()


def test_anchors_are_those_of_github() -> None:
    text = "# The command line (`make bench`)\n## A, b\n## A b\n```sh\n# no heading\n```\n### [Where](x.md) to?\n"
    assert anchors(text) == {"the-command-line-make-bench", "a-b", "a-b-1", "where-to"}


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Top\n[x](b.md) [y](a.md#top) [z](#bottom) [w](a.md#nope) [v](c.md#d)\n")
    (tmp_path / "b.md").touch()
    assert broken(tmp_path / "a.md") == ["#bottom", "a.md#nope", "c.md#d"]
