"""The course of a consumer group (KIP-848): a record per group epoch, and the epoch that each member has reached.
Every change of a group is written before the epoch that it causes; several epochs may share one target, that of the
last. An epoch is complete when every member at its start has reached it or a later one, and neither revokes nor
waits for partitions; no epoch waits for a static member that is away. A member that joins with a regular expression
causes no epoch before the expression is resolved. A leave and an expiry are written in the same way (`causes`).
Source: GroupMetadataManager.consumerGroupHeartbeat, consumerGroupFenceMembers, CurrentAssignmentBuilder."""

from collections import Counter
from dataclasses import dataclass, field, replace

from groups.history import events
from groups.history.causes import RebalanceCause, of_epoch
from groups.history.holders import PartitionHistory, Predecessor

_FIRST_EPOCH = 2  # the epoch of a new group's first record: 1 up to Kafka 4.2, 2 since
_NOWHERE = -1  # the epoch of a member that has reached no epoch


@dataclass(slots=True)
class _Present:
    record: events.MemberRecord
    counts_from: int  # the first epoch that must wait for the member
    reached: int = _NOWHERE
    away: int | None = None  # since when
    revoking: int | None = None  # since when


@dataclass(slots=True)
class _Open:
    """An epoch that is not complete yet."""

    row: events.PastRebalance
    behind: int  # the number of members that have not reached the epoch
    has_target: bool = False


