"""The course of a classic group: a record per generation, written when the leader has sent the assignment. A record
contains the time at which all members had joined, which is the start of a row: its duration does not include the
wait for members to join, except for a group's first generation (Kafka 4 writes a new group when its first member
requests to join). A static member that returns under another id is written with the current generation, without a
rebalance. Members of an eager group, or of one with an unknown assignor, have revoked everything by the start. A
cooperative group that revokes partitions assigns them in a second rebalance, which has the cause of the first.
Source: GroupMetadataManager.classicGroupSyncToClassicGroup, GroupMetadataValue.currentStateTimestamp."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from groups.history.causes import Causes, RebalanceCause, of_generation
from groups.history.events import Departure, GroupEvent, MemberRecord, PastRebalance, Place, Protocol
from groups.history.holders import PartitionHistory, Predecessor

_FIRST_GENERATION = 1
_MOST_NAMES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """The step from one generation to the next. Members are by identity."""

    event: GroupEvent
    generation: int
    before: Mapping[str, MemberRecord]
    after: Mapping[str, MemberRecord]
    had: Mapping[Place, MemberRecord]
    assigned: Mapping[Place, MemberRecord]
    converted: Predecessor | None  # the consumer group that was converted into this one
    known: bool  # whether the log contains the generation before
    cooperative: bool  # whether members keep partitions that are not revoked
    start: int | None

    @property
    def begun(self) -> int:
        """The time at which members had revoked the partitions that they must revoke before they rejoin."""
        return self.event.time if self.start is None else self.start

    @property
    def joined(self) -> list[str]:
        return [identity for identity in self.after if identity not in self.before]

    @property
    def left(self) -> list[str]:
        return [identity for identity in self.before if identity not in self.after]

    @property
    def given_up(self) -> Mapping[Place, MemberRecord]:
        if not self.cooperative:
            return self.had
        owners = {partition: record.identity for partition, record in self.assigned.items()}
        return {key: record for key, record in self.had.items() if owners.get(key) != record.identity}

    @property
    def withheld(self) -> frozenset[Place]:
        """The partitions revoked from members that stay, to be assigned in the next generation."""
        if not self.cooperative or self.converted is not None:
            return frozenset()
        return frozenset(
            partition
            for partition, record in self.given_up.items()
            if partition not in self.assigned and record.identity in self.after
        )


@dataclass(slots=True, kw_only=True)
class ClassicLifetime:
    """A classic group from one deletion or conversion to the next."""

    trail: PartitionHistory
    past: Predecessor | None  # the group before, if the log contains it
    generation: int | None = None
    _by_identity: Mapping[str, MemberRecord] = field(default_factory=dict)  # members by identity
    _owned: Mapping[Place, MemberRecord] = field(default_factory=dict)
    _assignor: str | None = None
    _causes: Causes = ()
    _departures: tuple[Departure, ...] = ()
    _held: dict[Place, int] = field(default_factory=dict)  # since when the owner of each partition has it
    _withheld: frozenset[Place] = frozenset()
    _written: int = 0  # the time of the last record
    _joined: int = 0  # the time at which all members of the last generation had joined

    def record(self, event: GroupEvent) -> None:
        """Add a record. It must not be a tombstone or of an earlier generation."""
        generation = event.epoch or 0
        after = {record.identity: record for record, _ in event.members}
        assigned = {partition: record for record, places in event.members for partition in places}
        if generation == self.generation:
            for partition, record in assigned.items():  # with a new member id of a static member
                self.trail.holders.take(partition, record, generation, event.time)
            self.trail.holders.give_up_on(self._owned.keys() - assigned.keys(), event.time)
        elif after or generation > 0:
            self._rebalance(self._step(event, generation, after, assigned))
        since = event.state_since
        self._joined = event.time if since is None else min(since, event.time)
        self.generation, self._written, self._assignor = generation, event.time, event.assignor
        self._held = {
            partition: self._held[partition] if self._keeps(partition, record) else event.time
            for partition, record in assigned.items()
        }
        self._by_identity, self._owned = after, assigned

    def end(self, time: int) -> Predecessor:
        """End a group that is deleted or converted."""
        generation = self.generation or 0
        for partition in self._owned:
            self.trail.holders.release(partition, generation, time)
        return Predecessor(
            protocol=Protocol.CLASSIC,
            epoch=generation,
            records=self._by_identity,
            owned=self._owned,
            held=self._held,
            seen=dict.fromkeys(self._by_identity, self._joined),
            time=time,
        )

    def _keeps(self, partition: Place, record: MemberRecord) -> bool:
        owner = self._owned.get(partition)
        return partition in self._held and owner is not None and owner.identity == record.identity

    def _step(
        self,
        event: GroupEvent,
        generation: int,
        after: Mapping[str, MemberRecord],
        assigned: Mapping[Place, MemberRecord],
    ) -> _Step:
        first = self.generation is None
        past = self.past if first else None
        converted = past if past is not None and past.becomes(Protocol.CLASSIC, event.time) else None
        known = not first or past is not None or generation <= _FIRST_GENERATION
        before = self._by_identity if converted is None else converted.records
        return _Step(
            event=event,
            generation=generation,
            before=before if known else after,
            after=after,
            had=self._owned if converted is None else converted.owned,
            assigned=assigned,
            converted=converted,
            known=known,
            # Both the new assignor and the one before must be cooperative.
            cooperative=converted is not None
            or (_cooperates(event.assignor) and (self._assignor is None or _cooperates(self._assignor))),
            start=event.time if converted is not None else self._start(event),
        )

    def _start(self, event: GroupEvent) -> int | None:
        """The time at which all members had joined, or the first member of a new group; None: unknown."""
        if self.generation == 0:
            return min(self._written, event.time)
        since = event.state_since
        return since if since is not None and self._written <= since <= event.time else None

    def _rebalance(self, step: _Step) -> None:
        if step.converted is not None:
            self._held = dict(step.converted.held)
        causes = self._why(step)
        if causes is not self._causes:
            self._departures = self._gone(step)
            for departure in self._departures:
                self.trail.on_departure(departure)
        self.trail.on_rebalance(
            PastRebalance(
                group=step.event.group,
                partition=step.event.partition,
                offset=step.event.offset,
                protocol=Protocol.CLASSIC,
                epoch=step.generation,
                start=step.start,
                end=step.event.time,
                causes=causes,
                assignor=step.event.assignor,
                members_before=len(step.before),
                members=len(step.after),
                joined=tuple(step.after[identity].member for identity in step.joined),
                left=tuple(step.before[identity].member for identity in step.left),
                partitions=len(step.assigned),
                moved=self.trail.moved({key: record.identity for key, record in step.assigned.items()}),
                revoked=sum(1 for record in step.given_up.values() if record.identity in step.after),
                skipped=self._skipped(step),
                departures=self._departures,
            )
        )
        self._causes, self._withheld = causes, step.withheld
        self._hand_out(step)

    def _skipped(self, step: _Step) -> int | None:
        if not step.known:
            return None
        if step.converted is not None:
            return max(step.generation - step.converted.epoch, 0)
        return max(step.generation - max(self.generation or 0, 0) - 1, 0)

    def _why(self, step: _Step) -> Causes:
        if not step.known:
            return (RebalanceCause.UNKNOWN,)
        old, new = self._assignor, step.event.assignor
        changes = {
            RebalanceCause.CONVERSION: step.converted is not None,
            RebalanceCause.UNKNOWN: bool(step.left),
            RebalanceCause.JOIN: bool(step.joined),
            RebalanceCause.ASSIGNOR: old is not None and new is not None and old != new,
            RebalanceCause.SUBSCRIPTION: any(
                None not in (record.topics, after.topics) and record.topics != after.topics
                for identity, record in step.before.items()
                if (after := step.after.get(identity)) is not None
            ),
        }
        new_places = step.assigned.keys() - step.had.keys()
        return of_generation(
            {cause for cause, is_one in changes.items() if is_one},
            before=self._causes,
            hands_out_withheld=bool(self._withheld) and new_places <= self._withheld,
            other_partitions=step.assigned.keys() != step.had.keys(),
        )

    def _gone(self, step: _Step) -> tuple[Departure, ...]:
        places: dict[str, dict[Place, int]] = {identity: {} for identity in step.left}
        samples: dict[str, Place] = {}
        for partition, record in step.had.items() if step.left else ():
            samples.setdefault(record.identity, partition)
            if record.identity in places:
                places[record.identity][partition] = self._held.get(partition, self._written)
        past = step.converted
        return tuple(
            Departure(
                record=step.before[identity],
                protocol=Protocol.CLASSIC if past is None else past.protocol,
                seen=min(step.begun, self._joined if past is None else past.seen.get(identity, step.begun)),
                earliest=min(step.begun, self._written if past is None else step.begun),
                at=step.begun,
                waited_for=past is None and len(step.before) > 1,
                places=places[identity],
                others=tuple(samples.get(other) for other in step.before if other != identity)
                if past is None
                else (),
            )
            for identity in step.left
        )

    def _hand_out(self, step: _Step) -> None:
        """Note the new owners. Members revoke at the start, cooperative ones that stay at the record's time."""
        holders, time = self.trail.holders, step.event.time
        for partition, record in step.given_up.items():
            learns = step.cooperative and record.identity in step.after
            holders.release(partition, step.generation, time if learns else step.begun)
        if not step.after:
            self.trail.clear(step.begun)
            return
        for partition, record in step.assigned.items():
            holders.take(partition, record, step.generation, time)
        holders.give_up_on(holders.vacant(but=self._withheld), time)


@lru_cache(_MOST_NAMES)
def _cooperates(assignor: str | None) -> bool:
    from assignors.assignor import RebalanceProtocol  # with all assignors: consumer groups need none of them
    from assignors.registry import rebalance_protocol

    return assignor is not None and rebalance_protocol([assignor]) is RebalanceProtocol.COOPERATIVE
