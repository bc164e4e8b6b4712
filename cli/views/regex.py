"""The document of `kohort validate-regex`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cli.render.document import Block, Document, Table, Text, columns
from coordinator.model import Problem
from coordinator.regex import RegexVerdict

SHOWN_TOPICS = 20
"""Topics named in a table cell; data name them all."""


def regex_document(
    verdicts: Sequence[RegexVerdict], topics: Sequence[str] | None, problems: tuple[Problem, ...]
) -> Document:
    """`topics` are all names of the source, internal ones included; None without a source."""
    matched = [
        None if topics is None or verdict.regex is None else verdict.regex.matches(topics)
        for verdict in verdicts
    ]
    data = [_data(verdict, names) for verdict, names in zip(verdicts, matched, strict=True)]
    blocks: list[Block] = [Text(_sentence(verdict)) for verdict in verdicts if not verdict.valid]
    rows = [
        (verdict.pattern, verdict.valid, None if names is None else len(names), _names(names))
        for verdict, names in zip(verdicts, matched, strict=True)
    ]
    blocks.append(Table(columns=columns("PATTERN", "VALID", "##TOPICS", "TOPICS"), rows=rows))
    return Document(command="validate-regex", data={"patterns": data}, blocks=blocks, errors=problems)


def _data(verdict: RegexVerdict, names: list[str] | None) -> dict[str, Any]:
    return {
        "pattern": verdict.pattern,
        "valid": verdict.valid,
        "reason": verdict.reason,
        "position": verdict.position,
        "dangerous": None,
        "flagged": [],
        "topics": {"broker": names, "client": None, "gained": None, "lost": None},
        "rewrite": None,
    }


def _sentence(verdict: RegexVerdict) -> str:
    at = "" if verdict.position is None else f", at position {verdict.position}"
    return f"The regular expression `{verdict.pattern}` is invalid: {verdict.reason}{at}."


def _names(names: list[str] | None) -> str | None:
    if not names:
        return None
    more = len(names) - SHOWN_TOPICS
    return ", ".join(names[:SHOWN_TOPICS]) + (f" and {more} more" if more > 0 else "")
