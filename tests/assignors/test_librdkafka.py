"""librdkafka's assignors against librdkafka: a real consumer of confluent-kafka leads random groups. KOHORT_ORACLE_SEED
repeats a run, KOHORT_ORACLE_ROUNDS makes it longer."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from assignors.assignor import Assignor, Leader, Side
from assignors.errors import AssignorFailedError
from assignors.librdkafka.order import MOST_TOPICS, scala_set_order
from assignors.model import DenseGroup, GroupSpec, MemberSpec, TopicSpec
from assignors.registry import find
from tests.assignors.cases import chain
from tests.kafka.broker import Broker
from tests.kafka.librdkafka_oracle import ATTEMPTS, LeaderDiedError, Led, LibrdkafkaLeader, Named
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wire import ask
from tests.support.chance import seed
from tests.support.long import IS_LONG, cases

RANGE, ROUND_ROBIN, COOPERATIVE = ASSIGNORS = tuple(
    find(name, Side.CLIENT, Leader.LIBRDKAFKA) for name in ("range", "roundrobin", "cooperative-sticky")
)
NAMES = tuple(assignor.name for assignor in ASSIGNORS)
ROUNDS = cases("KOHORT_ORACLE_ROUNDS", 40, many=1_000)
# librdkafka's cooperative-sticky takes cubic time: this many members times partitions take seconds.
LARGEST = 20_000 if IS_LONG else 4_000
GLIBC = platform.libc_ver()[0] == "glibc"
LEADER_IDS = ("leader", "m150", "zz-top", "Aéa")


@pytest.fixture(params=ASSIGNORS, ids=NAMES)
def assignor(request: pytest.FixtureRequest) -> Assignor:
    param: Assignor = request.param
    return param


# ---- against librdkafka ----


def test_identical_to_librdkafka(assignor: Assignor) -> None:
    drawn = seed("KOHORT_ORACLE_SEED")
    comparison = Comparison(assignor, Random(drawn))
    try:
        comparison.run(ROUNDS)
    finally:
        comparison.close()
        print(f"{assignor.name}: {comparison.tally}; KOHORT_ORACLE_SEED={drawn} repeats this")


def test_a_new_leader_is_asked_the_same(assignor: Assignor) -> None:
    topics = (TopicSpec(name="t", partitions=6), TopicSpec(name="u", partitions=3))
    alone = GroupSpec(topics=topics, members=())
    two = GroupSpec(topics=topics, members=(MemberSpec(id="m", topics=("t",)),))
    leader = LibrdkafkaLeader(assignor.name)
    try:
        leader.ask(alone, ["t", "u"], "me", 0)
        second = leader.ask(two, ["t"], "me", 1)
        again = leader.again()
    finally:
        leader.close()
    assert again == second
    assert bool(second.spec.members[1].owned.partitions) == (assignor is COOPERATIVE)


@dataclass(slots=True)
class Comparison:
    assignor: Assignor
    rng: Random
    tally: dict[str, int] = field(default_factory=dict)
    leaders: dict[tuple[str | None, str], LibrdkafkaLeader] = field(default_factory=dict)

    def run(self, rounds: int) -> None:
        done = 0
        while done < rounds:
            for _ in self.chain():
                done += 1

    def close(self) -> None:
        for leader in self.leaders.values():
            leader.close()

    def chain(self) -> Iterator[Led]:
        rng, answers = self.rng, dict[int, Named]()
        instance, member_id = rng.choice((None, "b5")), rng.choice(LEADER_IDS)
        for spec in chain(
            rng, self.assignor.name, "client", lambda asked: answers.get(id(asked)), twice=False
        ):
            led = self.round(_possible(spec), instance, member_id)
            if led is None:
                return
            answers[id(spec)] = {member.id: led.assigned.get(member.id, {}) for member in spec.members}
            yield led

    def round(self, spec: GroupSpec, instance: str | None, member_id: str) -> Led | None:
        """What librdkafka makes of the group; None where the chain ends."""
        rng = self.rng
        racks = any(member.rack for member in spec.members)
        topics = [topic.name for topic in spec.topics if not racks or (topic.racks and all(topic.racks))]
        partitions = sum(topic.partitions for topic in spec.topics)
        if (
            not topics
            or partitions * len(spec.members) > LARGEST
            or member_id in {m.id for m in spec.members}
        ):
            return None
        rack = "rack-1" if racks else ""
        if (instance, rack) not in self.leaders:
            self.leaders[instance, rack] = LibrdkafkaLeader(self.assignor.name, instance=instance, rack=rack)
        leader = self.leaders[instance, rack]
        subscribed, at = rng.sample(topics, rng.randint(1, len(topics))), rng.randint(0, len(spec.members))
        try:
            return self.compared(leader, leader.ask(spec, subscribed, member_id, at))
        except LeaderDiedError as error:
            seen = error.spec
        self.count("librdkafka's process ended")
        assert self.ends(seen), seen
        return None

    def ends(self, spec: GroupSpec) -> bool:
        try:
            return bool(self.assignor.assign(DenseGroup.of(spec)).undetermined)
        except AssignorFailedError:
            return True

    def compared(self, leader: LibrdkafkaLeader, led: Led) -> Led:
        """What hangs on freed memory comes out as we say wherever no other thread of the leader took that memory
        meanwhile: otherwise the same is asked of new processes."""
        same, undetermined = self.same(led)
        for _ in range(ATTEMPTS if undetermined and GLIBC else 0):
            if same:
                break
            self.count("asked again")
            led = leader.again()
            same, undetermined = self.same(led)
        self.count("identical" if same else "different")
        if undetermined:
            self.count("of these undetermined")
        assert same or (undetermined and not GLIBC), led
        assert led.user_data == {member: led.sent_user_data[member] for member in led.user_data}
        return led

    def same(self, led: Led) -> tuple[bool, bool]:
        result = self.assignor.assign(DenseGroup.of(led.spec))
        return _held(result.assignment.named()) == _held(led.assigned), bool(result.undetermined)

    def count(self, what: str) -> None:
        self.tally[what] = self.tally.get(what, 0) + 1


def _possible(spec: GroupSpec) -> GroupSpec:
    """Without topics of no partitions, which no broker has and librdkafka waits for."""
    topics = (
        topic
        if topic.partitions
        else replace(topic, partitions=1, racks=None if topic.racks is None else ((),))
        for topic in spec.topics
    )
    return replace(spec, topics=tuple(topics))


def _held(named: Named) -> Named:
    return {member: topics for member, topics in named.items() if topics}


# ---- with a real broker ----


@pytest.mark.kafka
def test_broker_lists_topics_as_a_scala_set(broker: Broker) -> None:
    prefix = fresh_name("order")
    names = [f"{prefix}-{number}" for number in range(40)]
    create_topics(broker, dict.fromkeys(names, 1))
    rng = Random(1)
    for count in (1, 4, 5, 6, 12, 33, 40):
        asked = rng.sample(names, count)
        listed = ask(broker.port, "Metadata", 7, topics=[{"name": name} for name in asked]).topics
        assert [topic.name for topic in listed] == scala_set_order(asked)


# ---- rules ----


def _spec(**members: Sequence[str] | MemberSpec) -> GroupSpec:
    topics = tuple(TopicSpec(name=name, partitions=3) for name in "ab")
    made = [
        m if isinstance(m, MemberSpec) else MemberSpec(id=id_, topics=tuple(m)) for id_, m in members.items()
    ]
    return GroupSpec(topics=topics, members=tuple(made))


def _assign(assignor: Assignor, spec: GroupSpec) -> Named:
    return assignor.assign(DenseGroup.of(spec)).assignment.named()


def test_members_without_topics_or_with_too_many_are_passed_over(assignor: Assignor) -> None:
    greedy = ("a", "b", *(f"t{number}" for number in range(MOST_TOPICS)))
    expected: Named = {"m": {"a": [0, 1, 2]}, "idle": {}, "greedy": {}}
    assert _assign(assignor, _spec(m=["a"], idle=[], greedy=greedy)) == expected


def test_an_empty_group(assignor: Assignor) -> None:
    assert _assign(assignor, _spec()) == {}
    assert _assign(assignor, _spec(idle=[])) == {"idle": {}}


def test_static_and_dynamic_members_in_a_circle_are_undetermined() -> None:
    spec = _spec(
        z=MemberSpec(id="z", topics=("a",), instance="1"),
        m=("a",),
        a=MemberSpec(id="a", topics=("a",), instance="2"),
    )
    for assignor in (RANGE, ROUND_ROBIN):
        result = assignor.assign(DenseGroup.of(spec))
        assert {one.subject for one in result.undetermined} == {"z", "a"}
