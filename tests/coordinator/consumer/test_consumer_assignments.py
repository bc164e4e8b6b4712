"""What a member is assigned, and what of it is carried out, also of topics that its metadata do not show."""

from __future__ import annotations

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
    assert assignments.is_owned(again)
    assert (again.added, again.revoked) == (frozenset(), frozenset())
    assignments.complete(again)
    assert assignments.is_reconciled
    assert assignments.version == version + 1


def test_what_is_known_is_reconciled_once_and_the_rest_when_it_is_known() -> None:
    assignments = Assignments()
    both = images(("foo", 3), ("bar", 1))
    assignments.receive({FOO: (0,), both.topics["bar"].id: (0,)})
    step = assignments.next_step(IMAGE, frozenset())
    assert step is not None
    assert step.added == OWNED
    assignments.complete(step)
    assert not assignments.is_reconciled
    assert assignments.next_step(IMAGE, OWNED) is None
    rest = assignments.next_step(both, OWNED)
    assert rest is not None
    assert rest.added == {TopicPartition("bar", 0)}


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


def test_a_topic_missing_in_metadata_is_kept_until_it_is_revoked() -> None:
    play = Play(topics=images(("foo", 2), ("bar", 2)))
    a = start(play, "a", topics=("foo", "bar"))
    a.calls()
    a.member.refresh_topics(images(("bar", 2)), play.now_ms)
    play.rest()
    assert a.calls() == []
    play.change_topics(images(("foo", 2), ("bar", 3), version=2), seen=False)
    play.rest()
    assert a.calls() == [("assigned", ["bar-2"])]
    assert a.owns == ["bar-0", "bar-1", "bar-2", "foo-0", "foo-1"]
