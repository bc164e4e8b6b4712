"""What Java's engine is asked about: nothing that may keep it for ever, and everything that services have."""

import pytest

from pipeline.audit.java_regexes import too_slow

NAMES = tuple(f"team-{number % 40}.orders-{number}" for number in range(1_000))


@pytest.mark.parametrize(
    "pattern",
    [
        "orders", ".*", "^orders-.*$", "orders-(?!eu).*", "(a|b)c+", "[a-z]+(-[a-z]+)*", "([a-z]+\\.)*[a-z]+",
        "(?:eu|us)\\.(orders|clicks)-[0-9]{1,4}", ".*-foo-.*", "(abc)+", "team-[0-9]+(?:\\.dlq|\\.retry)?",
        "(ab?c)?", "(?i)ORDERS.*", "\\Qa.b\\E.*", "or(ders",
    ],
)  # fmt: skip
def test_patterns_of_services_are_tried(pattern: str) -> None:
    assert too_slow(pattern, NAMES) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b", "(a*)*", "([a-z]+)*x", "(a|a)*b", "(a|ab|b)*c", "(.*)*x", "(a?){3,}", "((a+)b?)+", "(?:a+a+)+$",
        "(a)\\1+", "(?<n>a)\\k<n>*", "([a-z]+-?)*!", "(\\w+\\s?)+$", "(?=(a+)+b)a", "x" * 3_000,
        ".*.*.*.*.*.*.*.*x",
    ],
)  # fmt: skip
def test_patterns_that_may_take_forever_are_not_tried(pattern: str) -> None:
    assert too_slow(pattern, NAMES) is not None


def test_many_names_make_a_pattern_slow() -> None:
    pattern = ".*a.*b.*c.*"
    assert too_slow(pattern, NAMES[:10]) is None
    assert "4 consecutive repetitions" in (too_slow(pattern, ["x" * 249] * 100_000) or "")


def test_each_name_counts_by_its_own_length() -> None:
    pattern = ".*a.*b.*c.*"
    assert too_slow(pattern, ["x" * 30] * 10_000) is None
    assert too_slow(pattern, [*["x" * 30] * 10_000, "x" * 249]) is None
    assert "4 consecutive repetitions" in (too_slow(pattern, ["x" * 249] * 10) or "")
