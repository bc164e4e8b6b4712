"""Topics and end offsets are the same from the wire client and from the AdminClient in its place."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from cli.sources.live import LiveSource
from tests.cli.command import imported, running
from tests.cli.sources.live_source import admin_only, live_source
from tests.kafka.broker import RunningBroker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics, delete_records, fresh_topic

HEAVY = ("confluent_kafka", "numpy", "yaml", "re2", "rich", "asyncio")


@pytest.fixture
def source(broker: RunningBroker) -> Iterator[LiveSource]:
    with live_source(broker) as live:
        yield live


@pytest.fixture
def by_admin(broker: RunningBroker) -> Iterator[LiveSource]:
    """The same cluster, as it is read where only the AdminClient can log in."""
    with admin_only(broker) as live:
        yield live


@pytest.mark.parametrize("offsets", [False, True])
def test_both_agree(broker: RunningBroker, source: LiveSource, by_admin: LiveSource, offsets: bool) -> None:
    filled, empty = fresh_name("orders"), fresh_name("empty")
    create_topics(broker, {filled: 3, empty: 1})
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(5):
        producer.produce(filled, str(number).encode(), partition=number % 2)
    producer.flush()
    names = {filled, empty, fresh_name("nowhere")}
    delete_records(broker, {(filled, 0): 1})
    options = dict.fromkeys(["start_offsets", "end_offsets", "stable_offsets"], offsets)
    reported = source.topics(names, **options)
    assert reported == by_admin.topics(names, **options)
    assert [topic.name for topic in reported.items] == sorted([filled, empty])
    by_name = {topic.name: topic for topic in reported.items}
    topic, ends = by_name[filled], {0: 3, 1: 2, 2: 0}
    assert (topic.id is not None, topic.racks) == (True, {0: ("a",), 1: ("a",), 2: ("a",)})
    read = (topic.start_offsets, topic.end_offsets, topic.stable_offsets)
    assert read == (({0: 1, 1: 0, 2: 0}, ends, ends) if offsets else (None, None, None))
    assert source.topics([], **options).items == by_admin.topics([], **options).items == ()


def test_no_admin_client_is_made_for_groups_and_topics(broker: RunningBroker, source: LiveSource) -> None:
    name, group = fresh_topic(broker), fresh_name("group")
    send_commits(broker, [commit_request(group, name, [7])])
    assert group in {listing.id for listing in source.list_groups().items}
    (described,) = source.describe([group], offsets=True).items
    assert described.offsets is not None
    assert described.offsets[name][0].offset == 7
    (topic,) = source.topics([name], end_offsets=True).items
    assert "admin" not in vars(source)
    (timed,) = source.with_commit_times([described]).items
    assert timed.offsets is not None
    committed = timed.offsets[name][0]
    assert (committed.timestamp is not None, committed.topic_id) == (True, topic.id)


@pytest.mark.parametrize(
    "command", [["list"], ["describe", "--all-groups"], ["describe", "--all-groups", "--state"]]
)
def test_nothing_heavy_is_imported_for_them(broker: RunningBroker, command: list[str]) -> None:
    loaded, answer = imported(HEAVY, running(*command, "-b", broker.bootstrap, "--output", "json"))
    assert (loaded, answer.status) == ([], 0)
