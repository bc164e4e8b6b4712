"""Our reading of POSIX extended regexes, against the C library."""

from contextlib import suppress
from random import Random

import pytest

from groups.regex.automaton import Automaton, Names
from groups.regex.posix import NotAskedError, PosixRegex, PosixSyntaxError, anywhere, parse_posix
from groups.regex.program import TooLargeError
from tests.groups.regex.random_patterns import random_pattern, random_topics


def test_we_read_a_pattern_as_the_c_library_does(
    regex_seed: str, regex_cases: int, regex_topics: int
) -> None:
    print(f"KOHORT_REGEX_SEED={regex_seed}")
    random = Random(regex_seed)
    names = Names(random_topics(random, regex_topics))
    compared = 0
    for _ in range(regex_cases):
        pattern = "^" * random.randrange(2) + random_pattern(random)
        tree = parse_posix(pattern)
        with suppress(PosixSyntaxError, NotAskedError, TooLargeError):
            matches = PosixRegex(pattern).found_in(names.names)
            if tree is not None:
                ours = list(map(bool, names.matched(anywhere(tree))))
                assert ours == matches, f"{regex_seed}: {pattern!r}"
                compared += 1
    print(f"{compared} patterns compared")
    assert compared > regex_cases / 3


@pytest.mark.parametrize(
    ("pattern", "name", "is_match"),
    [
        ("^topic", "topic-1", True),
        ("^topic", "my-topic", False),
        (r"^\d", "d", True),
        (r"^\d", "1", False),
        ("^[[:digit:]]", "1", True),
        (r"^(a|b)\1$", "aa", True),
        (r"^(a|b)\1$", "ab", False),
        ("^a|z", "xyz", True),
    ],
)
def test_what_the_c_library_finds(pattern: str, name: str, is_match: bool) -> None:
    assert PosixRegex(pattern).found_in([name]) == [is_match]
    tree = parse_posix(pattern)
    if tree is not None:
        assert Automaton(anywhere(tree)).matches(name) == is_match


@pytest.mark.parametrize("pattern", ["^(", "^[a", "^(?:a)", "^a{2,1}", "^[[:foo:]]", "^\\", "^a\0b"])
def test_what_it_refuses(pattern: str) -> None:
    with pytest.raises(PosixSyntaxError):
        PosixRegex(pattern)


def test_counts_that_would_take_all_memory_are_not_shown_to_it() -> None:
    with pytest.raises(NotAskedError, match="counts too large"):
        PosixRegex("^((a{1,1000}){1,1000}){1,1000}")
