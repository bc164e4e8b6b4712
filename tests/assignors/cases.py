"""Random groups to ask the assignors about, from a seed. `chain` yields the rounds of one group: what came out of a
round is owned in the next, while members leave and join, partitions are added, topics go, claims get stale, disputed or
nonsensical."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from uuid import UUID

from assignors.java.hash_map import TREEIFY_THRESHOLD
from assignors.model import NO_GENERATION, Claim, GroupSpec, MemberSpec, Partitions, TopicSpec
from assignors.sticky_user_data import read_claim, write_claim, write_generation
from tests.assignors.groups import id_hashed

Named = Mapping[str, Mapping[str, Sequence[int]]]
Style = Callable[[Random], str]
Spoil = Callable[[MemberSpec, MemberSpec], MemberSpec]
ROUNDS = 5


def claim_as(
    assignor: str, side: str, member: MemberSpec, partitions: Partitions, generation: int
) -> MemberSpec:
    claim = Claim(partitions=partitions, generation=generation)
    if side == "broker":
        return replace(member, owned=Claim(partitions=partitions), user_data=None)
    if assignor == "sticky":
        return replace(member, owned=Claim(generation=generation), user_data=write_claim(claim))
    if assignor == "cooperative-sticky":
        return replace(member, owned=claim, user_data=write_generation(generation))
    return replace(member, owned=Claim(generation=generation), user_data=None)


def chain(
    rng: Random, assignor: str, side: str, answer: Callable[[GroupSpec], Named | None], *, twice: bool = True
) -> Iterator[GroupSpec]:
    """Rounds of one group. `answer` gives the assignment of a round, None where the assignor failed. `twice`: a member
    may claim a partition twice, or claim although it subscribes to nothing."""
    maker = _Maker(rng, assignor, side, twice=twice)
    spec = maker.first()
    for generation in range(1, ROUNDS + 1):
        yield spec
        named = answer(spec)
        if named is None or rng.random() < 0.1:
            return
        spec = maker.next(spec, named, generation)


class _Maker:
    def __init__(self, rng: Random, assignor: str, side: str, *, twice: bool) -> None:
        self.rng, self.assignor, self.side = rng, assignor, side
        self.spoils: list[Spoil] = [self.stale, self.dispute, self.beyond, self.forget, self.confuse]
        if twice and "sticky" in assignor:
            self.spoils += [self.twice, self.unsubscribe]
        if assignor == "sticky":
            self.spoils.append(self.garble)
        self.broker = side == "broker"
        self.topic_name = rng.choice(TOPIC_STYLES)
        self.member_id = rng.choice(MEMBER_STYLES)
        self.racks = [f"rack-{i}" for i in range(rng.choice((0, 0, 0, 1, 2, 3, 5)))]
        self.equal = rng.random() < 0.5
        self.sharing = rng.choice((None, None, None, 16, 64, 1024)) if self.broker else None
        """The hash codes of topic ids are mostly multiples of it: ids share bins, some of which become trees."""
        self.twist = rng.random() < (0.6 if self.sharing else 0.3)  # whether claims are spoilt between rounds

    # ---- the first round ----

    def first(self) -> GroupSpec:
        rng = self.rng
        topics = self.topics(rng.choice((1, 2, 3, 5, 8, 13, 20, 50)))
        names = self.subscribable(topics)
        self.crowded = self.sharing is not None and len(topics) >= TREEIFY_THRESHOLD
        """Whether a bin of a map may contain enough topics for the ids of deleted ones to matter."""
        self.common = tuple(self.sample(names, 0.8))
        count = rng.choice((1, 2, 3, 5, 8, 12, 13, 14, 24, 25, 26, 40, 60, 100))
        members = [self.member(names) for _ in range(count)]
        spec = GroupSpec(topics=topics, members=_distinct(members))
        if rng.random() < 0.4:
            spec = self.spoil(self.claimed(spec, self.arbitrary(spec), 1))
        return spec

    def topics(self, count: int) -> tuple[TopicSpec, ...]:
        names = dict.fromkeys(self.topic_name(self.rng) for _ in range(count))
        sizes = self.rng.choice((SMALL, SMALL, EVEN, LARGE))
        together = self.rng.choice(sizes)
        copartitioned = self.rng.random() < 0.3
        return tuple(
            self.topic(name, together if copartitioned else self.rng.choice(sizes)) for name in names
        )

    def topic(self, name: str, partitions: int) -> TopicSpec:
        return TopicSpec(name=name, partitions=partitions, id=self.uuid(), racks=self.replicas(partitions))

    def uuid(self) -> UUID:
        if self.sharing and self.rng.random() < 0.9:
            code = self.rng.randrange(0, 1 << 16, self.sharing) + self.rng.choice((0, 0, 1, 2))
            return id_hashed(self.rng, code)
        if self.rng.random() < 0.1:
            return UUID(int=self.rng.randrange(1, 1 << 16) << 64 | self.rng.randrange(4))
        return UUID(int=self.rng.getrandbits(128))

    def replicas(self, partitions: int) -> tuple[tuple[str, ...], ...] | None:
        rng = self.rng
        if not self.racks or rng.random() < 0.1:
            return None
        everywhere = rng.random() < 0.2
        width = rng.randint(1, len(self.racks))
        return tuple(
            () if rng.random() < 0.03 else tuple(self.racks if everywhere else rng.sample(self.racks, width))
            for _ in range(partitions)
        )

    def subscribable(self, topics: Sequence[TopicSpec]) -> list[str]:
        missing = self.rng.randint(1, 2) if self.rng.random() < 0.2 else 0
        return [topic.name for topic in topics] + [f"missing-{i}" for i in range(missing)]

    def member(self, names: Sequence[str]) -> MemberSpec:
        rng = self.rng
        topics = self.common if self.equal or rng.random() < 0.3 else tuple(self.sample(names, 0.5))
        if not self.equal and rng.random() < 0.05:
            topics = ()
        if rng.random() < 0.3:
            topics = tuple(rng.sample(topics, len(topics)))
        return MemberSpec(
            id=self.member_id(rng),
            topics=topics,
            instance=f"{rng.choice('abé')}{rng.randrange(10**6)}" if rng.random() < 0.2 else None,
            rack=rng.choice((*self.racks, None, "")) if self.racks or rng.random() < 0.05 else None,
            by_regex=topics[:1] if self.broker and rng.random() < 0.005 else (),
        )

    def sample(self, names: Sequence[str], share: float) -> list[str]:
        return [name for name in names if self.rng.random() < share] or list(names[:1])

    def arbitrary(self, spec: GroupSpec) -> dict[str, dict[str, list[int]]]:
        rng = self.rng
        owners = rng.sample(spec.members, rng.randint(1, len(spec.members)))
        named: dict[str, dict[str, list[int]]] = {member.id: {} for member in spec.members}
        for topic in spec.topics:
            for partition in rng.sample(range(topic.partitions), topic.partitions):
                if rng.random() < 0.8:
                    named[rng.choice(owners).id].setdefault(topic.name, []).append(partition)
        return named

    # ---- later rounds ----

    def next(self, spec: GroupSpec, named: Named, generation: int) -> GroupSpec:
        spec = self.claimed(spec, named, generation)
        rng = self.rng
        change = rng.choice((self.leave, self.join, self.grow, self.drop, self.both, self.nothing))
        spec = change(spec)
        return self.spoil(spec) if self.twist and rng.random() < 0.6 else spec

    def claimed(self, spec: GroupSpec, named: Named, generation: int) -> GroupSpec:
        members = tuple(
            claim_as(self.assignor, self.side, m, self.ordered(named.get(m.id, {})), generation)
            for m in spec.members
        )
        return replace(spec, members=members)

    def ordered(self, partitions: Partitions) -> Partitions:
        """Mostly as it is; sometimes in another order, for Java's maps remember insertion."""
        if self.rng.random() < 0.9:
            return partitions
        names = self.rng.sample(list(partitions), len(partitions))
        return {name: self.rng.sample(list(partitions[name]), len(partitions[name])) for name in names}

    def leave(self, spec: GroupSpec) -> GroupSpec:
        members = list(spec.members)
        for _ in range(self.rng.randint(1, max(1, len(members) // 3))):
            if len(members) > 1:
                members.pop(self.rng.randrange(len(members)))
        return replace(spec, members=tuple(members))

    def join(self, spec: GroupSpec) -> GroupSpec:
        names = self.subscribable(spec.topics)
        members = list(spec.members)
        for _ in range(self.rng.randint(1, 4)):
            members.insert(self.rng.randint(0, len(members)), self.member(names))
        return replace(spec, members=_distinct(members))

    def grow(self, spec: GroupSpec) -> GroupSpec:
        topics = [
            self.topic(t.name, t.partitions + self.rng.randint(1, 5)) if self.rng.random() < 0.5 else t
            for t in spec.topics
        ]
        kept = [replace(new, id=old.id) for new, old in zip(topics, spec.topics, strict=True)]
        return replace(spec, topics=tuple(kept))

    def drop(self, spec: GroupSpec) -> GroupSpec:
        """A topic is deleted, or shrinks by being created again; its claims stay."""
        topics = list(spec.topics)
        index = self.rng.randrange(len(topics))
        if len(topics) > 1 and self.rng.random() < 0.7:
            if not self.crowded:
                topics.pop(index)
        elif not self.broker and topics[index].partitions > 1:
            topics[index] = self.topic(topics[index].name, topics[index].partitions - 1)
        return replace(spec, topics=tuple(topics))

    def both(self, spec: GroupSpec) -> GroupSpec:
        return self.join(self.leave(spec))

    def nothing(self, spec: GroupSpec) -> GroupSpec:
        return spec

    # ---- claims that contradict each other ----

    def spoil(self, spec: GroupSpec) -> GroupSpec:
        members = list(spec.members)
        for _ in range(self.rng.randint(1, 3)):
            index = self.rng.randrange(len(members))
            other = self.rng.choice(members)
            members[index] = self.rng.choice(self.spoils)(members[index], other)
        return replace(spec, members=tuple(members))

    def stale(self, member: MemberSpec, other: MemberSpec) -> MemberSpec:
        generation = self.rng.choice((NO_GENERATION, 0, 1, 2, 7))
        data = member.user_data
        if data and self.assignor == "sticky":
            data = write_claim(replace(read_claim(data), generation=generation))
        elif data:
            data = write_generation(generation)
        return replace(member, owned=replace(member.owned, generation=generation), user_data=data)

    def confuse(self, member: MemberSpec, other: MemberSpec) -> MemberSpec:
        """Generations that differ between the subscription and the user data."""
        return replace(member, owned=replace(member.owned, generation=self.rng.choice((NO_GENERATION, 1, 3))))

    def dispute(self, member: MemberSpec, other: MemberSpec) -> MemberSpec:
        theirs = self.claim(other).partitions
        mine = self.claim(member).partitions
        merged = {
            topic: list(dict.fromkeys([*mine.get(topic, ()), *theirs.get(topic, ())]))
            for topic in dict.fromkeys([*mine, *theirs])
        }
        return self.with_partitions(member, merged)

    def beyond(self, member: MemberSpec, other: MemberSpec) -> MemberSpec:
        mine = self.claim(member).partitions
        more = {topic: [*numbers, max(numbers, default=0) + 40] for topic, numbers in mine.items()}
        if self.rng.random() < 0.5 and not self.crowded:
            more["gone"] = [0, 1]
        return self.with_partitions(member, more)

    def forget(self, member: MemberSpec, other: MemberSpec) -> MemberSpec:
        return replace(member, owned=Claim(), user_data=None)

    def twice(self, member: MemberSpec, other: MemberSpec) -> MemberSpec:
        mine = self.claim(member).partitions
        return self.with_partitions(member, {topic: [*n, *n[:2]] for topic, n in mine.items()})

    def unsubscribe(self, member: MemberSpec, other: MemberSpec) -> MemberSpec:
        """Claim what was owned in an earlier generation, and want nothing, or something else."""
        claiming = self.stale(self.dispute(member, other), other)
        return replace(
            claiming, topics=tuple(self.sample(member.topics, 0.3)) if self.rng.random() < 0.5 else ()
        )

    def garble(self, member: MemberSpec, other: MemberSpec) -> MemberSpec:
        """User data of which bytes are missing or wrong: Java ignores what it cannot read."""
        data = bytearray(member.user_data or write_generation(self.rng.randint(-1, 3)))
        if data and self.rng.random() < 0.7:
            data[self.rng.randrange(len(data))] = self.rng.choice((0, 1, 2, 127, 255))
        if self.rng.random() < 0.5:
            data = data[: self.rng.randrange(len(data) + 1)]
        return replace(member, user_data=bytes(data))

    def claim(self, member: MemberSpec) -> Claim:
        """What the member claims: in its user data, if it sends any."""
        if self.assignor == "sticky" and member.user_data:
            return read_claim(member.user_data)
        return member.owned

    def with_partitions(self, member: MemberSpec, partitions: Partitions) -> MemberSpec:
        if self.assignor == "sticky":
            claim = read_claim(member.user_data or b"")
            return replace(member, user_data=write_claim(replace(claim, partitions=partitions)))
        if self.broker or self.assignor == "cooperative-sticky":
            return replace(member, owned=replace(member.owned, partitions=partitions))
        return member


def _distinct(members: Sequence[MemberSpec]) -> tuple[MemberSpec, ...]:
    return tuple({member.id: member for member in members}.values())


def _unusual_name(rng: Random) -> str:
    return "".join(rng.choice("aéÿ中\ufb01\uffee\U0001f600\U00010400") for _ in range(rng.randint(1, 6)))


def _uuid_member(rng: Random) -> str:
    return f"consumer-{rng.randrange(5)}-{UUID(int=rng.getrandbits(128))}"


TOPIC_STYLES: tuple[Style, ...] = (
    lambda rng: f"topic-{rng.randrange(40)}",
    lambda rng: f"t{rng.randrange(30):03}",  # neighbors whose partitions collide: 31 × partition + topic
    lambda rng: "".join(rng.choice(("Aa", "BB")) for _ in range(5)),  # which have one hash code
    _unusual_name,
)
MEMBER_STYLES: tuple[Style, ...] = (
    _uuid_member,
    _uuid_member,
    lambda rng: f"m{rng.randrange(300)}",
    _unusual_name,
    lambda rng: "".join(rng.choice(("Aa", "BB")) for _ in range(6)),
)
SMALL, EVEN, LARGE = (0, 1, 1, 2, 3, 4, 6, 9), (6, 12, 24), (1, 13, 50, 97, 200)
