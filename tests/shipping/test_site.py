"""The site of the documentation: its links, its navigation, and that it fetches nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.support.long import LONG

pytestmark = pytest.mark.skipif(find_spec("mkdocs") is None, reason="the extra docs is not installed")


@pytest.mark.parametrize(
    ("target", "source", "place", "there"),
    [
        ("docs/lag.md#totals", "README.md", "index.md", "lag.md#totals"),
        ("../README.md#exit-status", "docs/reference.md", "reference.md", "index.md#exit-status"),
        ("../bridge.md", "docs/runbooks/a.md", "runbooks/a.md", "../bridge.md"),
        ("docs/runbooks", "README.md", "index.md", "runbooks/README.md"),
        ("docs/schemas", "README.md", "index.md", "reference.md"),
        ("../tests/conformance/README.md", "docs/serve.md", "serve.md", None),
        ("#top", "docs/lag.md", "lag.md", "#top"),
    ],
)
def test_links_lead_to_where_a_page_is_in_the_site(
    target: str, source: str, place: str, there: str | None
) -> None:
    from tests.shipping.site import site_target

    assert site_target(target, source, place) == there


def test_a_link_in_code_stays_as_it_is() -> None:
    from tests.shipping.site import relinked

    text = "[a](../wire/x.py)\n\n```md\n[a](../wire/x.py)\n```\n[b](https://b.example)\n"
    assert (
        relinked(text, "docs/c.md", "c.md") == "a\n\n```md\n[a](../wire/x.py)\n```\n[b](https://b.example)\n"
    )


@LONG
def test_the_site_is_built_without_a_warning_and_asks_nobody(tmp_path: Path) -> None:
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
    assert {"index.html", "changelog.html", "tutorial.html", "runbooks/index.html"} <= pages.keys()
    for name, text in pages.items():
        assert re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?://[^"]*"', text) == [], name
