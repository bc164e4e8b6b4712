"""The document of `kohort validate-regex`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cli.render.document import Block, Document, Table, Text, fields, table_of
from groups.counts import first_names
from groups.model import Problem
from groups.regex import ClientEngine
from groups.regex.broker import RegexVerdict
from groups.regex.compare import Comparison, joined

SHOWN_TOPICS = 20
"""Maximum number of topics named in a table cell; data contain all of them."""

SHOWN_PATTERN = 200
"""Maximum length of a pattern in a sentence."""


def regex_document(
    comparisons: Sequence[Comparison], client: ClientEngine | None, problems: tuple[Problem, ...]
) -> Document:
    """The document. `client` is the engine that the broker's matches are compared with; None without `--from`."""
    together = None
    if client is ClientEngine.LIBRDKAFKA:
        together = joined([comparison.verdict.pattern for comparison in comparisons])
    blocks: list[Block] = [
        Text(text) for comparison in comparisons for text in _sentences(comparison, client)
    ]
    if together is not None and not (together.valid and together.danger is None):
        blocks.append(
            Text(f"They cannot be used together in one subscription: {together.reason or together.danger}.")
        )
    blocks.append(_table(comparisons, client))
    data = {
        "from": None if client is None else client.value,
        "patterns": [_data(comparison) for comparison in comparisons],
        "joined": None if together is None else _joined(together),
    }
    return Document(command="validate-regex", data=data, blocks=blocks, errors=problems)


def _table(comparisons: Sequence[Comparison], client: ClientEngine | None) -> Table:
    shown = [("PATTERN", lambda each: each.verdict.pattern), ("VALID", lambda each: each.verdict.valid)]
    if client is None:
        shown += [("##TOPICS", lambda each: _count(each.matched.broker))]
        shown += [("TOPICS", lambda each: _names(each.matched.broker))]
    else:
        shown += [("##TODAY", lambda each: _count(each.matched.client))]
        shown += [("##BROKER", lambda each: _count(each.matched.broker))]
        shown += [("GAINED", lambda each: _names(each.matched.gained))]
        shown += [("LOST", lambda each: _names(each.matched.lost))]
    return table_of(comparisons, *shown)


def _data(comparison: Comparison) -> dict[str, Any]:
    verdict, ever = comparison.verdict, comparison.ever
    topics = fields(comparison.matched, "broker", "client", "gained", "lost")
    return {
        **fields(verdict, "pattern", "valid", "reason", "position"),
        "dangerous": verdict.danger is not None if verdict.valid else None,
        "danger": verdict.danger,
        "literal": comparison.is_literal,
        "client_reason": comparison.client_reason,
        "flagged": list(comparison.flagged),
        "topics": {name: None if names is None else list(names) for name, names in topics.items()},
        "always_same": None if ever is None else ever.same,
        "examples": {
            "gained": None if ever is None else ever.only_second,
            "lost": None if ever is None else ever.only_first,
        },
        "rewrite": comparison.rewritten,
    }


def _joined(verdict: RegexVerdict) -> dict[str, Any]:
    return {
        **fields(verdict, "pattern", "valid", "reason"),
        "dangerous": verdict.danger is not None if verdict.valid else None,
    }


def _sentences(comparison: Comparison, client: ClientEngine | None) -> Iterator[str]:
    verdict = comparison.verdict
    pattern = f"`{_shortened(verdict.pattern)}`"
    if comparison.is_literal:
        yield f"{pattern} does not start with ^: librdkafka treats it as the name of one topic, under both protocols."
        return
    if not verdict.valid:
        at = "" if verdict.position is None else f", at position {verdict.position}"
        yield f"The regular expression {pattern} is invalid: {verdict.reason}{at}."
    if verdict.danger is not None:
        yield f"The broker accepts {pattern}, but it may be harmful: {verdict.danger}."
    if client is None:
        return
    if comparison.client_reason is not None:
        yield f"The {client.value} consumer does not accept {pattern} today: {comparison.client_reason}."
    if comparison.flagged:
        yield (
            f"It is not certain what the {client.value} consumer matches with {pattern}: "
            f"{', '.join(comparison.flagged)}."
        )
    yield from _examples(comparison, pattern)
    if comparison.rewritten is not None:
        yield (
            f"Subscribe to `{comparison.rewritten}` instead: the broker then matches what the {client.value} consumer "
            f"matches with {pattern} today, for all valid topic names."
        )


def _examples(comparison: Comparison, pattern: str) -> Iterator[str]:
    ever = comparison.ever
    if ever is None or ever.same:
        return
    parts = []
    if ever.only_first is not None:
        parts.append(f"no longer matches names such as `{ever.only_first}`")
    if ever.only_second is not None:
        parts.append(f"also matches names such as `{ever.only_second}`")
    yield f"Under the consumer protocol {pattern} {' and '.join(parts)}."


def _shortened(pattern: str) -> str:
    return pattern if len(pattern) <= SHOWN_PATTERN else f"{pattern[:SHOWN_PATTERN]}…"


def _count(names: tuple[str, ...] | None) -> int | None:
    return None if names is None else len(names)


def _names(names: tuple[str, ...] | None) -> str | None:
    return first_names(names, SHOWN_TOPICS) if names else None
