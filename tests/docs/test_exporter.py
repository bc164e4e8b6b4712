"""docs/exporter.md lists every metric of the exporter. KOHORT_WRITE_GOLDEN=1 writes the table anew."""

from __future__ import annotations

import os
import re

from cli.verbs.exporter.families import FAMILIES
from cli.verbs.exporter.own import BUILD, BUILD_HELP, OF_POLLS
from tests.docs.pages import DOCS

PAGE = DOCS / "exporter.md"
_TABLE = re.compile(r"(?<=<!-- metrics -->\n).*?(?=<!-- /metrics -->)", re.S)


def table() -> str:
    """All metrics, by the names of their samples."""
    rows = [(each.sample, each.all_labels, each.help) for each in FAMILIES]
    rows += [
        (each.name + ("_total" if each.counts else ""), (each.label,) if each.label else (), each.help)
        for each in OF_POLLS
    ]
    rows.append((f"{BUILD}_info", ("version",), BUILD_HELP))
    lines = ["| metric | labels | what it is |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {', '.join(labels)} | {text} |" for name, labels, text in rows]
    return "\n".join(lines) + "\n"


def test_every_metric_is_documented() -> None:
    page = PAGE.read_text()
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        PAGE.write_text(_TABLE.sub(lambda _: table(), page))
        return
    assert _TABLE.search(page)[0] == table()  # type: ignore[index]
