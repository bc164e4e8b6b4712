"""Subscriptions by regex: refused, dangerous, gaining or losing topics."""

from dataclasses import replace

import pytest

from groups.model import Subscription
from migration.model import Level
from tests.migration.cases import CONSUMER, COOPERATIVE, EMPTY, GROUP, check_finding, found, plan, the_finding

TOPICS = ("orders", "orders-eu", "payments")

TABLE = {
    "look-ahead": ("java", "(?!x)orders.*", "regex-refused", Level.BLOCKER, "INVALID_REGULAR_EXPRESSION"),
    "prefix-on-librdkafka": (
        "librdkafka",
        "^orders",
        "regex-topics",
        Level.BLOCKER,
        "no longer matches orders-eu",
    ),
    "whole-on-librdkafka": ("librdkafka", "^orders.*", "regex-topics", None, ""),
    "literal-on-librdkafka": ("librdkafka", "(?!x)", "regex-refused", None, ""),
    "java": ("java", "orders.*", "regex-topics", None, ""),
    "another-library": ("franz-go", "orders.*", "regex-topics", Level.WARNING, "orders, orders-eu"),
    "dangerous": ("java", "(((a{1000}){1000}){1000})", "regex-dangerous", Level.BLOCKER, "instructions"),
}


@pytest.mark.parametrize(("library", "regex", "rule", "level", "said"), TABLE.values(), ids=TABLE.keys())
def test_a_regex(library: str, regex: str, rule: str, level: Level | None, said: str) -> None:
    made = plan(GROUP, CONSUMER, f"{library}:99", topics=TOPICS, regexes=[regex])
    check_finding(made, rule, level, said)


def test_a_pattern_to_use_instead_is_named() -> None:
    finding = the_finding(
        plan(GROUP, CONSUMER, "librdkafka:99", topics=TOPICS, regexes=["^orders"]), "regex-topics"
    )
    assert "^orders.*" in finding.remedy


def test_topics_need_not_be_there_to_be_lost() -> None:
    finding = the_finding(plan(GROUP, CONSUMER, "librdkafka:99", regexes=["^orders"]), "regex-topics")
    assert finding.level is Level.WARNING
    assert "such as" in finding.message


def test_a_members_own_regex_is_of_the_member() -> None:
    by_regex = replace(GROUP.members[0], subscription=Subscription(regex="(?=a)b"))
    finding = the_finding(
        plan(replace(GROUP, members=(by_regex, GROUP.members[1])), CONSUMER), "regex-refused"
    )
    assert finding.member == "m1"


def test_what_does_not_show_is_asked_for() -> None:
    finding = the_finding(plan(GROUP, CONSUMER), "regex-unknown")
    assert "--regex" in finding.remedy
    assert found(plan(GROUP, CONSUMER, regexes=["a"]), "regex-unknown") is None
    assert found(plan(EMPTY, CONSUMER, "java:4.1"), "regex-unknown") is None
    assert found(plan(GROUP, COOPERATIVE, regexes=["(?=a)"]), "regex-refused") is None


def test_regexes_that_are_too_much_together() -> None:
    """RE2/J takes each of them; librdkafka sends both as one."""
    regexes = [f"^(a{{1000}}){{50}}{letter}" for letter in "xyz"]
    finding = the_finding(plan(GROUP, CONSUMER, "librdkafka:99", regexes=regexes), "regex-refused")
    assert "joins the 3 regexes" in finding.message
    assert found(plan(GROUP, CONSUMER, "java:99", regexes=regexes), "regex-refused") is None
