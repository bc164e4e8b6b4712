"""`kohort explore`: which properties hold in all states of a small group, and what falls without a safety rule."""

import pytest

from coordinator.simulation.exploration.rules import RULES
from coordinator.simulation.exploration.worlds import WORLDS
from tests.cli.command import Kohort


def test_a_rule_that_is_off_lets_a_property_fall(kohort: Kohort) -> None:
    shown = kohort.quick("explore --break withhold-owned").succeeded().stdout
    assert "ValidPartitionEpoch without withhold-owned" in shown
    assert "the coordinator handles ConsumerGroupHeartbeat of c2" in shown


def test_the_document_has_the_shortest_trace(kohort: Kohort) -> None:
    answer = kohort.quick("explore --break revoke-before-acknowledge --output json").succeeded()
    (world,) = answer.document["worlds"]
    assert (world["world"], world["broken"]) == ("published", "revoke-before-acknowledge")
    fallen = [invariant for invariant in world["invariants"] if not invariant["holds"]]
    assert fallen[0]["trace"][0] == "c1 starts"
    assert 0 < world["states"] < world["transitions"]


def test_a_limit_is_said_and_is_no_success(kohort: Kohort) -> None:
    kohort.quick("explore eager --limit 50").assert_said(1, "stopped at --limit")


def test_worlds_and_rules_are_listed(kohort: Kohort) -> None:
    document = kohort.quick("explore --list --output json").succeeded(stderr="").document
    assert [world["world"] for world in document["worlds"]] == list(WORLDS)
    assert [rule["rule"] for rule in document["rules"]] == list(RULES)


@pytest.mark.parametrize(
    ("words", "meant"), [("publshed", "published"), ("--break two-bounce", "two-bounces")]
)
def test_a_wrong_name_names_the_nearest(kohort: Kohort, words: str, meant: str) -> None:
    kohort.quick(f"explore {words}").assert_refused(f"did you mean {meant}?")
