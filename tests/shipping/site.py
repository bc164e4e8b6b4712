"""What `make site` does to the pages on their way into the site (a hook of MkDocs).

The README is the first page, the changelog and CONTRIBUTING are pages too. Links are those of the repository, where
tests check them: what leads to another page is made to lead there in the site, and what leads to source code is shown
as text, because the site does not know where the repository is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
OTHERS = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages beside docs/, and their places in the site."""
_FENCED = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2`*$", re.S | re.M)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^()\s:]+)\)")


def on_config(config: Any) -> Any:
    """Complete the navigation: all pages of a folder where it has an empty section of that name, and what it lacks."""
    docs = ROOT / "docs"
    for section in config.nav:
        for title, pages in section.items():
            if pages == []:
                names = sorted(path.name for path in (docs / title.lower()).glob("*.md"))
                names.sort(key=lambda name: name != "README.md")
                section[title] = [f"{title.lower()}/{name}" for name in names]
    every = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    missing = sorted(every - set(pages_of(config.nav)))
    if missing:
        config.nav.append({"More": missing})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    for source, place in OTHERS.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Make the links of a page those of the site."""
    place = page.file.src_uri
    sources = {site: source for source, site in OTHERS.items()}
    return relinked(markdown, sources.get(place, f"docs/{place}"), place)


def relinked(markdown: str, source: str, place: str) -> str:
    """The text with its links changed: of a page at `source` in the repository, which is at `place` in the site."""

    def changed(link: re.Match[str]) -> str:
        target = site_target(link["target"], source, place)
        if target is None:
            return link["text"]
        return f"{link['image']}[{link['text']}]({target})"

    parts, end = [], 0
    for block in _FENCED.finditer(markdown):
        parts += [_LINK.sub(changed, markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, _LINK.sub(changed, markdown[end:])])


def site_target(target: str, source: str, place: str) -> str | None:
    """Where a link of the repository leads in the site; None: to nothing that is in it."""
    path, hash_, anchor = target.partition("#")
    if not path:
        return target
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if there in OTHERS:
        found = OTHERS[there]
    elif there.startswith("docs/") and (ROOT / there).is_dir():
        index = there + "/README.md"
        found = index.removeprefix("docs/") if (ROOT / index).exists() else "reference.md"
    elif there.startswith("docs/"):
        found = there.removeprefix("docs/")
    else:
        return None
    return posixpath.relpath(found, posixpath.dirname(place) or ".") + hash_ + anchor


def pages_of(nav: Any) -> list[str]:
    """The pages of a navigation, in order."""
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, Mapping) else nav
    return [page for each in inner for page in pages_of(each)]
