"""Subscriptions by regex: refused, dangerous, gaining or losing topics."""

from dataclasses import replace

import pytest

from groups.findings import Level
from groups.model import Subscription
from tests.cli.sources.live_source import live_source
from tests.kafka.broker import Broker
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.migration.cases import CONSUMER, COOPERATIVE, EMPTY, GROUP, check_finding, found, plan, the_finding

TOPICS = ("orders", "orders-eu", "payments")

TABLE = {
    "look-ahead": (
        "librdkafka",
        "^(?!x)orders.*",
        "regex-refused",
        Level.BLOCKER,
        "INVALID_REGULAR_EXPRESSION",
    ),
    "look-ahead-in-java": (
        "java",
        "(?!x)orders.*",
        "regex-client",
        Level.INFO,
        "INVALID_REGULAR_EXPRESSION",
    ),
    "lost-in-java": ("java", "(?i)ORDERS.*", "regex-topics", None, ""),
    "prefix-on-librdkafka": (
        "librdkafka",
        "^orders",
        "regex-topics",
        Level.BLOCKER,
        "no longer matches orders-eu",
    ),
    "whole-on-librdkafka": ("librdkafka", "^orders.*", "regex-topics", None, ""),
    "literal-on-librdkafka": ("librdkafka", "(?!x)", "regex-refused", None, ""),
    "java": ("java", "orders.*", "regex-client", Level.INFO, "still matches orders.* in the client"),
    "another-library": ("franz-go", "orders.*", "regex-topics", Level.WARNING, "orders, orders-eu"),
    "dangerous": ("librdkafka", "^(a{1000}){101}", "regex-dangerous", Level.BLOCKER, "instructions"),
    "dangerous-in-java": (
        "java",
        "(((a{1000}){1000}){1000})",
        "regex-client",
        Level.INFO,
        "instructions",
    ),
}


@pytest.mark.parametrize(("library", "regex", "rule", "level", "said"), TABLE.values(), ids=TABLE.keys())
def test_a_regex(library: str, regex: str, rule: str, level: Level | None, said: str) -> None:
    made = plan(GROUP, CONSUMER, f"{library}:99", topics=TOPICS, regexes=[regex])
    check_finding(made, rule, level, said)


@pytest.mark.parametrize("regex", ["(?!x)orders.*", ".*", "(((a{1000}){1000}){1000})", "orders\\Z"])
def test_no_regex_of_java_blocks_or_warns(regex: str) -> None:
    """subscribe(Pattern) is matched in the client under both protocols, so no topic is lost or gained."""
    made = plan(GROUP, CONSUMER, "java:4.1.0", topics=TOPICS, regexes=[regex])
    levels = [finding.level for finding in made.findings if finding.rule.startswith("regex")]
    assert levels == [Level.INFO]
    assert made.steps


@pytest.mark.kafka
def test_a_java_pattern_is_not_sent_to_the_broker(broker: Broker, members: Members) -> None:
    """RE2/J has no look-ahead: the broker would refuse this one from anybody who sends it."""
    prefix = fresh_name("java-regex")
    create_topics(broker, {f"{prefix}-{name}": 1 for name in ("orders", "audit")})
    group = fresh_name("group")
    wanted = f"{prefix}-(?!audit).*"
    running = members.java(broker, group, pattern=wanted, group_protocol="consumer")
    running.wait_assignment({f"{prefix}-orders": [0]})
    with live_source(broker) as source:
        (found,) = source.describe([group], offsets=False).items
    (subscribed,) = [each.subscription for each in found.members]
    assert subscribed == Subscription(topics=(f"{prefix}-orders",))


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
    by_regex = replace(GROUP.members[0], subscription=Subscription(regex="^(?=a)b"))
    finding = the_finding(
        plan(replace(GROUP, members=(by_regex, GROUP.members[1])), CONSUMER, "librdkafka:99"), "regex-refused"
    )
    assert finding.member == "m1"


def test_what_does_not_show_is_asked_for() -> None:
    finding = the_finding(plan(GROUP, CONSUMER), "regex-unknown")
    assert "--regex" in finding.remedy
    assert "nothing changes" in finding.remedy
    assert "nothing" not in the_finding(plan(GROUP, CONSUMER, "librdkafka:99"), "regex-unknown").remedy
    assert found(plan(GROUP, CONSUMER, regexes=["a"]), "regex-unknown") is None
    assert found(plan(EMPTY, CONSUMER, "java:4.1"), "regex-unknown") is None
    assert found(plan(GROUP, COOPERATIVE, regexes=["(?=a)"]), "regex-refused") is None


def test_regexes_that_are_too_much_together() -> None:
    """RE2/J takes each of them; librdkafka sends both as one."""
    regexes = [f"^(a{{1000}}){{50}}{letter}" for letter in "xyz"]
    finding = the_finding(plan(GROUP, CONSUMER, "librdkafka:99", regexes=regexes), "regex-refused")
    assert "joins the 3 regexes" in finding.message
    assert found(plan(GROUP, CONSUMER, "java:99", regexes=regexes), "regex-refused") is None
