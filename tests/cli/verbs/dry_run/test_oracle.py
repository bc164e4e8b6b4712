"""`kohort dry-run` on snapshot files gives what Java's own classes give to members that rejoin with what they own.

Random groups pass all stages: written as a snapshot, read by the command, assigned, printed as JSON. Java gets
what the members of such a group would send, put together here from the group and not by the code under test.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from assignors.model import NO_GENERATION, Claim, GroupSpec, MemberSpec
from assignors.sticky_user_data import read_claim, write_claim
from groups.model import Group, GroupState, GroupType, Member, Partitions, Subscription, Topic
from groups.snapshot import Snapshot, write_snapshot
from tests.assignors.cases import chain
from tests.assignors.conftest import oracle, oracle_seed
from tests.cli.command import Kohort
from tests.kafka.oracle import JavaThrewError, Named, Oracle

__all__ = ["oracle", "oracle_seed"]
pytestmark = pytest.mark.kafka
GENERATION = 7
OF_CLIENTS = ("range", "roundrobin", "sticky", "cooperative-sticky")
ASSIGNORS = [*(("client", name) for name in OF_CLIENTS), ("broker", "uniform"), ("broker", "range")]
GROUPS = 25


@pytest.mark.parametrize(("side", "assignor"), ASSIGNORS)
def test_the_file_gives_what_java_gives(
    side: str, assignor: str, oracle: Oracle, oracle_seed: str, kohort: Kohort, tmp_path: Path
) -> None:
    specs = [spec_of(Random(f"{oracle_seed}-{n}"), assignor, side) for n in range(GROUPS)]
    identical = 0
    for number, spec in enumerate(specs):
        file = tmp_path / f"{number}.yaml"
        write_snapshot(snapshot_of(spec, side), file)
        leader = ("--leader", "java") if side == "client" else ()
        line = f"dry-run g --assignor {assignor} --side {side} --output json --snapshot"
        said = kohort.quick(line, file, *leader)
        document = json.loads(said.stdout)
        where = f"seed {oracle_seed}, group {number}: {file.read_text()}"
        try:
            expected = oracle.assign(side, assignor, sent(spec, side, assignor))
        except JavaThrewError as error:
            assert str(error.message) in said.stderr, where  # noqa: PT017
            continue
        (group,) = document["groups"]
        assignment = group["rebalances"][0]["assignment"]
        undetermined = {item.get("member") or item.get("partition") for item in group["undetermined"]}
        if not undetermined:
            assert filled(assignment) == filled(expected), where
            identical += 1
    assert identical > GROUPS // 2


def spec_of(rng: Random, assignor: str, side: str) -> GroupSpec:
    """The last round of a random chain in which nothing is handed out: who owns what is the generator's choice."""
    owned: Named = {}

    def answer(spec: GroupSpec) -> Named:
        names = [member.id for member in spec.members]
        places = [(t.name, p) for t in spec.topics for p in range(t.partitions)]
        owned.clear()
        for topic, partition in places:
            if names and rng.random() < 0.8:
                owned.setdefault(rng.choice(names), {}).setdefault(topic, []).append(partition)
        return owned

    spec = rng.choice(list(chain(rng, assignor, side, answer)))
    return replace(spec, members=tuple(_plain(member) for member in spec.members))


def _plain(member: MemberSpec) -> MemberSpec:
    """Only what a snapshot holds: one ownership, no repetition, no negative numbers."""
    claims = [read_claim(member.user_data or b""), member.owned]
    partitions = next((c.partitions for c in claims if c.partitions), {})
    kept = {
        topic: tuple(sorted({int(p) for p in numbers if p >= 0})) for topic, numbers in partitions.items()
    }
    owned = Claim(partitions={topic: numbers for topic, numbers in kept.items() if numbers})
    topics = tuple(dict.fromkeys(member.topics))
    return replace(member, topics=topics, owned=owned, user_data=None, by_regex=())


def snapshot_of(spec: GroupSpec, side: str) -> Snapshot:
    broker = side == "broker"
    topics = {}
    for topic in spec.topics:
        racks = None if topic.racks is None else dict(enumerate(topic.racks))
        topics[topic.name] = Topic(name=topic.name, partitions=topic.partitions, id=topic.id, racks=racks)
    group = Group(
        id="g",
        type=GroupType.CONSUMER if broker else GroupType.CLASSIC,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol="uniform" if broker else "range",
        generation=None if broker else GENERATION,
        members=tuple(_member(member, broker) for member in spec.members),
    )
    return Snapshot(topics=topics, groups={"g": group})


def _member(member: MemberSpec, broker: bool) -> Member:
    owned: Partitions = {topic: tuple(numbers) for topic, numbers in member.owned.partitions.items()}
    return Member(
        id=member.id,
        instance=member.instance,
        rack=member.rack,
        subscription=Subscription(topics=member.topics),
        owned=owned,
        target=owned if broker else None,
    )


def sent(spec: GroupSpec, side: str, assignor: str) -> GroupSpec:
    """What the members would send if all rejoined now: see "JSON" in the design."""
    # The file lists topics by name, and owned topics by name.
    topics = tuple(sorted(spec.topics, key=lambda topic: topic.name))
    return GroupSpec(topics=topics, members=tuple(_rejoining(m, side, assignor) for m in spec.members))


def _rejoining(member: MemberSpec, side: str, assignor: str) -> MemberSpec:
    owned = {topic: member.owned.partitions[topic] for topic in sorted(member.owned.partitions)}
    if side == "broker":
        return replace(member, owned=Claim(partitions=owned, generation=NO_GENERATION))
    claim = Claim(partitions=owned, generation=GENERATION)
    if assignor == "sticky":
        return replace(member, owned=Claim(generation=GENERATION), user_data=write_claim(claim))
    if assignor == "cooperative-sticky":
        return replace(member, owned=claim)
    return replace(member, owned=Claim(generation=GENERATION))


def filled(assignment: dict[str, dict[str, Sequence[int]]] | Named) -> dict[str, dict[str, list[int]]]:
    return {m: {t: sorted(p) for t, p in topics.items() if p} for m, topics in assignment.items()}
