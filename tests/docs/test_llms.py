"""docs/llms.txt lists the pages of the site for language models (llmstxt.org); KOHORT_WRITE_GOLDEN=1 writes it."""

import os
import re

from tests.docs.pages import DOCS
from tests.shipping.site import CONTENTS, site_target

PAGE = DOCS / "llms.txt"
HEAD = """# Kohort

> The operator's tool for Kafka consumer groups: it inspects groups, explains rebalances and lag, checks changes before
> they are made, plans and carries out migrations between rebalance protocols, and embeds a group coordinator for tests.

`kohort help --output json` prints every command with its options, types and defaults. Every command prints a document
with `--output json`, whose schema is in schemas/, for example schemas/describe.json. `kohort mcp` serves tools to
agents: mcp.html.
"""
LATER = "### Developing Kohort"
"""What a model can do without is in the section that llmstxt.org calls optional."""
_HEADING = re.compile(r"^##+ (.+)$")
_ENTRY = re.compile(r"^- \[(.+?)\]\((.+?)\)(.*)$")


def page() -> str:
    sections: dict[str, list[str]] = {}
    name = ""
    # A long entry continues on the next line.
    for line in CONTENTS.read_text(encoding="utf-8").replace("\n  ", " ").splitlines():
        if heading := _HEADING.match(line):
            name = "Optional" if line == LATER else heading[1]
        elif entry := _ENTRY.match(line):
            target = site_target(entry[2], "docs/README.md", "contents.md") or entry[2]
            sections.setdefault(name, []).append(
                f"- [{entry[1]}]({target.replace('.md', '.html')}){entry[3]}"
            )
    sections["Optional"] = sections.pop("Optional")
    lists = (f"\n## {name}\n\n" + "\n".join(entries) + "\n" for name, entries in sections.items())
    return HEAD + "".join(lists)


def test_the_list_for_models_is_current() -> None:
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
    assert "](mcp.html)" in page()
