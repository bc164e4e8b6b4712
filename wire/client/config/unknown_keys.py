"""Keys that are not in the lists of `client_keys`: of another program, of a newer client, or misspelt.

A Java client only logs a key that it does not know, so its files also contain keys of serializers, schema registries
and interceptors. Such a file has to work here too. Only a misspelling of a setting that the connection depends on is
refused: without it, a login or a certificate would not be used.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

from wire.client.config.client_keys import ALL_KEYS
from wire.java_text import Property
from wire.suggestion import did_you_mean

_SHAPE = re.compile(r"[a-z][a-z0-9_-]*(\.[A-Za-z0-9_-]+)+", re.ASCII)
"""Words separated by dots, such as `schema.registry.url` and `value.subject.nameStrategy`."""
_CONNECTS = ("bootstrap.", "security.", "sasl.", "ssl.", "https.", "metadata.broker.", "kohort.")
_SIMILAR = 0.8
_SHORTEST_WORD = 5
"""A shorter word that differs in one letter is probably another word: `min` and `max`, `iss` and `iat`."""
_WORDS = frozenset(word for key in ALL_KEYS for word in key.split("."))


def is_refused(key: str, present: Collection[str]) -> bool:
    """Whether an unknown key makes a file with the keys `present` unusable."""
    meant = _misspelt(key)
    return not _SHAPE.fullmatch(key) or (meant is not None and meant not in present)


def refusal_of(entry: Property) -> str:
    """Why the key is refused, and what to write instead."""
    if not entry.is_named:
        return (
            "this line is not KEY=VALUE. It is not shown, as it may be a secret: remove it, or write its key."
        )
    hint = did_you_mean(entry.key, ALL_KEYS) or ". Remove the line, or check the key's spelling."
    return f"{entry.key!r} is not a Kafka client property{hint}"


def remark_on(unknown: Iterable[Property]) -> str:
    """The remark about the unknown keys of a file, in the order of the file."""
    keys = ", ".join(
        f"{entry.key} (line {entry.line}{did_you_mean(entry.key, ALL_KEYS, _SIMILAR)})"
        if entry.is_named
        else f"a line without a value (line {entry.line})"
        for entry in unknown
    )
    return f"ignored, as they are not Kafka client properties known to Kohort: {keys}"


def _misspelt(key: str) -> str | None:
    """The connection's key that `key` misspells in one word; None if no key is that close."""
    words = key.split(".")
    for known in sorted(ALL_KEYS):
        if not known.startswith(_CONNECTS):
            continue
        meant = known.split(".")
        differing = [pair for pair in zip(words, meant, strict=False) if pair[0] != pair[1]]
        if len(words) == len(meant) and len(differing) == 1 and _is_slip(*differing[0]):
            return known
    return None


def _is_slip(written: str, meant: str) -> bool:
    if written in _WORDS or len(meant) < _SHORTEST_WORD:
        return False
    return SequenceMatcher(None, written, meant).ratio() >= _SIMILAR
