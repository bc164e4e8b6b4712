"""A group is converted to records, and an engine that replays them has the same group."""

from importlib.resources import files
from pathlib import Path

import pytest

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.engine import Engine
from coordinator.engine.records import ClassicGroupRecord
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.store.group_records import NoRecords, group_records
from groups.model import Group, GroupState, GroupType, Member, MemberProtocol, Subscription, Topic
from groups.snapshot import Snapshot, read_snapshot
from wire.messages.embedded_protocol import read_assignment, read_subscription

NOW_MS = 1_790_000_000_000


@pytest.fixture(scope="module")
def sample() -> Snapshot:
    return read_snapshot(Path(str(files("cli.verbs.demo").joinpath("sample.yaml"))))


def image(snapshot: Snapshot) -> TopicImage:
    return TopicImage.of(map(info, snapshot.topics.values()), version=1)


def info(topic: Topic) -> TopicInfo:
    assert topic.id is not None
    return TopicInfo(name=topic.name, id=topic.id, partitions=topic.partitions)


@pytest.fixture(scope="module")
def engine(sample: Snapshot) -> Engine:
    topics = image(sample)
    engine = Engine(topics=topics)
    for group in sample.groups.values():
        for record in group_records(group, topics, NOW_MS):
            engine.replay(record)
    return engine


def test_every_group_of_the_sample_is_there_in_its_state(sample: Snapshot, engine: Engine) -> None:
    states = {name: group.state.value for name, group in engine.state.groups.items()}
    assert states == {name: group.state.value for name, group in sample.groups.items()}


def test_classic_members_are_there_with_what_they_own(sample: Snapshot, engine: Engine) -> None:
    for name, group in sample.groups.items():
        if group.type is not GroupType.CLASSIC or group.protocol_type != "consumer":
            continue
        loaded = engine.state.groups[name]
        assert isinstance(loaded, ClassicGroup)
        assert loaded.generation == group.generation
        for member in group.members:
            there = loaded.members[member.id]
            assert there.instance == member.instance
            assert read_assignment(there.assignment).partitions == member.owned
            subscription = read_subscription(there.metadata(group.protocol or "") or b"")
            assert member.subscription is not None
            assert subscription.topics == member.subscription.topics
            assert subscription.rack == member.rack
            assert subscription.owned == (member.owned if group.protocol == "cooperative-sticky" else {})


def test_consumer_members_are_there_with_targets_and_epochs(sample: Snapshot, engine: Engine) -> None:
    topics = image(sample)
    for name, group in sample.groups.items():
        if group.type is not GroupType.CONSUMER:
            continue
        loaded = engine.state.groups[name]
        assert isinstance(loaded, ConsumerGroup)
        assert (loaded.epoch, loaded.assignment_epoch) == (group.group_epoch, group.assignment_epoch)
        for member in group.members:
            there = loaded.members[member.id]
            assert there.epoch == member.epoch
            assert (there.classic is not None) == (member.protocol is MemberProtocol.CLASSIC)
            assert {
                topics.by_id[topic].name: numbers for topic, numbers in loaded.targets[member.id].items()
            } == member.target
            for topic, numbers in (member.owned or {}).items():
                for number in numbers:
                    assert loaded.owner(topics.topics[topic].id, number) == member.id


def test_what_a_member_gives_up_is_its_own_until_it_says_so(engine: Engine) -> None:
    fraud = engine.state.groups["fraud"]
    assert isinstance(fraud, ConsumerGroup)
    assert fraud.state is GroupState.RECONCILING
    (revoking,) = [member for member in fraud.members.values() if member.revoking]
    assert revoking.id == "R7dKc2VfQ8iYxA6oGs0NjQ"
    assert list(revoking.revoking.values()) == [(5,)]


def test_offsets_are_there(sample: Snapshot, engine: Engine) -> None:
    for name, group in sample.groups.items():
        stored = engine.state.offsets.get(name, {})
        expected = {
            (topic, partition): committed.offset
            for topic, partitions in (group.offsets or {}).items()
            for partition, committed in partitions.items()
        }
        assert {partition: value.offset for partition, value in stored.items()} == expected


def test_a_regex_is_resolved_over_the_topics_there_are(engine: Engine) -> None:
    audit = engine.state.groups["audit"]
    assert isinstance(audit, ConsumerGroup)
    assert audit.regexes["^audit-.*"].topics == ("audit-eu", "audit-us")


def test_a_share_group_is_refused() -> None:
    group = Group(id="s", type=GroupType.SHARE, state=GroupState.STABLE)
    with pytest.raises(NoRecords, match="s: a share group"):
        group_records(group, TopicImage(), NOW_MS)


def test_a_topic_without_id_is_refused() -> None:
    member = Member(id="m", subscription=Subscription(topics=("t",)), owned={"t": (0,)}, target={"t": (0,)})
    group = Group(id="g", type=GroupType.CONSUMER, state=GroupState.STABLE, group_epoch=1, members=(member,))
    with pytest.raises(NoRecords, match="g: the id of topic t is unknown"):
        group_records(group, TopicImage(), NOW_MS)


@pytest.mark.parametrize(("known", "leads"), [("b", "b"), (None, "a"), ("gone", "a")])
def test_the_known_leader_leads_else_the_first_member(known: str | None, leads: str) -> None:
    group = Group(
        id="g",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol="range",
        leader=known,
        members=(Member(id="a"), Member(id="b")),
    )
    (record,) = group_records(group, TopicImage(), 0)
    assert isinstance(record, ClassicGroupRecord)
    assert record.value is not None
    assert record.value.leader == leads
