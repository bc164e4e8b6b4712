"""Weaknesses of Kafka's own rules violate invariants under their names, and a fault of the same kind has no name.

That a broker does the same: `tests/conformance/scripts/migration.yaml` and `test_broker_converts_groups.py`; that real
consumers do: the stories.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Output, TopicPartition
from coordinator.engine import downgrade, topic_changes, upgrade
from coordinator.engine.classic import rebalance
from coordinator.engine.consumer import target_assignment, update
from coordinator.errors import RequestRefused
from coordinator.simulation.consumers import NewMember, make_member
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario
from coordinator.simulation.scenario_file import parse_scenario, read_scenario
from tests.support.long import LONG
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedAssignment, write_assignment

FILES = Path(__file__).parent / "found"
FOUND: dict[str, Any] = yaml.safe_load(
    FILES.with_suffix(".yaml").read_text()
)  # By random scenarios, made smaller


def test_all_files_are_played() -> None:
    assert {path.stem for path in FILES.glob("*.yaml")} == FOUND.keys()


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name: str) -> None:
    seed, violations = FOUND[name]["seed"], FOUND[name].get("violates", [])
    assert violated(read_scenario(FILES / f"{name}.yaml"), seed) == {
        tuple(pair.split()) for pair in violations
    }


def violated(scenario: Scenario, seed: int = 1, **options: Any) -> set[tuple[str, str]]:
    result = run(scenario, seed, with_story=False, **options)
    return {(violation.invariant, violation.known) for violation in result.violations}


FLAWS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("flaws.yaml").read_text())


def scenario_of(name: str, change: Mapping[str, str]) -> Scenario:
    text = FLAWS[name]["scenario"]
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    return parse_scenario(Path("scenario.yaml"), text)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, marks=LONG if "long_seeds" in case else ())
        for name, flaw in FLAWS.items()
        for case in flaw["cases"]
    ],
)
def test_flaws_have_their_names(name: str, case: Mapping[str, Any]) -> None:
    scenario = scenario_of(name, case.get("change", {}))
    for seed in range(1, case.get("long_seeds", 1) + 1):
        assert violated(scenario, seed) == {tuple(pair.split()) for pair in case.get("violates", [])}


def leaves_out(*arguments: Any) -> Mapping[str, Any]:
    targets = compute_target(*arguments)
    return {
        member: {topic: numbers[:-1] for topic, numbers in partitions.items()}
        for member, partitions in targets.items()
    }


compute_target = target_assignment.compute_target
REFUSED = RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "Partitions were left unassigned")
NOTHING = EmbeddedAssignment(version=0, partitions={})
BLIND = mock.patch.object(ClassicConsumer, "_sees_change", return_value=False)
HASHES = [mock.patch.object(module, "metadata_hash", return_value=0) for module in (upgrade, topic_changes)]
PREPARE = mock.patch.object(rebalance, "prepare")
LATER = {"at: 22": "at: 30"}
FORGETS_ASSIGNMENT = mock.patch.object(upgrade, "_leader_assignment", return_value=NOTHING)
KEEPS_NOTHING = mock.patch.object(downgrade, "encode_assignment", return_value=write_assignment(NOTHING))


@pytest.mark.parametrize(
    ("name", "change", "patches", "invariants"),
    [
        ("upgraded-between-two-rebalances", {"at: 44": "at: 60"}, [FORGETS_ASSIGNMENT], {"I1", "I2", "I7"}),
        ("upgraded-after-a-topic-was-deleted", {"at: 20.5": "at: 30"}, HASHES, {"I4"}),
        (
            "upgraded-by-a-static-successor",
            {"instance: a": "instance: null"},
            [mock.patch.object(update, "compute_target", leaves_out)],
            {"I4", "I5"},
        ),
        (
            "upgraded-after-a-topic-was-recreated",
            {"recreate: 1": "recreate: 2"},
            [mock.patch.object(update, "compute_target", side_effect=REFUSED)],
            {"I9"},
        ),
        (
            "downgraded-without-leader",
            {"  - {at: 20,": "  - {at: 15, start: b}\n  - {at: 40,"},
            [BLIND],
            {"I4"},
        ),
        ("downgraded-while-reconciling", {"at: 20.5": "at: 40"}, [KEEPS_NOTHING], {"I4"}),
        ("downgrade-forgotten", {}, [PREPARE], {"I4"}),
        ("downgrade-forgotten", {"  - {at: 41.1, coordinator: move, for: 0.1}\n": ""}, [PREPARE], {"I4"}),
        ("changed-while-the-leader-was-away", LATER, [BLIND], {"I4"}),
        (
            "changed-while-the-leader-was-away",
            {**LATER, "  - {at: 20, restart: a, after: 5}\n": ""},
            [BLIND],
            {"I4"},
        ),
        (
            "resubscribed",
            {"restart: a, with: {topics: [orders, payments]}": "subscribe: a, topics: [orders, payments]"},
            [BLIND],
            {"I4"},
        ),
    ],
)
def test_a_fault_of_the_same_kind_has_no_name(
    name: str, change: Mapping[str, str], patches: list[Any], invariants: set[str]
) -> None:
    with ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        assert violated(scenario_of(name, change)) == {(invariant, "") for invariant in invariants}


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_a_member_that_owns_what_it_was_not_assigned_is_a_fault(library: str) -> None:
    gone = TopicPartition("orders", 9)

    def make(new: NewMember) -> ClientMember:
        member = make_member(new)
        original = member.take

        def take() -> list[Output]:
            outputs = original()
            member.owned |= {gone} if member.owned else frozenset()
            return outputs

        member.take = take  # type: ignore[method-assign]
        return member

    change = {"recreate: 1}": "recreate: 2}\n  - {at: 40, commit: b}", "b: {": f"b: {{library: {library}, "}
    assert ("I4", "") in violated(scenario_of("claims-what-is-gone", change), make=make)
