"""What `make site` does to the pages on their way into the site (a hook of MkDocs). The README is the first page;
the contents of docs/, the changelog and CONTRIBUTING are pages too. The navigation is the list in docs/README.md.
Links are those of the repository, where tests check them: a link to another page is changed to its place in the
site, and a link to source code becomes text, because the site does not know where the repository is."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[2]
CONTENTS = ROOT / "docs" / "README.md"
OTHERS = {
    "README.md": "index.md",
    "docs/README.md": "contents.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Pages with another place in the site than in docs/."""
_FENCED = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2`*$", re.S | re.M)
_ENTRY = re.compile(r"^(?:(##+) |- \[)([^\]\n]+)(?:\]\(([^)]+)\).*)?$", re.M)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^()\s:]+)\)")


def on_config(config: Any) -> Any:
    config.nav = [
        {"Kohort": "index.md"},
        {"Documentation": "contents.md"},
        *navigation(CONTENTS.read_text("utf-8")),
    ]
    return config


def navigation(contents: str) -> list[Any]:
    """The headings of the contents as sections, and the pages listed below them. The README of a folder is a section
    with all pages of the folder."""
    top: list[Any] = []
    lists = [top]
    for heading, title, target in _ENTRY.findall(contents):
        if heading:
            depth = len(heading) - 2
            inner: list[Any] = []
            lists[depth].append({title: inner})
            lists[depth + 1 :] = [inner]
        else:
            lists[-1].append({title: _pages(site_target(target, "docs/README.md", "contents.md") or target)})
    return top


def _pages(page: str) -> Any:
    folder = posixpath.dirname(page)
    if not page.endswith("/README.md"):
        return page
    names = sorted(path.name for path in (ROOT / "docs" / folder).glob("*.md"))
    return [page, *(f"{folder}/{name}" for name in names if name != "README.md")]


def on_files(files: Files, config: Any) -> Files:
    from mkdocs.structure.files import File

    for source, page in OTHERS.items():
        if there := source.startswith("docs/") and files.get_file_from_path(source.removeprefix("docs/")):
            files.remove(there)
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    path = page.file.src_uri
    sources = {site: source for source, site in OTHERS.items()}
    return relinked(markdown, sources.get(path, f"docs/{path}"), path)


def relinked(markdown: str, source: str, page: str) -> str:
    """The text with its links changed: of a page at `source` in the repository, which is at `page` in the site."""

    def changed(link: re.Match[str]) -> str:
        target = site_target(link["target"], source, page)
        if target is None:
            return link["text"]
        return f"{link['image']}[{link['text']}]({target})"

    parts, end = [], 0
    for block in _FENCED.finditer(markdown):
        parts += [_LINK.sub(changed, markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, _LINK.sub(changed, markdown[end:])])


def site_target(target: str, source: str, page: str) -> str | None:
    """Where a link of the repository leads in the site; None: to nothing that is in it."""
    path, hash_, anchor = target.partition("#")
    if not path:
        return target
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if there in OTHERS:
        destination = OTHERS[there]
    elif there.startswith("docs/") and (ROOT / there).is_dir():
        index = there + "/README.md"
        destination = index.removeprefix("docs/") if (ROOT / index).exists() else "reference.md"
    elif there.startswith("docs/"):
        destination = there.removeprefix("docs/")
    else:
        return None
    return posixpath.relpath(destination, posixpath.dirname(page) or ".") + hash_ + anchor
