"""Client-side assignors of members of the consumer protocol, which Kafka never shipped (consumer.md K9, K17–K20)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from coordinator.consumer.local_assignor import LocalAssignment
from coordinator.consumer.outputs import Partitions
from coordinator.engine.calls import Request
from coordinator.engine.consumer.client_assignment import (
    InstallAssignment,
    PrepareAssignment,
    PrepareAssignmentAnswer,
)
from coordinator.engine.records import ClientMetadata, TopicPartitions
from coordinator.errors import InvalidSetting
from tests.coordinator.consumer.consumer_members import heartbeats, start
from tests.coordinator.consumer.driver import Application, Play, named
from wire.errors import ErrorCode

ALL = [f"foo-{number}" for number in range(6)]


@dataclass
class Reversed:
    """Deals the last partition to the first member, and tells each how many there are of them."""

    name: str = "reversed"
    minimum_version: int = 0
    maximum_version: int = 1
    reason: int = 0
    said: bytes = b""
    error: int = 0
    computed: int = 0
    received: list[tuple[int, list[str], bytes | None, int]] = field(default_factory=list)

    def metadata(self) -> tuple[int, ClientMetadata]:
        return self.reason, ClientMetadata(version=1, data=self.said)

    def assign(self, group: PrepareAssignmentAnswer) -> LocalAssignment:
        self.computed += 1
        members = sorted(member.id for member in group.members)
        targets: dict[str, dict[UUID, tuple[int, ...]]] = {member: {} for member in members}
        for topic, _, count in group.topics:
            for index, partition in enumerate(reversed(range(count))):
                target = targets[members[index % len(members)]]
                target[topic] = (*target.get(topic, ()), partition)
        assignments: Mapping[str, TopicPartitions] = targets
        metadata = {member: ClientMetadata(version=1, data=b"%d" % len(members)) for member in members}
        return LocalAssignment(assignments=assignments, metadata=metadata, error=self.error)

    def on_assignment(
        self, error: int, assigned: Partitions, metadata: ClientMetadata | None, epoch: int
    ) -> None:
        self.received.append((error, named(assigned), None if metadata is None else metadata.data, epoch))


def play_with_local_assignors() -> Play:
    return Play(settings={"group.consumer.client.assignors.enable": "true"})


def pair() -> tuple[Play, Application, Application, Reversed, Reversed]:
    play = play_with_local_assignors()
    one, other = Reversed(), Reversed()
    a = start(play, "a", local_assignors=(one,))
    b = start(play, "b", local_assignors=(other,))
    play.rest()
    play.rest()
    return play, a, b, one, other


def test_local_and_remote_assignors_exclude_each_other() -> None:
    with pytest.raises(InvalidSetting):
        start(Play(), "a", remote_assignor="range", local_assignors=(Reversed(),))


def test_all_members_get_what_one_computed() -> None:
    _, a, b, one, other = pair()
    assert (a.owns, b.owns) == (["foo-1", "foo-3", "foo-5"], ["foo-0", "foo-2", "foo-4"])
    assert one.computed + other.computed == 2
    assert (one.received[-1][2], other.received[-1][2]) == (b"2", b"2")
    for assignor in (one, other):
        epochs = [epoch for *_, epoch in assignor.received]
        assert epochs == sorted(set(epochs))


def test_an_assignor_gets_its_metadata_once_per_epoch() -> None:
    play = play_with_local_assignors()
    assignor = Reversed()
    a = start(play, "a", local_assignors=(assignor,))
    play.rest()
    epochs = [epoch for *_, epoch in assignor.received]
    assert epochs == sorted(set(epochs))
    assert assignor.received[-1] == (0, ALL, b"1", a.member.epoch)


def test_an_error_of_the_assignor_reaches_its_members() -> None:
    play = play_with_local_assignors()
    assignor = Reversed(error=7)
    a = start(play, "a", local_assignors=(assignor,))
    play.rest()
    assert assignor.received[-1][0] == 7
    assert a.raised == []


def test_metadata_that_change_are_said_and_lead_to_another_computation() -> None:
    play, a, _, one, other = pair()
    computed = one.computed + other.computed
    heartbeats(a)
    play.advance(5_000)
    assert [heartbeat.client_assignors for heartbeat in heartbeats(a)] == [None]
    one.said = b"new"
    play.rest()
    said = [offers for heartbeat in heartbeats(a) if (offers := heartbeat.client_assignors) is not None]
    assert [offer.metadata.data for offers in said for offer in offers] == [b"new"]
    assert one.computed + other.computed == computed + 1


@pytest.mark.parametrize("kind", [PrepareAssignment, InstallAssignment])
@pytest.mark.parametrize("code", [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_what_is_refused_is_asked_again_after_a_heartbeat_or_the_timeout(
    kind: type[Request[object]], code: ErrorCode
) -> None:
    play = play_with_local_assignors()
    play.refuse(kind, code, 1)
    a = start(play, "a", local_assignors=(Reversed(),), max_poll_interval_ms=30_000)
    asked = len(a.requests(kind))
    play.advance(4_900)
    assert (len(a.requests(kind)), a.raised, a.owns) == (asked, [], [])
    play.advance(15_100 if code is ErrorCode.STALE_MEMBER_EPOCH else 60_000)
    assert a.owns == ALL


def test_what_is_under_way_is_not_asked_for_again() -> None:
    play = play_with_local_assignors()
    play.node = None
    a = start(play, "a", local_assignors=(Reversed(),))
    a.hold(PrepareAssignment)
    play.node = 1
    play.advance(12_000)
    assert len(a.requests(PrepareAssignment)) == 1


def test_an_answer_that_is_lost_is_asked_for_again() -> None:
    play = play_with_local_assignors()
    play.node = None
    a = start(play, "a", local_assignors=(Reversed(),))
    a.hold(InstallAssignment)
    play.node = 1
    play.advance(100)
    assert a.held
    play.lose(a, answered=True)
    play.rest()
    assert a.owns == ALL
