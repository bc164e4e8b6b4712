"""Rewritten patterns: the client's matches of the old are the broker's of the new, by the real engines."""

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from groups.regex import ClientEngine
from groups.regex.automaton import Names
from groups.regex.compare import INTERNAL_TOPICS, compare
from groups.regex.posix import PosixRegex, PosixSyntaxError
from tests.groups.regex.random_patterns import random_pattern, random_topics
from tests.kafka.regex_engines import ask_engines

JAVA = {
    "orders-[0-9]++": r"orders-\d+", r"\p{Alpha}+x": "[A-Za-z]+x", r"orders\Z": "orders$",
    r"a\h?b": r"a[^\x00-\x{10FFFF}]?b", r"\u0041.b": "A.b", "(?x) orders - .* # all of them": "orders-.*",
    "(?>eu|us)-.+": "(?:eu|us)-.+", "[a-z&&[^aeiou]]+": "[b-df-hj-np-tv-z]+", "(?=o)[a-z]+": "o[a-z]*",
    "(?!o)[a-z]": "[a-np-z]", "(?!ab)[a-c]+": "[bc][a-c]*|a(?:[ac][a-c]*)?",
}  # fmt: skip
LIBRDKAFKA = {
    "^topic": "^topic.*", "^a|b": "^(?:a|b).*", r"^\d": "^(?:d.*)", "^[[:alpha:]]": "^[[:alpha:]].*",
    "^(orders|audit)-": "^(orders|audit)-.*",
}  # fmt: skip
HARDER = (
    "(?!audit).*", "(?!.*-dlq$).*", r"(?!__)[\w.-]+", ".*(?<!-dlq)", "(?:(?!tmp).)*", r"(?=.*a)(?=.*b).*",
    ".*", "(?i)k.*", r"(?!(?:audit|orders)-).+", r"\p{L}*+.*", "(?>a|ab)+x", r".+\bx.*",
)  # fmt: skip


@pytest.mark.parametrize(("old", "new"), JAVA.items(), ids=JAVA.keys())
def test_of_java(old: str, new: str) -> None:
    assert compare(old, ClientEngine.JAVA, None).rewritten == new


@pytest.mark.parametrize(("old", "new"), LIBRDKAFKA.items(), ids=LIBRDKAFKA.keys())
def test_of_librdkafka(old: str, new: str) -> None:
    comparison = compare(old, ClientEngine.LIBRDKAFKA, None)
    if old != "^a|b":  # what begins anywhere with b has no short form
        assert comparison.rewritten == new
    assert comparison.rewritten is not None
    assert comparison.rewritten.startswith("^")


@pytest.mark.parametrize("pattern", ["orders-.*", "[a-z]+", "(orders|audit)", r"a\.b"])
def test_nothing_is_written_again_where_nothing_changes(pattern: str) -> None:
    comparison = compare(pattern, ClientEngine.JAVA, None)
    assert comparison.rewritten is None
    assert comparison.ever is not None
    assert comparison.ever.same


@pytest.mark.parametrize("pattern", [r"(a|b)\1", r"\X+", "(?!.*a.{9}b).*"])
def test_nothing_is_made_up(pattern: str) -> None:
    assert compare(pattern, ClientEngine.JAVA, None).rewritten is None


@pytest.mark.kafka
def test_the_broker_matches_by_the_new_what_java_matches_by_the_old(
    kafka_jars: Path, regex_seed: str
) -> None:
    random = Random(regex_seed)
    names = [*INTERNAL_TOPICS, *random_topics(random, 400)]
    olds = [*JAVA, *HARDER, *(random_pattern(random) for _ in range(80))]
    rewritten = _rewritten(olds, ClientEngine.JAVA)
    assert len(rewritten) > len(JAVA) + len(HARDER)
    before = ask_engines(kafka_jars, list(rewritten), names)
    after = ask_engines(kafka_jars, list(rewritten.values()), names)
    for (old, new), was, becomes in zip(rewritten.items(), before, after, strict=True):
        if was.java.matched is not None:
            expected = was.java.matched - set(INTERNAL_TOPICS)
            assert becomes.broker.matched == expected, f"{regex_seed}: {old} -> {new}"


@pytest.mark.kafka
def test_the_broker_matches_by_the_new_what_the_c_library_finds_by_the_old(
    kafka_jars: Path, regex_seed: str
) -> None:
    random = Random(regex_seed)
    names = random_topics(random, 400)
    olds = [*LIBRDKAFKA, *("^" + random_pattern(random).lstrip("^") for _ in range(150))]
    rewritten = _rewritten(olds, ClientEngine.LIBRDKAFKA)
    assert len(rewritten) > 25
    for old, said in zip(rewritten, ask_engines(kafka_jars, list(rewritten.values()), names), strict=True):
        matches = PosixRegex(old).found_in(names)
        matched = {name for name, is_found in zip(names, matches, strict=True) if is_found}
        assert set(said.broker.matched or ()) == matched, f"{regex_seed}: {old} -> {rewritten[old]}"


def _rewritten(patterns: Iterable[str], client: ClientEngine) -> dict[str, str]:
    # A shell could not pass on an empty pattern either.
    found = {pattern: compare(pattern, client, None).rewritten for pattern in patterns if pattern}
    return {old: new for old, new in found.items() if new is not None}


def test_an_old_pattern_that_the_c_library_refuses() -> None:
    with pytest.raises(PosixSyntaxError):
        PosixRegex("^(a")
    comparison = compare("^(?:a)", ClientEngine.LIBRDKAFKA, Names(["a"]))
    assert comparison.client_reason is not None
    assert comparison.matched.client is None
    assert not comparison.is_unchanged
