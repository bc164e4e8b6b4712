"""Each invariant falls where a part of the world does what it says that none does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from coordinator.consumer import classic_rebalance, leader
from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.consumer_member import AsyncConsumer
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Callback, CallbackKind, Output, Partitions
from coordinator.engine import engine as engine_module
from coordinator.engine import topic_changes, upgrade
from coordinator.engine.classic import heartbeat as classic_heartbeat
from coordinator.engine.classic import rebalance
from coordinator.engine.consumer import target_assignment, update
from coordinator.engine.engine import Engine
from coordinator.engine.offsets import commit
from coordinator.engine.records import ConsumerGroupValue, Record
from coordinator.faults import ChangeTopic, CoordinatorFault, FailCoordinator
from coordinator.simulation.consumers import NewMember, make_member
from coordinator.simulation.node import CoordinatorNode
from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import (
    Close,
    Freeze,
    MemberScript,
    NetworkFaults,
    Pause,
    Restart,
    Scenario,
    Start,
    Variant,
)
from coordinator.simulation.variants import with_variant

SCRIPT = MemberScript(topics=("orders",), config={"auto.commit.interval.ms": "500"})
THREE = Scenario(
    name="three",
    topics={"orders": 6},
    members={"a": SCRIPT, "b": SCRIPT, "c": SCRIPT},
    events=(
        Start(at=0, member="a"),
        Start(at=10, member="b"),
        Start(at=20, member="c"),
        Close(at=30, member="a"),
    ),
    until_s=40,
)


def fallen(result: RunResult) -> set[str]:
    return {violation.invariant for violation in result.violations}


def play(
    variant: Variant,
    change: Callable[[ClientMember], None] | None = None,
    scenario: Scenario = THREE,
    seed: int = 1,
) -> set[str]:
    """What falls where every member is changed like this."""

    def make(new: NewMember) -> ClientMember:
        member = make_member(new)
        if change is not None:
            change(member)
        return member

    return fallen(run(scenario, seed, variant=variant, make=make))


def patched(member: ClientMember, **properties: Callable[[Any], Any]) -> None:
    """Give the member a new class with other properties."""
    kind = type(member)
    fields = {name: property(value) for name, value in properties.items()}
    member.__class__ = type(kind.__name__, (kind,), fields)


@pytest.mark.parametrize("variant", [Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER])
def test_none_falls_in_a_sound_world(variant: Variant) -> None:
    assert play(variant) == set()


def test_i1_a_member_that_keeps_fetching_revoked_partitions() -> None:
    def change(member: ClientMember) -> None:
        fetched: set[Any] = set()

        def fetching(self: Any) -> Partitions:
            fetched.update(self.owned & self.positioned)
            return frozenset(fetched)

        patched(member, fetching=fetching)

    # A partition that it does not own has no position, so nothing is read of it.
    assert "I1" in play(Variant.COOPERATIVE, change)


def test_i2_a_leader_that_does_not_withhold() -> None:
    def assign(_name: str, *rest: Any) -> tuple[tuple[str, bytes], ...]:
        return leader.assign("range", *rest)

    with mock.patch.object(classic_rebalance, "assign", assign):
        assert "I2" in play(Variant.COOPERATIVE)


def test_i2_what_was_given_on_while_a_static_member_was_away() -> None:
    """It missed a generation for commits that fail, and joins the next one with what it had."""
    short = {
        "heartbeat.interval.ms": "2000",
        "max.poll.interval.ms": "8000",
        "metadata.max.age.ms": "5000",
        "request.timeout.ms": "5000",
        "session.timeout.ms": "6000",
    }
    script = replace(SCRIPT, topics=("orders", "payments"), config=short)
    scenario = replace(
        THREE,
        topics={"orders": 4, "payments": 2},
        settings={"group.consumer.min.session.timeout.ms": "6000"},
        members={"a": script, "b": replace(script, instance="b"), "c": replace(script, instance="c")},
        events=(
            Start(at=1, member="a"),
            Start(at=1.4, member="b"),
            Start(at=3.4, member="c"),
            ChangeTopic(at=25, topic="orders", delete=True),
        ),
        until_s=60,
    )
    for seed in range(1, 6):
        assert play(Variant.COOPERATIVE, scenario=scenario, seed=seed) == set()


def test_i3_a_client_whose_epoch_goes_back() -> None:
    def change(member: ClientMember) -> None:
        patched(member, epoch=lambda self: self._epoch - (2 if self._epoch == 4 else 0))

    assert play(Variant.CONSUMER, change) >= {"I3"}


def test_i3_a_group_epoch_that_goes_back() -> None:
    def next_epoch(*arguments: Any, **named: Any) -> Any:
        record = topic_changes.next_epoch(*arguments, **named)
        return record and replace(record, value=ConsumerGroupValue(epoch=1))

    with mock.patch.object(update, "next_epoch", next_epoch):
        assert "I3" in play(Variant.CONSUMER)


def test_i4_a_member_that_never_settles() -> None:
    assert play(Variant.EAGER, lambda member: patched(member, is_settled=lambda _self: False)) == {"I4"}


def test_i5_a_leader_that_gives_a_partition_twice() -> None:
    def assign(*arguments: Any) -> tuple[tuple[str, bytes], ...]:
        assignments = leader.assign(*arguments)
        return tuple((member, assignments[0][1]) for member, _ in assignments)

    with mock.patch.object(classic_rebalance, "assign", assign):
        assert "I5" in play(Variant.EAGER)


def test_i5_a_target_that_leaves_a_partition_out() -> None:
    def compute(*arguments: Any) -> Any:
        targets = target_assignment.compute_target(*arguments)
        return {
            member: {topic: numbers[:-1] for topic, numbers in partitions.items()}
            for member, partitions in targets.items()
        }

    with mock.patch.object(update, "compute_target", compute):
        assert "I5" in play(Variant.CONSUMER)


def replace_callbacks(
    member: ClientMember, kind: CallbackKind, other: Callable[[Callback], Callback]
) -> None:
    """Have the member call its listener otherwise than it is to."""

    def take() -> list[Output]:
        return [
            other(call) if isinstance(call, Callback) and call.kind is kind else call for call in original()
        ]

    original = member.take
    member.take = take  # type: ignore[method-assign]


@pytest.mark.parametrize("variant", [Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER])
@pytest.mark.parametrize("kind", [CallbackKind.ASSIGNED, CallbackKind.REVOKED])
def test_i6_a_callback_that_names_nothing(variant: Variant, kind: CallbackKind) -> None:
    def change(member: ClientMember) -> None:
        replace_callbacks(member, kind, lambda call: Callback(call.kind, frozenset()))

    assert "I6" in play(variant, change)


def lost_for_revoked(member: ClientMember) -> None:
    replace_callbacks(member, CallbackKind.REVOKED, lambda call: Callback(CallbackKind.LOST, call.partitions))


def test_i6_lost_without_having_fallen_out() -> None:
    assert "I6" in play(Variant.EAGER, lost_for_revoked)


def test_i6_lost_of_what_is_there_while_librdkafka_loses_what_is_gone() -> None:
    """That topic is there again when `lost` of it is called, after a pause: a member may lose no other one."""
    script = replace(
        SCRIPT,
        topics=("orders", "payments"),
        library="librdkafka",
        config={"metadata.max.age.ms": "1000", "enable.auto.commit": "false"},
    )
    scenario = replace(
        THREE,
        topics={"orders": 6, "payments": 2},
        members={"a": script, "b": script},
        events=(
            Start(at=0, member="a"),
            Pause(at=10, member="a", for_s=10),
            ChangeTopic(at=12, topic="payments", delete=True),
            ChangeTopic(at=15, topic="payments", create=2),
            Start(at=30, member="b"),
        ),
    )
    assert play(Variant.COOPERATIVE, scenario=scenario) == set()
    assert "I6" in play(Variant.COOPERATIVE, lost_for_revoked, scenario)


FROZEN = replace(
    THREE,
    events=(Start(at=0, member="a"), Start(at=10, member="b"), Freeze(at=20, member="a", for_s=60)),
    until_s=90,
)


def test_i7_a_coordinator_that_takes_any_commit() -> None:
    with mock.patch.object(commit, "_check_group", return_value=None):
        assert "I7" in play(Variant.EAGER, scenario=FROZEN)
    assert play(Variant.EAGER, scenario=FROZEN) == set()


def test_i7_an_offset_that_goes_back() -> None:
    def change(member: ClientMember) -> None:
        read: list[int] = []

        def position(partition: Any) -> int | None:
            offset = original(partition)
            read.append(0)
            return None if offset is None else max(0, offset - len(read))

        original = member.position
        member.position = position

    assert "I7" in play(Variant.EAGER, change)


FAILS = replace(
    THREE, events=(*THREE.events[:3], FailCoordinator(at=25, fault=CoordinatorFault.CRASH, for_s=1))
)


def test_i8_a_log_that_lacks_a_record() -> None:
    def replayed(node: CoordinatorNode, log: Sequence[Record], *rest: Any) -> Engine:
        return original(node, log[:-1], *rest)

    original = CoordinatorNode._replayed
    with mock.patch.object(CoordinatorNode, "_replayed", replayed):
        assert "I8" in play(Variant.CONSUMER, scenario=FAILS)
    assert play(Variant.CONSUMER, scenario=FAILS) == set()


def test_i9_a_handler_that_fails() -> None:
    def handle(*_arguments: Any) -> None:
        raise ZeroDivisionError

    handlers = {**engine_module.HANDLERS, classic_heartbeat.Heartbeat: handle}
    with mock.patch.object(engine_module, "HANDLERS", handlers):
        assert "I9" in play(Variant.EAGER)


def test_i9_a_request_that_is_never_answered() -> None:
    def handle(_ctx: Any, _call: Any, _request: Any) -> None:
        """Forget it."""

    handlers = {**engine_module.HANDLERS, commit.OffsetCommit: handle}
    with mock.patch.object(engine_module, "HANDLERS", handlers):
        assert "I9" in play(Variant.CONSUMER)


def test_i10_a_member_that_always_rejoins() -> None:
    def change(member: ClientMember) -> None:
        def called_back(now_ms: int, *, threw: bool) -> None:
            original(now_ms, threw=threw)
            member.enforce_rebalance(now_ms)

        original = member.called_back
        member.called_back = called_back  # type: ignore[method-assign]

    impatient = replace(SCRIPT, config={"max.poll.interval.ms": "10000", "metadata.max.age.ms": "10000"})
    scenario = replace(THREE, members=dict.fromkeys("ab", impatient), events=THREE.events[:2], until_s=15)
    scenario = replace(scenario, faults=NetworkFaults(delay_ms=(400, 400)))  # a slow loop is one, too
    assert "I10" in play(Variant.COOPERATIVE, change, scenario)


def test_i11_a_follower_that_is_given_something_else() -> None:
    def assigned(group: Any, member: Any) -> Any:
        answer = original(group, member)
        others = [other.assignment for other in group.members.values() if other is not member]
        return replace(answer, assignment=others[0]) if others else answer

    original = rebalance.assigned
    with mock.patch.object(rebalance, "assigned", assigned):
        assert "I11" in play(Variant.EAGER)


def test_i11_a_recreated_group_counts_its_generations_from_1() -> None:
    events = (
        Start(at=0, member="a"),
        Close(at=10, member="a"),
        Restart(at=15, member="b", script=replace(SCRIPT, protocol="consumer")),
        Close(at=25, member="b"),
        Start(at=30, member="c"),
    )
    assert (
        play(Variant.AS_WRITTEN, scenario=replace(with_variant(THREE, Variant.EAGER), events=events)) == set()
    )


UPGRADE = replace(
    with_variant(THREE, Variant.EAGER),
    events=(
        Start(at=0, member="a"),
        Start(at=10, member="b"),
        Restart(at=30, member="a", script=replace(SCRIPT, protocol="consumer")),
    ),
)


def test_i12_an_upgrade_that_loses_offsets() -> None:
    def discard(ctx: Any, group: Any) -> None:
        original(ctx, group)
        ctx.state.offsets.clear()

    original = upgrade.discard_classic_group
    with mock.patch.object(upgrade, "discard_classic_group", discard):
        assert "I12" in play(Variant.AS_WRITTEN, scenario=UPGRADE)
    assert play(Variant.AS_WRITTEN, scenario=UPGRADE) == set()


def test_i13_metrics_that_count_twice() -> None:
    def change(member: ClientMember) -> None:
        def called_back(kind: CallbackKind, took_ms: int) -> None:
            original(kind, took_ms)
            original(kind, took_ms)

        original = member.metrics.called_back
        metrics = mock.Mock(wraps=member.metrics)
        metrics.callbacks, metrics.rebalances = member.metrics.callbacks, member.metrics.rebalances
        metrics.called_back = called_back
        member.metrics = metrics

    assert "I13" in play(Variant.CONSUMER, change)


def test_members_are_the_real_ones() -> None:
    kinds: list[type] = []
    play(Variant.EAGER, lambda member: kinds.append(type(member)))
    play(Variant.CONSUMER, lambda member: kinds.append(type(member)))
    assert kinds == [ClassicConsumer] * 3 + [AsyncConsumer] * 3
