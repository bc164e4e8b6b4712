"""What a member is assigned, and what of it is carried out, step by step."""

from __future__ import annotations

from coordinator.consumer.heartbeat_fields import Assignments
from coordinator.consumer.outputs import TopicPartition
from tests.coordinator.engine.consumer import images

IMAGE = images(("foo", 3))
FOO = IMAGE.topics["foo"].id
OWNED = frozenset({TopicPartition("foo", 0)})


def test_a_repeated_assignment_must_be_reported_again() -> None:
    """The coordinator waits for the member to report it, though nothing changes for its listener."""
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


def test_the_same_assignment_twice_is_one() -> None:
    assignments = Assignments()
    assignments.receive({FOO: (1, 0)})
    step = assignments.next_step(IMAGE, frozenset())
    assert step is not None
    assignments.complete(step)
    assignments.receive({FOO: (0, 1)})
    assert assignments.is_reconciled
    assert assignments.next_step(IMAGE, step.assigned) is None


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
