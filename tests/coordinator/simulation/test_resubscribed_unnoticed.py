"""A static member that rejoins with another subscription: no member reads the new topic.

Real consumers show it: the story static-resubscribed.
"""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from coordinator.consumer.classic_member import ClassicMember
from coordinator.simulation.known_flaws import RESUBSCRIBED_UNNOTICED
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario

BACK = """\
kohort: 1
topics: {orders: 2, payments: 2}
members:
  a: {library: java, assignors: [range], topics: [orders], instance: a}
events:
  - {at: 0, start: a}
  - {at: 20, restart: a, with: {topics: [orders, payments]}}
until: 90
"""
LIVE = BACK.replace(
    "restart: a, with: {topics: [orders, payments]}", "subscribe: a, topics: [orders, payments]"
)


def _found(text: str) -> set[tuple[str, str]]:
    result = run(parse_scenario(Path("back.yaml"), text), 1, with_story=False)
    return {(each.invariant, each.known) for each in result.violations}


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_the_new_topic_has_no_consumer(library: str) -> None:
    assert _found(BACK.replace("library: java", f"library: {library}")) == {("I4", RESUBSCRIBED_UNNOTICED)}


@pytest.mark.parametrize(
    "text",
    [BACK.replace("payments]}}", "payments]}, after: 60}"), BACK.replace(", instance: a", ""), LIVE],
    ids=["away for longer than its session", "dynamic", "without a restart"],
)
def test_others_are_assigned_it(text: str) -> None:
    assert _found(text) == set()


def test_a_member_that_does_not_join_again_is_a_fault() -> None:
    with mock.patch.object(ClassicMember, "_sees_change", return_value=False):
        assert ("I4", "") in _found(LIVE)
