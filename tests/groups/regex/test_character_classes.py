"""Every class that has a name, against RE2/J: its topic characters, and its form for google-re2."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groups.regex.broker import judge
from groups.regex.character_classes import PERL, POSIX, UNICODE
from groups.regex.re2j import parse
from groups.regex.tree import ALPHABET, Chars, characters_of
from tests.kafka.regex_engines import ask_engines

pytestmark = pytest.mark.kafka


def _classes() -> Iterator[str]:
    for name in sorted(UNICODE):
        for sign in "pP":
            yield from (
                rf"\{sign}{{{name}}}",
                rf"[\{sign}{{{name}}}]",
                rf"[^\{sign}{{{name}}}]",
                rf"\{sign}{{^{name}}}",
            )
    for name in POSIX:
        yield from (f"[[:{name}:]]", f"[[:^{name}:]]", f"[^[:{name}:]]")
    for name in PERL:
        yield from (rf"\{name}", rf"[\{name}]", rf"[^\{name}]")


def test_named_classes_hold_what_re2j_says(kafka_jars: Path) -> None:
    patterns = [flag + name for flag in ("", "(?i)", "(?i)x?") for name in _classes()]
    said = ask_engines(kafka_jars, patterns, list(ALPHABET))
    for pattern, one in zip(patterns, said, strict=True):
        assert one.broker.matched is not None, pattern
        theirs = sorted(one.broker.matched)
        regex, tree = judge(pattern).regex, parse(pattern).tree
        assert regex is not None, pattern
        assert regex.matches(ALPHABET) == theirs, pattern
        if isinstance(tree, Chars):
            assert list(characters_of(tree.mask)) == theirs, pattern


def test_names_that_re2j_does_not_know(kafka_jars: Path) -> None:
    patterns = [
        rf"\p{{{name}}}" for name in ("Cn", "Alpha", "Adlam", "IsLatin", "latin", "LC", "", "^", "L ")
    ]
    said = ask_engines(kafka_jars, patterns, [])
    assert [one.broker.error is None for one in said] == [False] * len(patterns)
    assert [judge(pattern).valid for pattern in patterns] == [False] * len(patterns)
