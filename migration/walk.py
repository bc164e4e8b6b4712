"""Walking a group through the rollouts of a plan, with the group's assignors.

A member's name is its origin, the id that it had when the plan was made; a restarted member rejoins under a new id. A
classic member that stops leaves, unless it is static, and all others rejoin; a static one that rejoins causes no
rebalance unless the vote for the assignor changes (KIP-345). In a consumer group the broker sets a new target; the
first member of the consumer protocol converts a classic group, and after the last one the group is classic again
(KIP-848). In rounds that are not walked (`sampled`) a restarted member's successor gets its partitions.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from uuid import UUID

from assignors.assignor import Leader
from assignors.rebalance import owners_in
from groups.dry_run import BROKERS_DEFAULT
from groups.group_spec import current_of
from groups.model import Client, Group, GroupType, Member, MemberProtocol, Subscription, Topic, usual_protocol
from migration.model import (
    SESSION_S,
    MemberStart,
    OwnerGap,
    Rollout,
    RoundAction,
    SettledGroup,
    SettledMember,
)
from migration.rebalancing import (
    CONSUMER_HEARTBEAT_S,
    INITIAL_DELAY_S,
    HeartbeatTiming,
    RebalanceOutcome,
    elected_assignor,
    newcomer,
    owners_of,
    rebalance_classic,
    rebalance_consumer,
)

MOST_WORK = 60_000  # The most members and partitions, summed over the walked rounds of a rollout
FEWEST_ROUNDS = 5


def sampled(rounds: int, size: int, most: int | None = None) -> frozenset[int]:
    """The rounds to walk out of `rounds`, from 0: all, or the first, the last, and some evenly in between. `size`
    is the work of a round: the sum of members and partitions. `most` limits the number of rounds further; if it is
    1, the middle round is walked."""
    able = max(FEWEST_ROUNDS, MOST_WORK // max(1, size))
    if most is not None:
        able = min(able, max(1, most))
    if rounds <= able:
        return frozenset(range(rounds))
    if able == 1:
        return frozenset({rounds // 2})
    return frozenset(index * (rounds - 1) // (able - 1) for index in range(able))


class Walk:
    def __init__(
        self,
        group: Group,
        topics: Mapping[str, Topic],
        leader: Leader,
        bounce_s: float,
        most_rounds: int | None = None,
    ) -> None:
        """At most `most_rounds` of each rollout are walked, see `sampled`."""
        self._topics, self._leader, self._bounce_s = topics, leader, bounce_s
        self._most_rounds = most_rounds
        self._group = replace(group, members=tuple(_known(group, member) for member in group.members))
        in_use = group.protocol if group.type is GroupType.CONSUMER else None
        self._remote_assignor = in_use or BROKERS_DEFAULT
        self._members = {member.id: member for member in self._group.members}
        """Each member by its origin, as it was when it was last in the group."""
        self._away: set[str] = set()
        self._latest = owners_of(self._group)
        self._step = 0
        self._timing = HeartbeatTiming.SPREAD

    @property
    def size(self) -> int:
        return len(self._members) + len(self._latest)

    def now(self) -> SettledGroup:
        return self._settled_group(0, RebalanceOutcome(group=self._group, rebalances=0, moved=0, waits=()))

    def walk(self, rollout: Rollout) -> Iterator[SettledGroup]:
        """The settled groups after each stop and start of the walked rounds. Raises LookupError: the rollout names a
        member that does not exist, or an assignor is unknown. Raises NoCommonProtocolError or AssignorFailedError: the
        rebalance would fail."""
        self._step += 1
        if rollout.start is not None and rollout.start.protocol is MemberProtocol.CONSUMER:
            self._remote_assignor = rollout.start.remote_assignor or self._remote_assignor
        for temporary in rollout.temporary_members:
            name, subscription = temporary.id, Subscription(topics=temporary.topics)
            client = Client(id=name)
            self._members[name] = Member(id=name, client=client, subscription=subscription, owned={})
            self._away.add(name)
        walked = sampled(len(rollout.rounds), self.size, self._most_rounds)
        for index, members in enumerate(rollout.rounds):
            if index not in walked:
                # Each restarted member is replaced in its place.
                for origin in members:
                    if rollout.start is not None and origin not in self._away:
                        self._replace_in_place(origin, rollout.start)
                continue
            if rollout.action is not RoundAction.START:
                yield self._stop(index + 1, members, rollout.action)
            if rollout.action is not RoundAction.STOP and rollout.start is not None:
                yield self._start(index + 1, members, rollout.start)
        if rollout.leaving:
            yield self._stop(len(rollout.rounds), rollout.leaving, RoundAction.STOP)

    def _stop(self, number: int, origins: Sequence[str], action: RoundAction) -> SettledGroup:
        leaving = list(origins)
        if action is RoundAction.RESTART and self._bounce_s <= SESSION_S:
            # Static members keep their places if they restart within their sessions.
            leaving = [origin for origin in origins if self._members[origin].instance is None]
        ids = {self._members[origin].id for origin in leaving}
        extra = tuple(self._session_waits(leaving))
        self._away |= set(origins)
        staying = tuple(member for member in self._group.members if member.id not in ids)
        self._group = replace(self._group, members=staying)
        outcome = self._rebalance(frozenset()) if ids else self._rest()
        outcome = replace(outcome, waits=(*extra, *outcome.waits))
        return self._settled_group(number, outcome, stopped=tuple(origins))

    def _session_waits(self, leaving: Sequence[str]) -> Iterator[OwnerGap]:
        """The gap until a static member that stays away has left: its session must expire."""
        static = [self._members[origin] for origin in leaving if self._members[origin].instance is not None]
        owned = sum(partitions_of(self._group, member) for member in static)
        others = len(self._group.members) > len(leaving)
        if owned and others:
            why = "of static members, until their session expires"
            yield OwnerGap(why=why, partitions=owned, mean_s=SESSION_S, most_s=SESSION_S)

    def _start(self, number: int, origins: Sequence[str], start: MemberStart) -> SettledGroup:
        was_empty = not self._group.members
        present = {member.id for member in self._group.members}
        back = [origin for origin in origins if self._members[origin].id in present]
        coming = [origin for origin in origins if self._members[origin].id not in present]
        waits: list[OwnerGap] = []
        if back:
            why, wait_s = "of static members while they restart", self._bounce_s
            partitions = sum(partitions_of(self._group, self._members[origin]) for origin in back)
            waits.append(OwnerGap(why=why, partitions=partitions, mean_s=wait_s, most_s=wait_s))
        for origin in back:
            self._replace_in_place(origin, start)
        joined = [self._draw(origin, start) for origin in coming]
        self._group = replace(self._group, members=(*self._group.members, *joined))
        self._away -= set(origins)
        if was_empty and joined:
            waits.append(self._first_wait(start))
        outcome = self._rebalance({member.id for member in joined}) if joined else self._take_over()
        outcome = replace(outcome, waits=(*waits, *outcome.waits))
        return self._settled_group(number, outcome, started=tuple(origins))

    def _first_wait(self, start: MemberStart) -> OwnerGap:
        """The gap of all partitions while all members are restarted at once."""
        owned = len(self._latest)
        if start.protocol is MemberProtocol.CLASSIC:
            mean_s = most_s = self._bounce_s + INITIAL_DELAY_S
            why = "of all members while they restart, and while the empty group waits for more members"
        else:
            mean_s = self._bounce_s + CONSUMER_HEARTBEAT_S / 2
            most_s = self._bounce_s + CONSUMER_HEARTBEAT_S
            why = "of all members while they restart, until their second heartbeat"
        return OwnerGap(why=why, partitions=owned, mean_s=mean_s, most_s=most_s)

    def _replace_in_place(self, origin: str, start: MemberStart) -> None:
        old = next(member for member in self._group.members if member.id == self._members[origin].id)
        new = replace(_started(old, start), id=old.id if old.instance is not None else _drawn(old))
        self._members[origin] = new
        members = tuple(new if member.id == old.id else member for member in self._group.members)
        self._group = replace(self._group, members=members)
        if new.id != old.id:
            for partition in owners_in({new.id: current_of(self._group, new)}):
                owners = self._latest.get(partition, (old.id,))
                self._latest[partition] = tuple(new.id if owner == old.id else owner for owner in owners)

    def _draw(self, origin: str, start: MemberStart) -> Member:
        old = self._members[origin]
        new = newcomer(replace(_started(old, start), id=_drawn(old)))
        self._members[origin] = new
        return new

    def _take_over(self) -> RebalanceOutcome:
        """The outcome after static members rejoined in their places: only a change of the vote causes a rebalance.
        A conversion does not, in either direction (GroupMetadataManager.convertToClassicGroup: unless the
        assignment is stale)."""
        speaks = {member.protocol for member in self._group.members}
        if MemberProtocol.CONSUMER in speaks:
            if self._group.type is GroupType.CLASSIC:
                self._group = replace(self._group, type=GroupType.CONSUMER, protocol=self._remote_assignor)
            return self._rest()
        if self._group.type is GroupType.CONSUMER:
            self._group = replace(self._group, type=GroupType.CLASSIC, protocol=elected_assignor(self._group))
        is_elected = elected_assignor(self._group) == self._group.protocol
        return self._rest() if is_elected else self._rebalance(frozenset())

    def _rest(self) -> RebalanceOutcome:
        return RebalanceOutcome(group=self._group, rebalances=0, moved=0, waits=())

    def _rebalance(self, joined: Collection[str]) -> RebalanceOutcome:
        """Rebalance after the members have changed, if there are any."""
        group, topics, latest = self._group, self._topics, self._latest
        if not group.members:
            return self._rest()
        if any(member.protocol is MemberProtocol.CONSUMER for member in group.members):
            outcome = rebalance_consumer(group, topics, self._remote_assignor, latest, joined)
        else:
            outcome = rebalance_classic(group, topics, self._leader, latest, joined, self._timing)
            self._timing = HeartbeatTiming.IN_STEP
        self._group = outcome.group
        by_id = {member.id: member for member in self._group.members}
        for origin, member in self._members.items():
            self._members[origin] = by_id.get(member.id, member)
        return outcome

    def _settled_group(
        self,
        number: int,
        outcome: RebalanceOutcome,
        stopped: tuple[str, ...] = (),
        started: tuple[str, ...] = (),
    ) -> SettledGroup:
        return SettledGroup(
            step=self._step,
            round=number,
            stopped=stopped,
            started=started,
            type=self._group.type,
            protocol=self._group.protocol if self._group.members else None,
            rebalances=outcome.rebalances,
            moved=outcome.moved,
            waits=outcome.waits,
            members=tuple(self._settled_member(origin, member) for origin, member in self._members.items()),
        )

    def _settled_member(self, origin: str, member: Member) -> SettledMember:
        return SettledMember(
            origin=origin,
            away=origin in self._away,
            protocol=member.protocol,
            assignors=member.protocols or (),
            partitions=0 if origin in self._away else partitions_of(self._group, member),
        )


def _known(group: Group, member: Member) -> Member:
    """A member with an unknown protocol or list taken from its group: describe shows only the group's assignor."""
    protocol = member.protocol or usual_protocol(group.type)
    protocols = member.protocols
    if not protocols and group.type is GroupType.CLASSIC and group.protocol:
        protocols = (group.protocol,)
    return replace(member, protocol=protocol, protocols=protocols)


def _started(member: Member, start: MemberStart) -> Member:
    return replace(member, protocol=start.protocol, protocols=start.assignors or None)


def _drawn(member: Member) -> str:
    """An id in the form that a broker or a client of the consumer protocol draws; the same for the same member."""
    drawn = UUID(bytes=sha256(member.id.encode()).digest()[:16], version=4)
    if member.protocol is MemberProtocol.CONSUMER:
        return str(drawn)
    return f"{member.client.id or 'consumer'}-{drawn}"


def partitions_of(group: Group, member: Member) -> int:
    return sum(map(len, current_of(group, member).values()))
