"""What a member of the consumer protocol makes of topics that its metadata do not show yet, or no longer."""

from __future__ import annotations

from tests.coordinator.consumer.consumer_members import heartbeats, start
from tests.coordinator.consumer.driver import Play
from tests.coordinator.engine.consumer import images


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
    assert {len(owned) for each in heartbeats(a) if (owned := each.owned)} == {2}
    assert a.member.is_settled


def test_an_assignment_of_unknown_topics_is_empty_at_first() -> None:
    play = Play(topics=images(("foo", 2)))
    late = images(version=0)
    play.topics, engine_topics = late, play.topics
    a = start(play, "a")
    assert a.calls() == [("assigned", [])]
    play.topics = engine_topics
    play.show_topics()
    assert a.calls() == [("assigned", ["foo-0", "foo-1"])]


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
