"""What a dry run of a live group says is what the group gets when the change is really made.

Members are real consumers; their ids are drawn anew in every run, so every run is another case.
KOHORT_LIVE_DRY_RUNS=all tries more shapes of groups.
"""

from __future__ import annotations

import os

import pytest

from assignors.assignor import Leader
from tests.cli.command import Kohort
from tests.cli.live_group import JAVA_CLASSES, Kind, LiveGroup, added_is_undetermined, after, promised
from tests.kafka.broker import Broker
from tests.kafka.members import Members

pytestmark = pytest.mark.kafka

EVERYTHING = os.environ.get("KOHORT_LIVE_DRY_RUNS") == "all"

KINDS = (
    *(Kind(library=Leader.JAVA, protocol="classic", assignor=name) for name in JAVA_CLASSES),
    *(
        Kind(library=Leader.LIBRDKAFKA, protocol="classic", assignor=name)
        for name in ("range", "roundrobin", "cooperative-sticky")
    ),
    *(
        Kind(library=library, protocol="consumer", assignor=name)
        for library in Leader
        for name in ("uniform", "range")
    ),
)


@pytest.fixture(params=KINDS, ids=str)
def group(kohort: Kohort, broker: Broker, members: Members, request: pytest.FixtureRequest) -> LiveGroup:
    """Give a group without members."""
    return LiveGroup(kohort, broker, members, request.param)


def test_changes_one_after_another(group: LiveGroup) -> None:
    topics = group.create(7, 4, 1)
    first, second, third = (group.join(topics) for _ in range(3))
    group.settled()
    joins(group, topics)
    grows(group, topics[1], 9)
    subscribes(group, second, topics[1:])
    leaves(group, first)
    subscribes(group, third, topics[:1])


def joins(group: LiveGroup, topics: list[str]) -> None:
    """A member joins: its id is known only afterwards, and then the promise is exact."""
    before = group.state()
    run = group.dry_run("--add", "1")
    name = group.join(topics)
    state = group.settled()
    assert added_is_undetermined(run)
    assert after(state) == before.with_joiner(state.member(name)).dry_run(group.kind), before


def leaves(group: LiveGroup, name: str) -> None:
    """A member leaves."""
    before, run = group.state(), group.dry_run("--remove", name)
    group.leave(name)
    assert after(group.settled()) == promised(run), before
    assert run["undetermined"] == []


def grows(group: LiveGroup, topic: str, count: int) -> None:
    """A topic gets more partitions."""
    before, run = group.state(), group.dry_run("--topic-partitions", f"{topic}={count}")
    group.grow(topic, count)
    assert after(group.settled()) == promised(run), before
    assert run["undetermined"] == []


def subscribes(group: LiveGroup, name: str, topics: list[str]) -> None:
    """A running member wants other topics."""
    before, run = group.state(), group.dry_run("--subscribe", f"{name}={','.join(topics)}")
    group.subscribe(name, topics)
    assert after(group.settled()) == promised(run), before
    assert run["undetermined"] == []
