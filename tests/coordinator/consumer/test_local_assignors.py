"""Client-side assignors of members of the consumer protocol, which Kafka never shipped (consumer.md K9, K17–K20)."""

from collections.abc import Sequence

import pytest

from assignors.assignor import Assignor, RebalanceProtocol, Side
from assignors.conversation import AssignorMetadata, GroupMetadata, MemberAssignment, MemberAssignor
from assignors.errors import AssignorFailedError
from assignors.model import DenseGroup, Result
from assignors.rules import from_named
from coordinator.consumer.leader import places
from coordinator.engine.calls import Request
from coordinator.engine.consumer.client_assignment import InstallAssignment, PrepareAssignment
from coordinator.errors import InvalidSetting
from tests.coordinator.consumer.consumer_members import heartbeats, start
from tests.coordinator.consumer.driver import Application, Play, named
from wire.errors import ErrorCode

ALL = [f"foo-{number}" for number in range(6)]


class Reversed(MemberAssignor):
    """Deals the last partition to the first member, and tells each how many there are of them. One member's object."""

    def __init__(self, error: int = 0, versions: tuple[int, int] = (0, 1)) -> None:
        super().__init__({})
        self.versions = versions
        self.error, self.said, self.reason, self.computed = error, b"", 0, 0
        self.throws = ""
        self.seen: list[tuple[bytes | None, int, int]] = []  # What `assign` got of the members
        self.received: list[tuple[int, list[str], bytes | None, int]] = []

    @property
    def assignor(self) -> Assignor:
        return Assignor(
            name="reversed",
            side=Side.CLIENT,
            leader=None,
            protocols=frozenset({RebalanceProtocol.EAGER}),
            assign=self.assign,
            version=self.versions[1],
            oldest_version=self.versions[0],
            at_member=lambda _: self,
        )

    def metadata(self, _topics: Sequence[str], /) -> AssignorMetadata:
        if self.throws == "metadata":
            raise AssignorFailedError("no metadata today")
        return AssignorMetadata(reason=self.reason, data=self.said)

    def assign(self, group: DenseGroup) -> Result:
        self.computed += 1
        self.seen = [(one.user_data, one.user_data_version, one.reason) for one in group.spec.members]
        if self.error:
            raise AssignorFailedError("no assignment today", self.error)
        members = sorted(member.id for member in group.spec.members)
        dealt: dict[str, dict[str, list[int]]] = {member: {} for member in members}
        for topic in group.spec.topics:
            for index, partition in enumerate(reversed(range(topic.partitions))):
                dealt[members[index % len(members)]].setdefault(topic.name, []).append(partition)
        user_data = dict.fromkeys(members, b"%d" % len(members))
        return Result(assignment=from_named("reversed", group, dealt), user_data=user_data)

    def on_assignment(self, assignment: MemberAssignment, group: GroupMetadata, /) -> None:
        partitions = named(places(assignment.partitions))
        self.received.append((assignment.error, partitions, assignment.user_data, group.generation))
        if self.throws == "on_assignment":
            raise AssignorFailedError("no, thanks")


def play_with_local_assignors() -> Play:
    return Play(settings={"group.consumer.client.assignors.enable": "true"})


def pair() -> tuple[Play, Application, Application, Reversed, Reversed]:
    play = play_with_local_assignors()
    one, other = Reversed(), Reversed()
    a = start(play, "a", local_assignors=(one.assignor,))
    b = start(play, "b", local_assignors=(other.assignor,))
    play.rest()
    play.rest()
    return play, a, b, one, other


def test_local_and_remote_assignors_exclude_each_other() -> None:
    with pytest.raises(InvalidSetting):
        start(Play(), "a", remote_assignor="range", local_assignors=(Reversed().assignor,))


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
    a = start(play, "a", local_assignors=(assignor.assignor,))
    play.rest()
    epochs = [epoch for *_, epoch in assignor.received]
    assert epochs == sorted(set(epochs))
    assert assignor.received[-1] == (0, ALL, b"1", a.member.epoch)


def test_after_an_error_of_the_assignor_members_keep_what_they_have() -> None:
    play, a, b, one, other = pair()
    had = a.owns, b.owns
    one.error = other.error = 7
    one.said = b"new"
    play.rest()
    play.rest()
    assert [assignor.received[-1][0] for assignor in (one, other)] == [7, 7]
    assert sorted((*a.raised, *b.raised)) == ["IllegalStateException"]
    assert (a.owns, b.owns) == had


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


def test_a_reason_asks_for_one_computation_which_sees_it_with_version_and_bytes() -> None:
    play, _, _, one, other = pair()
    computed = one.computed + other.computed
    one.reason, one.said = 3, b"hot"
    play.rest()
    play.rest()
    assert one.computed + other.computed == computed + 1
    assert [(None, 1, 0), (b"hot", 1, 3)] in [sorted(assignor.seen, key=str) for assignor in (one, other)]


def test_the_member_that_reads_all_versions_computes() -> None:
    play, old, new = play_with_local_assignors(), Reversed(), Reversed(versions=(1, 2))
    a = start(play, "a", local_assignors=(old.assignor,))
    play.rest()
    b = start(play, "b", local_assignors=(new.assignor,))
    play.rest()
    play.rest()
    assert (old.computed, new.computed, len(a.owns), len(b.owns)) == (1, 1, 3, 3)
    assert {version for _, version, _ in new.seen} == {1, 2}
    c = start(play, "c", local_assignors=(Reversed(versions=(2, 3)).assignor,))
    play.rest()
    assert c.raised == ["UnsupportedAssignorException"]


@pytest.mark.parametrize(
    ("throws", "owns"),
    [("metadata", []), ("on_assignment", ALL)],
)
def test_an_assignor_s_mistake_leaves_poll(throws: str, owns: list[str]) -> None:
    play, assignor = play_with_local_assignors(), Reversed()
    assignor.throws = throws
    a = start(play, "a", local_assignors=(assignor.assignor,))
    play.advance(20_000)
    assert (set(a.raised), a.owns) == ({"KafkaException"}, owns)
    assignor.throws = ""
    play.advance(400_000)
    assert a.owns == ALL


@pytest.mark.parametrize("kind", [PrepareAssignment, InstallAssignment])
@pytest.mark.parametrize("code", [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_what_is_refused_is_asked_again_after_a_heartbeat_or_the_timeout(
    kind: type[Request[object]], code: ErrorCode
) -> None:
    play = play_with_local_assignors()
    play.refuse(kind, code, 1)
    a = start(play, "a", local_assignors=(Reversed().assignor,), max_poll_interval_ms=30_000)
    asked = len(a.requests(kind))
    play.advance(4_900)
    assert (len(a.requests(kind)), a.raised, a.owns) == (asked, [], [])
    play.advance(15_100 if code is ErrorCode.STALE_MEMBER_EPOCH else 60_000)
    assert a.owns == ALL


def test_what_is_under_way_is_not_asked_for_again() -> None:
    play = play_with_local_assignors()
    play.node = None
    a = start(play, "a", local_assignors=(Reversed().assignor,))
    a.hold(PrepareAssignment)
    play.node = 1
    play.advance(12_000)
    assert len(a.requests(PrepareAssignment)) == 1


def test_an_answer_that_is_lost_is_asked_for_again() -> None:
    play = play_with_local_assignors()
    play.node = None
    a = start(play, "a", local_assignors=(Reversed().assignor,))
    a.hold(InstallAssignment)
    play.node = 1
    play.advance(100)
    assert a.held
    play.lose(a, answered=True)
    play.rest()
    assert a.owns == ALL
