"""Random patterns on random names, with the real engines: RE2/J's verdict and matches, and java.util.regex's.

A failure names its seed: KOHORT_REGEX_SEED=… repeats the run, KOHORT_REGEX_CASES and KOHORT_REGEX_TOPICS scale it
(`make regexes`), KOHORT_JAVA names another Java.
"""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from groups.regex.automaton import Names
from groups.regex.broker import judge
from groups.regex.java import JavaSyntaxError, parse_java
from groups.regex.program import TooLargeError, UnsureError, without_atoms
from tests.groups.regex.random_patterns import random_pattern, random_topics
from tests.kafka.regex_engines import Engine, ask_engines

pytestmark = pytest.mark.kafka
AT_ONCE = 1000
MOST_FLAGGED = 0.05
FLAGGED = "flagged"
REFUSED = "refused"


def test_every_engine_says_what_ours_say(
    kafka_jars: Path, regex_seed: str, regex_cases: int, regex_topics: int
) -> None:
    print(f"KOHORT_REGEX_SEED={regex_seed}")
    random = Random(regex_seed)
    names = Names(random_topics(random, regex_topics))
    counts: Counter[str] = Counter()
    for first in range(0, regex_cases, AT_ONCE):
        patterns = [random_pattern(random) for _ in range(min(AT_ONCE, regex_cases - first))]
        for pattern, said in zip(patterns, ask_engines(kafka_jars, patterns, names.names), strict=True):
            where = f"seed {regex_seed}: {pattern!r}"
            compare_broker(pattern, said.broker, names, where)
            outcome = compare_java(pattern, said.java, names, where)
            counts["patterns"] += 1
            counts["RE2/J takes"] += said.broker.error is None
            counts["Java takes"] += said.java.error is None
            counts[f"Java: {outcome}"] += 1
            if said.broker.error is None and said.java.error is None:
                counts["both take"] += 1
                counts["both take, flagged"] += outcome == FLAGGED
    print(f"{len(names)} names; {dict(counts)}")
    assert counts["both take"] > regex_cases / 3
    if regex_cases >= AT_ONCE:
        assert counts["both take, flagged"] <= MOST_FLAGGED * counts["both take"]


def compare_broker(pattern: str, said: Engine, names: Names, where: str) -> None:
    """The verdict, and the matches of google-re2 and of the automaton."""
    verdict = judge(pattern)
    if verdict.danger is not None:
        return  # RE2/J may take it or fail
    assert verdict.valid == (said.error is None), f"{where}: {verdict.reason}; RE2/J: {said.error}"
    if verdict.regex is None or verdict.parsed is None:
        return
    assert said.matched is not None, where
    assert set(verdict.regex.matches(names.names)) == said.matched, where
    try:
        assert set(names.chosen(names.matched(verdict.parsed.tree))) == said.matched, where
    except TooLargeError:
        return


def compare_java(pattern: str, said: Engine, names: Names, where: str) -> str:
    """What became of the comparison: flagged, refused, slow in Java, or the same matches."""
    try:
        ours = set(names.chosen(names.matched(without_atoms(parse_java(pattern)))))
    except (UnsureError, TooLargeError):
        return FLAGGED
    except JavaSyntaxError as refused:
        why = str(refused)
    else:
        assert said.error is None, f"{where}: Java: {said.error}"
        if said.matched is None:
            return "slow"
        assert ours == said.matched, where
        return "same matches"
    assert said.error is not None, f"{where}: Java takes it; ours: {why}"
    return REFUSED
