"""Texts about concepts: what they are called, and what they look like on a terminal.

A page is markdown of a few kinds of blocks: `# Title`, paragraphs and lists of at most 80 columns that are printed as
they stand, code between fences of three backticks, and `[topic](topic.md)`, a link to another page.
"""

from __future__ import annotations

import re
from importlib.resources import files

LINK = re.compile(r"\[([^\]]+)\]\(([a-z-]+)\.md\)")
FENCE = "```"


def page_names() -> list[str]:
    """All topics, by name."""
    found = (file.name for file in files("cli.verbs.help.concepts").iterdir())
    return sorted(name.removesuffix(".md") for name in found if name.endswith(".md"))


def page_source(name: str) -> str:
    """The markdown of a topic."""
    return files("cli.verbs.help.concepts").joinpath(f"{name}.md").read_text(encoding="utf-8")


def title_of(source: str) -> str:
    """The first line, without its mark."""
    return source.partition("\n")[0].removeprefix("# ")


def plain(source: str) -> str:
    """A page as text: no marks, code set in by four columns, links by the topic's name."""
    title = title_of(source)
    lines = [title, "=" * len(title)]
    in_code = False
    for line in source.splitlines()[1:]:
        if line.startswith(FENCE):
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}")
        else:
            lines.append(LINK.sub(r"\1", line).replace("`", ""))
    return "\n".join(lines) + "\n"


def commands_in(source: str) -> list[str]:
    """The lines of code that run Kohort."""
    in_code, found = False, []
    for line in source.splitlines():
        if line.startswith(FENCE):
            in_code = not in_code
        elif in_code and line.startswith("kohort"):
            found.append(line.partition("  #")[0].rstrip())
    return found


def links_in(source: str) -> list[str]:
    """The topics that a page points to."""
    return list(dict.fromkeys(link.group(2) for link in LINK.finditer(source)))
