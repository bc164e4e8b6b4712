"""Every link of every page leads somewhere within the project, to the heading too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.links import anchors, broken, links
from tests.docs.pages import ROOT


def _pages() -> list[Path]:
    """All markdown that is part of the project, wherever it stands."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
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


def test_links_in_code_are_none() -> None:
    text = "[a](b.md#c) `[d](e.md)` ![f](g.svg)\n\n```sh\n[h](i.md)\n```\n[j]: k.md\n<https://l> [m](https://n)\n"
    assert sorted(links(text)) == ["b.md#c", "g.svg", "k.md"]


def test_anchors_are_those_of_github() -> None:
    text = "# The command line (`make bench`)\n## A, b\n## A b\n```sh\n# no heading\n```\n### [Where](x.md) to?\n"
    assert anchors(text) == {"the-command-line-make-bench", "a-b", "a-b-1", "where-to"}


def test_what_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Top\n[x](b.md) [y](a.md#top) [z](#bottom) [w](a.md#nope) [v](c.md#d)\n")
    (tmp_path / "b.md").touch()
    assert broken(tmp_path / "a.md") == ["#bottom", "a.md#nope", "c.md#d"]
