"""Each invariant falls where a part of the world does what it says that none does."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from assignors.assignor import Side
from assignors.registry import find
from coordinator.consumer import classic_rebalance, leader
from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.consumer_member import AsyncConsumer
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Callback, CallbackKind, Partitions, TopicPartition
from coordinator.engine import engine as engine_module
from coordinator.engine import topic_changes, upgrade
from coordinator.engine.classic import heartbeat as classic_heartbeat
from coordinator.engine.classic import rebalance
from coordinator.engine.consumer import target_assignment, update
from coordinator.engine.engine import Engine
from coordinator.engine.offsets import commit
from coordinator.engine.records import ConsumerGroupValue, Record
from coordinator.simulation.broken_rules import BROKEN_RULES
from coordinator.simulation.consumers import NewMember, make_member
from coordinator.simulation.node import CoordinatorNode
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
from tests.coordinator.simulation.scenarios import DUPLICATES, SHARED, STORM, TWO_BOUNCES

THREE = "three"


def play(
    variant: Variant, change: Callable[[ClientMember], None] | None = None, scenario: str = THREE
) -> set[str]:
    """What falls where every member is changed like this."""

    def make(new: NewMember) -> ClientMember:
        member = make_member(new)
        if change is not None:
            change(member)
        return member

    result = run(SHARED[scenario], 1, variant=variant, make=make)
    return {violation.invariant for violation in result.violations}


def patched(member: ClientMember, **properties: Callable[[Any], Any]) -> None:
    """Give the member a new class with other properties."""
    kind = type(member)
    fields = {name: property(value) for name, value in properties.items()}
    member.__class__ = type(kind.__name__, (kind,), fields)


EAGER, COOPERATIVE, CONSUMER, AS_WRITTEN = (
    Variant.EAGER,
    Variant.COOPERATIVE,
    Variant.CONSUMER,
    Variant.AS_WRITTEN,
)


def keeps_fetching(member: ClientMember) -> None:
    """A partition that it does not own has no position, so nothing is read of it."""
    fetched: set[Any] = set()

    def fetching(self: Any) -> Partitions:
        fetched.update(self.owned & self.positioned)
        return frozenset(fetched)

    patched(member, fetching=fetching)


def epoch_decreases(member: ClientMember) -> None:
    def reported(self: Any) -> int:
        epoch: int = vars(self)["epoch"]
        return epoch - (2 if epoch == 4 else 0)

    def put(self: Any, epoch: int) -> None:
        self.__dict__["epoch"] = epoch

    member.__class__ = type("Decreasing", (type(member),), {"epoch": property(reported, put)})


def never_settles(member: ClientMember) -> None:
    patched(member, is_settled=lambda _self: False)


def replacing(kind: CallbackKind, other: Callable[[Callback], Callback]) -> Callable[[ClientMember], None]:
    """Have the member call its listener otherwise than it is to."""

    def change(member: ClientMember) -> None:
        original = member.take
        member.take = lambda: [  # type: ignore[method-assign]
            other(call) if isinstance(call, Callback) and call.kind is kind else call for call in original()
        ]

    return change


LOSES = replacing(CallbackKind.REVOKED, lambda call: Callback(CallbackKind.LOST, call.partitions))


def commits_less_and_less(member: ClientMember) -> None:
    original, read = member.positions, list[int]()

    def positions(partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        offsets = original(partitions)
        for partition, offset in offsets.items():
            read.append(0)
            offsets[partition] = max(0, offset - len(read))
        return offsets

    member.positions = positions


def always_rejoins(member: ClientMember) -> None:
    original = member.called_back

    def called_back(now_ms: int, *, threw: bool) -> None:
        original(now_ms, threw=threw)
        member.enforce_rebalance(now_ms)

    member.called_back = called_back  # type: ignore[method-assign]


def counts_twice(member: ClientMember) -> None:
    original = member.metrics.called_back
    metrics = mock.Mock(wraps=member.metrics)
    metrics.callbacks, metrics.rebalances = member.metrics.callbacks, member.metrics.rebalances
    metrics.called_back = lambda *call: (original(*call), original(*call))
    member.metrics = metrics


def epoch_1(*arguments: Any, **named: Any) -> Any:
    record = topic_changes.next_epoch(*arguments, **named)
    return record and replace(record, value=ConsumerGroupValue(epoch=1))


def assigns_twice(*arguments: Any) -> tuple[tuple[str, bytes], ...]:
    assignments = leader.assign(*arguments)
    return tuple((member, assignments[0][1]) for member, _ in assignments)


def leaves_out(*arguments: Any) -> Any:
    targets = target_assignment.compute_target(*arguments)
    return {
        member: {topic: numbers[:-1] for topic, numbers in partitions.items()}
        for member, partitions in targets.items()
    }


replayed, sync_answer, discard = CoordinatorNode._replayed, rebalance.assigned, upgrade.discard_classic_group


def lacks_a_record(node: CoordinatorNode, log: Sequence[Record], *rest: Any) -> Engine:
    return replayed(node, log[:-1], *rest)


def of_another(group: Any, member: Any) -> Any:
    answer = sync_answer(group, member)
    others = [other.assignment for other in group.members.values() if other is not member]
    return replace(answer, assignment=others[0]) if others else answer


def discards_offsets(ctx: Any, group: Any) -> None:
    discard(ctx, group)
    ctx.state.offsets.clear()


def fails(*_arguments: Any) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("scenario", "variant"),
    [
        *((THREE, variant) for variant in (EAGER, COOPERATIVE, CONSUMER)),
        ("frozen", EAGER),
        ("fails-over", CONSUMER),
        ("upgraded", AS_WRITTEN),
        ("lost-and-back", COOPERATIVE),
        ("recreated-group", AS_WRITTEN),
    ],
)
def test_none_falls_in_a_sound_world(scenario: str, variant: Variant) -> None:
    assert play(variant, scenario=scenario) == set()


MEMBERS: list[tuple[str, Variant, Callable[[ClientMember], None], str]] = [
    ("I1", COOPERATIVE, keeps_fetching, THREE),
    ("I3", CONSUMER, epoch_decreases, THREE),
    ("I4", EAGER, never_settles, THREE),
    *(
        ("I6", variant, replacing(kind, lambda call: Callback(call.kind, frozenset())), THREE)
        for variant in (EAGER, COOPERATIVE, CONSUMER)
        for kind in (CallbackKind.ASSIGNED, CallbackKind.REVOKED)
    ),
    ("I6", EAGER, LOSES, THREE),
    ("I6", COOPERATIVE, LOSES, "lost-and-back"),
    ("I7", EAGER, commits_less_and_less, THREE),
    ("I10", COOPERATIVE, always_rejoins, "rejoining"),
    ("I13", CONSUMER, counts_twice, THREE),
]


@pytest.mark.parametrize(("invariant", "variant", "change", "scenario"), MEMBERS)
def test_an_invariant_falls_where_members_do_it(
    invariant: str, variant: Variant, change: Callable[[ClientMember], None], scenario: str
) -> None:
    assert invariant in play(variant, change, scenario)


@pytest.mark.parametrize(
    ("invariant", "variant", "scenario", "place", "name", "replacement"),
    [
        (
            "I2",
            COOPERATIVE,
            THREE,
            classic_rebalance,
            "assign",
            lambda _assignor, *rest: leader.assign(find("range", Side.CLIENT), *rest),
        ),
        ("I3", CONSUMER, THREE, update, "next_epoch", epoch_1),
        ("I5", EAGER, THREE, classic_rebalance, "assign", assigns_twice),
        ("I5", CONSUMER, THREE, update, "compute_target", leaves_out),
        ("I7", EAGER, "frozen", commit, "_check_group", lambda *_arguments, **_named: None),
        ("I8", CONSUMER, "fails-over", CoordinatorNode, "_replayed", lacks_a_record),
        (
            "I9",
            EAGER,
            THREE,
            engine_module,
            "HANDLERS",
            {**engine_module.HANDLERS, classic_heartbeat.Heartbeat: fails},
        ),
        (
            "I9",
            CONSUMER,
            THREE,
            engine_module,
            "HANDLERS",
            {**engine_module.HANDLERS, commit.OffsetCommit: lambda *_arguments: None},
        ),
        ("I11", EAGER, THREE, rebalance, "assigned", of_another),
        ("I12", AS_WRITTEN, "upgraded", upgrade, "discard_classic_group", discards_offsets),
    ],
)
def test_an_invariant_falls_where_a_part_does_it(
    invariant: str, variant: Variant, scenario: str, place: Any, name: str, replacement: Any
) -> None:
    with mock.patch.object(place, name, replacement):
        assert invariant in play(variant, scenario=scenario)


def test_members_are_the_real_ones() -> None:
    kinds: list[type] = []
    for variant in (EAGER, CONSUMER):
        play(variant, lambda member: kinds.append(type(member)))
    assert kinds == [ClassicConsumer] * 3 + [AsyncConsumer] * 3


RULES = (
    ("withhold-owned", STORM, Variant.CONSUMER, {"I1", "I2"}),
    ("revoke-before-acknowledge", STORM, Variant.CONSUMER, {"I2"}),
    ("previous-epoch-check", DUPLICATES, Variant.CONSUMER, {"I3"}),
    ("revoke-before-assign", STORM, Variant.COOPERATIVE, {"I1", "I2"}),
    ("append-before-answer", STORM, Variant.CONSUMER, {"I8"}),
    ("two-bounces", TWO_BOUNCES, Variant.AS_WRITTEN, {"I1", "I2"}),
)
SEEDS = range(60)


def fallen(scenario: Scenario, variant: Variant, seed: int, rule: str | None) -> set[str]:
    result = run(scenario, seed, variant=variant, break_rule=rule, with_story=False)
    return {violation.invariant for violation in result.violations if not violation.known}


def test_every_rule_is_tried() -> None:
    assert {rule for rule, *_ in RULES} == BROKEN_RULES.keys()


@pytest.mark.parametrize(("rule", "scenario", "variant", "expected"), RULES, ids=[case[0] for case in RULES])
def test_without_the_rule_an_invariant_falls(
    rule: str, scenario: Scenario, variant: Variant, expected: set[str]
) -> None:
    invariants: set[str] = set()
    for seed in SEEDS:
        here = fallen(scenario, variant, seed, rule)
        if here:
            assert not fallen(scenario, variant, seed, None), f"seed {seed} breaks it with the rule, too"
        invariants |= here
        if expected <= invariants:
            return
    pytest.fail(f"{sorted(expected - invariants)} did not fall")
