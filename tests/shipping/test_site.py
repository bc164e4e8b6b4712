"""The site of the documentation: its links, its navigation, and that it fetches nothing from elsewhere."""

import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import DOCS, ROOT
from tests.shipping.site import CONTENTS, navigation, relinked, site_target
from tests.support.long import LONG


@pytest.mark.parametrize(
    ("target", "source", "page", "there"),
    [
        ("docs/lag.md#totals", "README.md", "index.md", "lag.md#totals"),
        ("../README.md#install", "docs/tutorial.md", "tutorial.md", "index.md#install"),
        ("../bridge.md", "docs/runbooks/a.md", "runbooks/a.md", "../bridge.md"),
        ("docs/runbooks", "README.md", "index.md", "runbooks/README.md"),
        ("docs/README.md", "README.md", "index.md", "contents.md"),
        ("lag.md", "docs/README.md", "contents.md", "lag.md"),
        ("docs/schemas", "README.md", "index.md", "reference.md"),
        ("../tests/conformance/README.md", "docs/serve.md", "serve.md", None),
        ("#top", "docs/lag.md", "lag.md", "#top"),
    ],
)
def test_links_lead_to_where_a_page_is_in_the_site(
    target: str, source: str, page: str, there: str | None
) -> None:
    assert site_target(target, source, page) == there


def test_a_link_in_code_stays_as_it_is() -> None:
    text = "[a](../wire/x.py)\n\n```md\n[a](../wire/x.py)\n```\n[b](https://b.example)\n"
    assert (
        relinked(text, "docs/c.md", "c.md") == "a\n\n```md\n[a](../wire/x.py)\n```\n[b](https://b.example)\n"
    )


def test_the_navigation_is_the_list_of_the_contents() -> None:
    contents = "# D\n\n## A\n\n- [B](b.md): c\n- [D](../CHANGELOG.md)\n\n### E\n\n- [F](f.md)\n\n[no](n.md)\n\n## G\n"
    assert navigation(contents) == [
        {"A": [{"B": "b.md"}, {"D": "changelog.md"}, {"E": [{"F": "f.md"}]}]},
        {"G": []},
    ]


def test_every_page_is_in_one_part_of_the_documentation() -> None:
    parts = navigation(CONTENTS.read_text(encoding="utf-8"))
    assert [name for part in parts for name in part] == [
        "Tutorial",
        "How-to guides",
        "Reference",
        "Explanation",
    ]
    listed = Counter(_pages(parts))
    assert [page for page, times in listed.items() if times > 1] == []
    every = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"README.md"}
    assert every ^ listed.keys() == {"changelog.md", "contributing.md"}


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for item in (nav.values() if isinstance(nav, dict) else nav) for page in _pages(item)]


@LONG
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="the extra docs is not installed")
def test_the_site_is_built_without_a_warning_and_links_no_other_site(tmp_path: Path) -> None:
    mkdocs = Path(sys.executable).with_name("mkdocs")
    done = subprocess.run(
        [mkdocs, "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING -" not in done.stderr
    pages = {page.relative_to(tmp_path).as_posix(): page.read_text() for page in tmp_path.rglob("*.html")}
    assert {
        "index.html",
        "changelog.html",
        "contents.html",
        "tutorial.html",
        "runbooks/index.html",
    } <= pages.keys()
    for name, text in pages.items():
        assert re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?://[^"]*"', text) == [], name
