"""Courses of a group whose members join, crash, leave and commit at given times: the records that a coordinator would
write, by hand. Members commit every 5 seconds; the clock starts at 02:00 UTC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from groups.history import events
from groups.history.commits import Commits
from groups.history.course import Course, course_of
from groups.history.events import GroupEvent, MemberRecord, Place, Protocol
from groups.times import EPOCH

START = datetime(2026, 11, 28, 2, tzinfo=UTC)
COMMIT_US = 5_000_000
RECORD_US = 100_000  # between two records of a partition


def us(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)


class ScriptedGroup:
    def __init__(
        self,
        name: str = "payments",
        *,
        partitions: int = 12,
        protocol: Protocol = Protocol.CLASSIC,
        assignor: str = "range",
        session_ms: int | None = 45_000,
    ) -> None:
        self.name, self.protocol, self.assignor, self.session_ms = name, protocol, assignor, session_ms
        self.places: list[Place] = [("orders", number) for number in range(partitions)]
        self.members: dict[str, MemberRecord] = {}
        self.silent: set[str] = set()
        self.owned: dict[str, tuple[Place, ...]] = {}
        self.now, self.epoch = us(START), 0
        self.log: list[GroupEvent] = []
        self.commits: list[tuple[Place, int, int, int]] = []
        self._ids: dict[str, int] = {}

    def wait(self, seconds: float) -> ScriptedGroup:
        """Let time pass; members that read commit."""
        end = self.now + round(seconds * 1_000_000)
        first = -(-(self.now + 1) // COMMIT_US) * COMMIT_US
        for time in range(first, end + 1, COMMIT_US):
            for member, places in self.owned.items():
                for place in places if member not in self.silent else ():
                    offset = (time - us(START)) // RECORD_US
                    self.commits.append((place, time, offset, len(self.commits)))
        self.now = end
        return self

    def come(self, *names: str, instance: str | None = None, same_id: str | None = None) -> ScriptedGroup:
        """Let clients join, in one rebalance: `worker-7` runs on 10.0.3.7, under a new member id each time."""
        for name in names:
            self._ids[name] = self._ids.get(name, 0) + 1
            member = same_id or f"{name}-{self._ids[name]:04}"
            self.members[member] = MemberRecord(
                member=member,
                instance=instance,
                client_id=name,
                host=f"/10.0.3.{name.rpartition('-')[2]}",
                topics=frozenset({"orders"}),
                rebalance_timeout_ms=300_000,
                session_timeout_ms=self.session_ms if self.protocol is Protocol.CLASSIC else None,
            )
            self._write_member(member, self.members[member])
        return self.rebalance()

    def go(self, *names: str) -> ScriptedGroup:
        """Remove clients, in one rebalance."""
        for name in names:
            del self.members[member := self.member(name)]
            self.silent.discard(member)
            self._write_member(member, None)
        return self.rebalance()

    def silence(self, name: str) -> ScriptedGroup:
        """Let a client commit nothing from now on."""
        self.silent.add(self.member(name))
        return self

    def expire(self, name: str) -> ScriptedGroup:
        """Let a client crash, and the coordinator remove it."""
        return self.silence(name).wait((self.session_ms or 45_000) / 1000 + 1).go(name)

    def step_away(self, name: str) -> ScriptedGroup:
        """Let a static client of the consumer protocol close, to return."""
        member = self.silence(name).member(name)
        self._write(events.CURRENT, record=self.members[member], epoch=-2, state=events.STABLE)
        return self

    def member(self, name: str) -> str:
        return next(member for member, record in self.members.items() if record.client_id == name)

    def course(self, complete_since: datetime | None = START) -> Course:
        since = None if complete_since is None else us(complete_since)
        return course_of(self.name, self.log, Commits.of(self.commits), complete_since=since)

    def _write(self, key_version: int, *, tombstone: bool = False, **columns: object) -> None:
        position = {"group": self.name, "partition": 7, "offset": 1000 + len(self.log), "time": self.now}
        event = GroupEvent(**position, key_version=key_version, tombstone=tombstone, **columns)  # type: ignore[arg-type]  # by name
        self.log.append(event)

    def _write_member(self, member: str, record: MemberRecord | None) -> None:
        if self.protocol is Protocol.CONSUMER:
            written = record or MemberRecord(member=member)
            for kind in (events.MEMBER,) if record else (events.CURRENT, events.TARGET, events.MEMBER):
                self._write(kind, tombstone=record is None, record=written)

    def rebalance(self) -> ScriptedGroup:
        self.epoch += 1
        before, self.owned = self.owned, dict(zip(self.members, self._shares(), strict=True))
        self.now += 200_000
        if self.protocol is Protocol.CLASSIC:
            assigned = tuple((self.members[member], places) for member, places in self.owned.items())
            self._write(
                events.CLASSIC_GROUP,
                epoch=self.epoch,
                members=assigned,
                state_since=self.now - 100_000,
                assignor=self.assignor,
            )
            return self
        self._write(events.GROUP_EPOCH, epoch=self.epoch)
        for member, places in self.owned.items():
            self._write(events.TARGET, record=self.members[member], places=places)
        self._write(events.TARGET_EPOCH, epoch=self.epoch)
        stuck = {place for member in self.silent for place in before.get(member, ())}
        self.owned = {
            member: before.get(member, ())
            if member in self.silent
            else tuple(place for place in places if place not in stuck)
            for member, places in self.owned.items()
        }
        kept = {member: tuple({*before.get(member, ())} & {*places}) for member, places in self.owned.items()}
        for state, assignment in (("revoked", kept), (events.STABLE, self.owned)):
            self.now += 150_000
            for member, places in assignment.items():
                record = self.members[member]
                self._write(events.CURRENT, record=record, epoch=self.epoch, state=state, places=places)
        return self

    def _shares(self) -> Sequence[tuple[Place, ...]]:
        count = len(self.members)
        cuts = [len(self.places) * index // count for index in range(count + 1)] if count else [0]
        return [tuple(self.places[first:end]) for first, end in pairwise(cuts)]


def storm_of_crashes(protocol: Protocol = Protocol.CONSUMER, reads_s: float = 26) -> ScriptedGroup:
    """worker-7 crashes seven times, returns after 8 seconds, and reads for a while each time."""
    group = ScriptedGroup(protocol=protocol).come("worker-1", "worker-3", "worker-7").wait(3600)
    for _ in range(7):
        group.expire("worker-7").wait(8).come("worker-7").wait(reads_s)
    return group.wait(3600)


def rolling_deployment() -> ScriptedGroup:
    """Six members are restarted one after another, by a deployment."""
    names = [f"worker-{number}" for number in range(1, 7)]
    group = ScriptedGroup().come(*names).wait(3600)
    for name in names:
        group.go(name).wait(12).come(name).wait(40)
    return group.wait(3600)


def quiet_night() -> ScriptedGroup:
    return ScriptedGroup().come("worker-1", "worker-2").wait(4 * 3600)
