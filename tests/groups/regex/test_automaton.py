"""The automaton: differences by their shortest names, and bounds."""

import pytest

from groups.regex.automaton import FEW, MANY, Automaton, Difference, Names, are_same, difference
from groups.regex.java import parse_java
from groups.regex.program import TooLargeError


def _automaton(pattern: str) -> Automaton:
    return Automaton(parse_java(pattern))


@pytest.mark.parametrize(
    ("first", "second", "only_first", "only_second"),
    [
        ("a", "a", None, None),
        ("a*", "a+", None, None),  # no topic has an empty name
        ("topic.*", "topic", "topica", None),
        ("a|b", "b|c", "a", "c"),
        ("(?!ab).*", "[^a].*|a([^b].*)?", None, None),
        ("(?!a).*", "(?!b).*", "b", "a"),
        ("[a-z]+", "[a-z]*z[a-z]*", "a", None),
        (r"\w+", "[a-zA-Z_0-9]{1,249}", None, None),  # no name is longer
        (".*(?<!-dlq)", "(?!.*-dlq$).*", None, None),
        (r"a\b.*", "a([.-].*)?", None, None),
        ("(?:a|aa)+", "a+", None, None),
        (".{249}", ".{249,}", None, None),
        (".{248}", ".{249}", "a" * 248, "a" * 249),
    ],
)
def test_difference(first: str, second: str, only_first: str | None, only_second: str | None) -> None:
    result = difference(_automaton(first), _automaton(second))
    assert result == Difference(only_first=only_first, only_second=only_second)
    assert are_same(_automaton(first), _automaton(second)) == result.same


def test_too_many_states_are_said_to_be_too_many() -> None:
    many = _automaton("a.{16}(?!b).*c.*|(?:.*[ab].{14})*d.*")
    with pytest.raises(TooLargeError):
        many.complete()
    with pytest.raises(TooLargeError):
        _automaton("(?:(?:a{100}){100}){100}")
    with pytest.raises(TooLargeError):
        difference(_automaton("(?:.*[ab].{14})*d.*"), _automaton("x|(?:.*[ab].{14})*d.*"))


@pytest.mark.parametrize("count", [FEW - 1, FEW + 100])
@pytest.mark.parametrize(
    "pattern", ["a.*", "(?!a1).*", ".*(?<!9)", "(?!.*0$).*", "[ab][0-9]*", "(?!a.*7$)a.*"]
)
def test_names_at_once_are_matched_as_one_by_one(count: int, pattern: str) -> None:
    names = Names(f"{'abc'[number % 3]}{number}" for number in range(count))
    automaton = _automaton(pattern)
    matched = names.chosen(names.matched(parse_java(pattern)))
    assert matched == [name for name in names.names if automaton.matches(name)]


def test_an_automaton_of_too_many_states_still_reads_some_names() -> None:
    pattern = "(?:.*[ab].{14})*d.*"
    names = Names(f"{'ab'[number % 2]}xyz{number}d" for number in range(FEW + 50))
    assert set(names.matched(parse_java(pattern))) == {0}
    lots = Names(f"a{number}" for number in range(MANY + 1))
    with pytest.raises(TooLargeError):
        lots.matched(parse_java(pattern))


def test_only_names_that_a_topic_can_have() -> None:
    for wrong in ("", "a b", "ä", "a\n", "\n"):
        with pytest.raises(ValueError, match="is not a valid topic name"):
            Names(["a", wrong])
    names = Names(["b", "a", "b"])
    assert (names.names, names.index("b"), names.index("c")) == (["a", "b"], 1, None)
