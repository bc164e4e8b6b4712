"""Groups for the sticky assignors, from a seed: claims are right, stale, disputed, or of what is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from assignors.assignor import Assignor
from assignors.errors import AssignorFailedError
from assignors.model import NO_GENERATION, Claim, DenseGroup, GroupSpec, MemberSpec, Partitions, TopicSpec

RACKS = ("a", "b", "c", "rack-ü")
COLLIDING = ("AaAa", "AaBB", "BBAa", "BBBB")


def claiming_group(random: Random, assignor: Assignor) -> GroupSpec:
    """A group that has been through up to three rounds of a sticky assignor, with accidents in between."""
    cooperative = assignor.name == "cooperative-sticky"
    spec = _fresh(random)
    generation = random.choice((1, 1, 7))
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        try:
            held = assignor.assign(DenseGroup.of(spec)).assignment.named()
        except AssignorFailedError:
            break
        spec = _claimed(spec, held, generation, cooperative)
        generation += 1
        spec = _changed(random, spec)
    if random.random() < 0.2:
        spec = _scattered(random, spec, generation, cooperative)
    return _accident(random, spec, generation, cooperative) if random.random() < 0.6 else spec


def _scattered(random: Random, spec: GroupSpec, generation: int, cooperative: bool) -> GroupSpec:
    """Nearly every partition is claimed, by few members and by chance: much to balance."""
    greedy = random.sample(spec.members, random.randint(1, len(spec.members)))[:4]
    claims: dict[str, dict[str, list[int]]] = {m.id: {} for m in spec.members}
    late: dict[str, dict[str, list[int]]] = {m.id: {} for m in spec.members}
    for topic in spec.topics:
        able = [m for m in greedy if topic.name in m.topics] or greedy
        for number in range(topic.partitions):
            if random.random() < 0.9:
                claims[random.choice(able).id].setdefault(topic.name, []).append(number)
            if random.random() < 0.4:
                late[random.choice(spec.members).id].setdefault(topic.name, []).append(number)
    members = []
    for m in spec.members:
        old = bool(late[m.id]) and not claims[m.id]
        claim = Claim(
            partitions=late[m.id] if old else claims[m.id],
            generation=generation - random.randint(1, 2) if old else generation,
        )
        members.append(_claiming(m, claim, cooperative))
    return replace(spec, members=tuple(members))


def _fresh(random: Random) -> GroupSpec:
    racks = random.choice((None, None, RACKS[:2], RACKS))
    topics = tuple(_topic(random, name, racks) for name in _topic_names(random))
    names = [t.name for t in topics]
    mode = random.choice(("equal", "equal", "one", "any", "blocks", "empty"))
    count = random.choice((1, 2, 3, 4, 5, 7, 12, 30))
    ids = _ids(random, count)
    common = (*names, "gone") if random.random() < 0.1 else tuple(names)
    members = [MemberSpec(id=name, topics=_shuffled(random, common)) for name in ids]
    for i in range(count):
        topics_of = common
        if mode == "any" or (mode == "one" and i == 0):
            topics_of = tuple(t for t in names if random.random() < 0.6)
        elif mode == "blocks":
            topics_of = tuple(names[i % 2 :: 2])
        elif mode == "empty" and random.random() < 0.3:
            topics_of = ()
        members[i] = replace(members[i], topics=_shuffled(random, topics_of))
    if racks is not None:
        chance = random.choice((0.5, 1.0))
        members = [
            replace(m, rack=random.choice((*racks, "other")) if random.random() < chance else None)
            for m in members
        ]
    if random.random() < 0.2:
        members = [replace(m, instance=f"i{i}") if i % 2 else m for i, m in enumerate(members)]
    return GroupSpec(topics=topics, members=tuple(members))


def _topic_names(random: Random) -> list[str]:
    count = random.choice((0, 1, 1, 2, 3, 5, 8))
    style = random.choice(("t{:03d}", "topic-{}", "ü{}-\U0001f600", "\uff5e{}", "T{}.x_y"))
    names = [style.format(i) for i in range(count)]
    if random.random() < 0.2:
        names += COLLIDING[: random.randint(1, 4)]
    random.shuffle(names)
    return names


def _ids(random: Random, count: int) -> list[str]:
    style = random.choice(("c{}", "consumer-{}-", "\U0001f600{}", "\uff5e{}"))
    ids = [style.format(i) for i in range(count)]
    if random.random() < 0.5:
        ids = [name + "".join(random.choices("0123456789abcdef", k=8)) for name in ids]
    if random.random() < 0.2:
        ids = (list(COLLIDING) + ids)[:count]
    random.shuffle(ids)
    return ids


def _topic(random: Random, name: str, racks: tuple[str, ...] | None) -> TopicSpec:
    count = random.choice((0, 1, 1, 2, 3, 4, 6, 10, 25))
    if racks is None or random.random() < 0.1:
        return TopicSpec(name=name, partitions=count)
    replicas = random.choice((0, 1, 1, 2, len(racks)))
    return TopicSpec(
        name=name,
        partitions=count,
        racks=tuple(tuple(random.sample(racks, min(replicas, len(racks)))) for _ in range(count)),
    )


def _shuffled(random: Random, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(random.sample(names, len(names)))


def _claimed(
    spec: GroupSpec, held: Mapping[str, Partitions], generation: int, cooperative: bool
) -> GroupSpec:
    """Every member claims what it was given."""
    return replace(
        spec,
        members=tuple(
            _claiming(m, Claim(partitions=held[m.id], generation=generation), cooperative)
            for m in spec.members
        ),
    )


def _claiming(member: MemberSpec, claim: Claim, cooperative: bool) -> MemberSpec:
    if cooperative:
        return replace(member, owned=claim)
    return replace(member, owned=Claim(generation=claim.generation), user_data=claim)


def _changed(random: Random, spec: GroupSpec) -> GroupSpec:
    """Members and topics come, go and grow, as between two rebalances."""
    members, topics = list(spec.members), list(spec.topics)
    for _ in range(random.choice((0, 1, 1, 2))):
        kind = random.choice(("leave", "join", "grow", "new topic", "drop topic", "resubscribe", "halve"))
        if kind == "leave" and len(members) > 1:
            members.pop(random.randrange(len(members)))
        elif kind == "join":
            topics_of = random.choice(members).topics
            members.insert(
                random.randrange(len(members) + 1),
                MemberSpec(id=f"new-{random.random()}", topics=topics_of, rack=random.choice(members).rack),
            )
        elif kind == "grow" and topics:
            i = random.randrange(len(topics))
            extra = random.randint(1, 5)
            racks = topics[i].racks
            grown = None if racks is None else racks + tuple(racks[-1:] or ((),)) * extra
            topics[i] = replace(topics[i], partitions=topics[i].partitions + extra, racks=grown)
        elif kind == "new topic":
            name = f"new-{len(topics)}-{random.randint(0, 9)}"
            if name not in {t.name for t in topics}:
                topics.append(TopicSpec(name=name, partitions=random.randint(1, 6)))
            chosen = random.random()
            members = [
                replace(m, topics=(*m.topics, name))
                if name not in m.topics and random.random() < chosen
                else m
                for m in members
            ]
        elif kind == "drop topic" and topics and random.random() < 0.5:
            topics.pop(random.randrange(len(topics)))
        elif kind == "resubscribe":
            i = random.randrange(len(members))
            members[i] = replace(members[i], topics=tuple(t.name for t in topics if random.random() < 0.6))
        elif kind == "halve":
            members = members[: max(1, len(members) // 2)]
    if random.random() < 0.3:
        random.shuffle(members)
    return GroupSpec(topics=tuple(topics), members=tuple(members))


def _accident(random: Random, spec: GroupSpec, generation: int, cooperative: bool) -> GroupSpec:
    """Claims that disagree: two members want one partition, an old generation, a partition that is gone."""
    members = list(spec.members)
    for _ in range(random.choice((1, 1, 2, 5))):
        i = random.randrange(len(members))
        claim = (members[i].owned if cooperative else members[i].user_data) or Claim()
        claims = {topic: list(numbers) for topic, numbers in claim.partitions.items()}
        kind = random.choice(
            (
                "dispute",
                "dispute",
                "old",
                "old",
                "ahead",
                "stray",
                "foreign",
                "twice",
                "other",
                "forget",
                "v0",
            )
        )
        since, sent = claim.generation, members[i].owned.generation
        if kind == "dispute":
            other = random.choice(members)
            rival = (other.owned if cooperative else other.user_data) or Claim()
            for topic, numbers in rival.partitions.items():
                for number in numbers:
                    if number not in claims.get(topic, []) and random.random() < 0.7:
                        claims.setdefault(topic, []).append(number)
        elif kind == "old":
            since = sent = max(0, generation - random.randint(1, 3))
        elif kind == "ahead":
            since = sent = generation
        elif kind == "stray" and spec.topics:
            gone = random.choice(spec.topics)
            beyond = random.choice((-1, gone.partitions, gone.partitions + 3))
            claims.setdefault(gone.name, []).append(beyond)
        elif kind == "foreign":
            claims.setdefault("elsewhere", []).append(0)
            for known in spec.topics:
                if known.partitions and random.random() < 0.3:
                    claims.setdefault(known.name, []).append(random.randrange(known.partitions))
        elif kind == "twice" and claims:
            topic_name = random.choice(list(claims))
            claims[topic_name] += claims[topic_name][:2]
        elif kind == "other":
            sent = random.choice((NO_GENERATION, generation, max(0, generation - 2)))
        elif kind == "forget":
            claims = {}
        elif kind == "v0":
            since = NO_GENERATION
        members[i] = _with_claim(members[i], claims, since, sent, cooperative)
    return replace(spec, members=tuple(members))


def _with_claim(
    member: MemberSpec, claims: dict[str, list[int]], since: int, sent: int, cooperative: bool
) -> MemberSpec:
    if cooperative:
        # A subscription without generation falls back to the user data's.
        return replace(
            member, owned=Claim(partitions=claims, generation=sent), user_data=Claim(generation=since)
        )
    return replace(member, owned=Claim(generation=sent), user_data=Claim(partitions=claims, generation=since))
