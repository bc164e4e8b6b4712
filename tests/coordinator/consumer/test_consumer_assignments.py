"""What a member is assigned, and what of it is carried out, also of topics that its metadata do not show."""

from coordinator.consumer.heartbeat_fields import Assignments
from coordinator.consumer.outputs import TopicPartition
from tests.coordinator.consumer.consumer_members import heartbeats, start
from tests.coordinator.consumer.driver import Play
from tests.coordinator.engine.consumer import images

IMAGE = images(("foo", 3))
FOO = IMAGE.topics["foo"].id
OWNED = frozenset({TopicPartition("foo", 0)})


def test_a_repeated_assignment_must_be_reported_again() -> None:
    assignments = Assignments()
    assignments.receive({FOO: (0,)})
    step = assignments.next_step(IMAGE, frozenset())
    assert step is not None
    assignments.complete(step)
    assert assignments.is_reconciled
    version = assignments.version
    assignments.receive({FOO: (0, 1)})
    assignments.receive({FOO: (0,)})
    assert not assignments.is_reconciled
    again = assignments.next_step(IMAGE, OWNED)
    assert again is not None
    assert again.by_id == assignments.owned
    assert (again.added, again.revoked) == (frozenset(), frozenset())
    assignments.complete(again)
    assert assignments.is_reconciled
    assert assignments.version == version + 1


def test_unknown_topics_are_reconciled_once_metadata_has_them() -> None:
    play = Play(topics=images(("foo", 2)))
    a = start(play, "a", topics=("foo", "new"))
    a.calls()
    play.change_topics(images(("foo", 2), ("new", 1), version=2), seen=False)
    play.rest()
    assert (a.calls(), a.owns) == ([], ["foo-0", "foo-1"])
    assert not a.member.is_settled
    heartbeats(a)
    play.show_topics()
    assert a.calls() == [("assigned", ["new-0"])]
    assert {len(owned) for heartbeat in heartbeats(a) if (owned := heartbeat.owned)} == {2}
    assert a.member.is_settled