@dataclass(slots=True, kw_only=True)
class ConsumerLifetime:
    """A consumer group from one deletion or conversion to the next."""

    trail: PartitionHistory
    past: Predecessor | None  # the group before, if the log contains it
    epoch: int | None = None
    _members: dict[str, _Present] = field(default_factory=dict)  # members by identity
    _identities: dict[str, str] = field(default_factory=dict)  # identities of static members by member id
    _base: dict[str, events.MemberRecord] = field(
        default_factory=dict
    )  # members by identity, at the last epoch
    _held: dict[events.Place, int] = field(default_factory=dict)  # since when each partition has its owner
    _seen: dict[str, int] = field(default_factory=dict)  # when each member last caused a record
    _deleted: dict[str, _Present] = field(default_factory=dict)  # by identity, since the last epoch
    _touched: dict[str, None] = field(default_factory=dict)  # identities with a record since the last epoch
    _changes: set[RebalanceCause] = field(default_factory=set)  # others since the last epoch
    _current: dict[str, frozenset[events.Place]] = field(
        default_factory=dict
    )  # current assignments by member id
    _lost: dict[str, frozenset[events.Place]] = field(default_factory=dict)
    """By identity, partitions of members whose current assignment was deleted, since the last epoch."""
    _targets: dict[str, frozenset[events.Place]] = field(default_factory=dict)  # targets by member id
    _wanted: Counter[events.Place] = field(default_factory=Counter)
    _replaced: dict[str, frozenset[events.Place]] = field(default_factory=dict)
    """By identity, the targets that were replaced since the last target was complete."""
    _open: list[_Open] = field(default_factory=list)

    def record(self, event: events.GroupEvent) -> None:
        """Add a record; a deletion of the group's epoch ends the group: see `end`."""
        kind = event.key_version
        if kind == events.MEMBER:
            self._member(event)
        elif kind == events.GROUP_EPOCH:
            self._group_epoch(event)
        elif kind == events.TARGET_EPOCH and not event.tombstone:
            self._target_epoch(event)
        elif kind == events.TARGET:
            self._target(event)
        elif kind == events.CURRENT:
            self._assignment(event)
        elif kind == events.REGEX and not event.tombstone:
            self._changes.add(RebalanceCause.METADATA)
        for opened in [one for one in self._open if one.behind <= 0]:
            self._report(opened, event.time)
            self._open.remove(opened)

    @property
    def is_settled(self) -> bool:
        """Whether every epoch so far is complete."""
        return not self._open

    def end(self, time: int) -> Predecessor:
        """End a group that is deleted or converted: its members were deleted before."""
        self.finish(time)
        epoch = self.epoch or 0
        records = {identity: record for identity, record in self._base.items() if identity in self._lost}
        records |= {identity: present.record for identity, present in self._members.items()}
        owned = {key: records[it] for it, places in self._lost.items() if it in records for key in places}
        for member, places in self._current.items():
            owned |= dict.fromkeys(
                places, records.get(self._identity(member), events.MemberRecord(member=member))
            )
            for partition in places:
                self.trail.holders.release(partition, epoch, time)
        return Predecessor(
            protocol=events.Protocol.CONSUMER,
            epoch=epoch,
            records=records,
            owned=owned,
            held=self._held,
            seen=self._seen,
            time=time,
        )

    def finish(self, time: int | None = None) -> None:
        """Report the open epochs, at the end of the log by default."""
        for opened in self._open:
            self._report(opened, time)
        self._open = []

    def _identity(self, member: str) -> str:
        return self._identities.get(member, member)

    # Members.

    def _member(self, event: events.GroupEvent) -> None:
        record = event.record
        if record is None:
            return
        if event.tombstone:
            identity = self._identities.pop(record.member, record.member)
            present = self._members.get(identity)
            if present is not None and present.record.member == record.member:
                self._reach(present, None)
                del self._members[identity]
                self._deleted[identity] = present
                self._touched[identity] = None
            return
        identity = record.identity
        if record.instance is not None:
            self._identities[record.member] = identity
        self._touched[identity] = None
        self._seen[identity] = event.time
        present = self._members.get(identity)
        known = self._base.get(identity) if present is None else present.record
        if known is not None:
            if (known.topics, known.regex) != (record.topics, record.regex):
                self._changes.add(RebalanceCause.SUBSCRIPTION)
            if known.assignor != record.assignor:
                self._changes.add(RebalanceCause.ASSIGNOR)
        if present is None:
            first = _NOWHERE if self.epoch is None else self.epoch + 1
            self._members[identity] = _Present(record, first)
        else:
            present.record = record

    def _reach(self, present: _Present, epoch: int | None) -> None:
        """Note that a member reached an epoch; None: it departed, and no epoch waits for it any longer."""
        for opened in self._open if present.away is None else ():
            number = opened.row.epoch
            is_awaited = number >= present.counts_from and number > present.reached
            if is_awaited and (epoch is None or number <= epoch):
                opened.behind -= 1
        if epoch is not None:
            present.reached = max(present.reached, epoch)

    # Epochs.

    def _group_epoch(self, event: events.GroupEvent) -> None:
        epoch = event.epoch or 0
        if epoch == self.epoch:
            return
        past = self.past if self.epoch is None else None
        converted = past is not None and past.becomes(events.Protocol.CONSUMER, event.time)
        known = past is not None or (epoch <= _FIRST_EPOCH if self.epoch is None else epoch > self.epoch)
        before = dict(past.records) if past is not None and converted else self._base
        present = {identity: member.record for identity, member in self._members.items()}
        if not known:
            before = dict(present)
        touched = [*before, *present] if before is not self._base else list(self._touched)
        joined = [member for member in dict.fromkeys(touched) if member in present and member not in before]
        left = [member for member in dict.fromkeys(touched) if member in before and member not in present]
        assignors = Counter(sorted(it for one in present.values() if (it := one.assignor) is not None))
        gap = self.epoch is not None and epoch > self.epoch + 1
        changes = self._changes | ({RebalanceCause.UNKNOWN} if left else set())
        if joined:
            changes.add(RebalanceCause.JOIN)
        if past is not None and converted:
            self._seen = {**past.seen, **self._seen}
            changes.add(RebalanceCause.CONVERSION)
        row = events.PastRebalance(
            group=event.group,
            partition=event.partition,
            offset=event.offset,
            protocol=events.Protocol.CONSUMER,
            epoch=epoch,
            start=event.time,
            end=None,
            causes=of_epoch(changes, gap=gap) if known else (RebalanceCause.UNKNOWN,),
            assignor=max(assignors, key=assignors.__getitem__, default=None),
            members_before=len(before),
            members=len(present),
            joined=tuple(present[identity].member for identity in joined),
            left=tuple(before[identity].member for identity in left),
            partitions=0,
            moved=0,
            revoked=0,
            skipped=self._skipped(epoch, past, converted=converted) if known else None,
            departures=tuple(self._departure(identity, before[identity], event.time) for identity in left),
        )
        behind = sum(1 for member in self._members.values() if member.away is None and member.reached < epoch)
        self._open.append(_Open(row, behind))
        for departure in row.departures:
            self.trail.on_departure(departure)
        self.epoch = epoch
        for identity in touched:
            if identity in present:
                self._base[identity] = present[identity]
            else:
                self._base.pop(identity, None)
                self._seen.pop(identity, None)
        self._touched, self._changes, self._lost, self._deleted = {}, set(), {}, {}
        if not present:
            self.trail.clear(event.time)

    def _departure(self, identity: str, record: events.MemberRecord, at: int) -> events.Departure:
        deleted = self._deleted.get(identity)
        return events.Departure(
            record=record,
            protocol=events.Protocol.CONSUMER,
            seen=self._seen.get(identity, at),
            earliest=at,
            at=at,
            waited_for=False,
            places={place: self._held.get(place, at) for place in sorted(self._lost.get(identity, ()))},
            away=None if deleted is None else deleted.away,
            revoking=None if deleted is None else deleted.revoking,
        )

    def _skipped(self, epoch: int, past: Predecessor | None, *, converted: bool) -> int:
        if past is not None and converted:
            return max(epoch - past.epoch, 0)
        if self.epoch is None:
            return max(epoch - _FIRST_EPOCH, 0)
        return epoch - max(self.epoch, 0) - 1

    # Targets.

    def _target(self, event: events.GroupEvent) -> None:
        if event.record is None:
            return
        member = event.record.member
        old = self._targets.pop(member, frozenset())
        new = frozenset() if event.tombstone else frozenset(event.places)
        if not event.tombstone:
            self._targets[member] = new
        self._replaced.setdefault(self._identity(member), old)
        self._wanted.update(new - old)
        for partition in old - new:
            self._wanted[partition] -= 1
            if not self._wanted[partition]:
                del self._wanted[partition]

    def _target_epoch(self, event: events.GroupEvent) -> None:
        owners: dict[events.Place, str] = {}
        revoked = 0
        for identity, old in self._replaced.items():
            present = self._members.get(identity)
            new = frozenset() if present is None else self._targets.get(present.record.member, frozenset())
            owners |= dict.fromkeys(new - old, identity)
            revoked += len(old - new) if present is not None else 0
        self._replaced = {}
        moved = self.trail.moved(owners)
        for opened in self._open:
            if opened.row.epoch == event.epoch:
                opened.row = replace(opened.row, moved=moved, revoked=revoked, partitions=len(self._wanted))
                opened.has_target = True
        holders = self.trail.holders
        holders.give_up_on(holders.vacant(but=self._wanted), event.time)

    # Current assignments.

    def _assignment(self, event: events.GroupEvent) -> None:
        if event.record is None:
            return
        member, holders = event.record.member, self.trail.holders
        had = self._current.pop(member, frozenset())
        identity = self._identity(member)
        present = self._members.get(identity)
        epoch = self.epoch or 0
        if event.tombstone:
            self._lost[identity] = had
            for partition in had:
                holders.release(partition, epoch, event.time, member)
            return
        away = (event.epoch or 0) < 0
        has = frozenset() if away else frozenset(event.places)
        self._current[member] = has
        for partition in had - has:
            if away or partition in self._wanted:
                holders.release(partition, epoch, event.time, member)
            else:
                holders.give_up_on([partition], event.time)
        record = event.record if present is None else present.record
        for partition in has - had:
            self._held[partition] = self._held_since(partition, identity, event.time)
            holders.take(partition, record, epoch, event.time)
        if present is None:
            return
        self._seen[identity] = event.time
        if away:
            self._reach(present, None)
        elif event.state == events.STABLE and event.epoch is not None:
            self._reach(present, event.epoch)
        if present.away is not None and not away:
            present.counts_from = epoch + 1
        present.away = event.time if away else None
        present.revoking = event.time if event.state == events.UNREVOKED else None

    def _held_since(self, partition: events.Place, identity: str, time: int) -> int:
        """A conversion writes the partitions of all members again."""
        past = self.past if self.epoch is None else None
        owner = None if past is None else past.owned.get(partition)
        if past is None or owner is None or owner.identity != identity:
            return time
        return past.held.get(partition, time)

    # Rows.

    def _report(self, opened: _Open, time: int | None) -> None:
        row = opened.row if opened.has_target else replace(opened.row, partitions=len(self._wanted))
        self.trail.on_rebalance(replace(row, end=time))
