"""Which members are the same process: a restarted consumer gets a new member id. Static members are tied together by
their instance id, others by client id and host, which several processes may share (`is_shared`): then the members of
each cannot be distinguished. A member without a client id is known by its member id only."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from groups.history.causes import RebalanceCause
from groups.history.events import Departure, MemberRecord, PastRebalance, Verdict
from groups.history.storms import begin_of

_LONGEST_NAME = 60
_SESSION_MS = 45_000  # the default of session.timeout.ms


class TiedBy(StrEnum):
    """By what the members of a process are tied together."""

    INSTANCE = "group.instance.id"
    CLIENT = "client id and host"
    MEMBER = "member id"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastProcess:
    tied_by: TiedBy
    key: tuple[str, ...]
    is_shared: bool = False
    host: str | None = None  # of its newest member

    @property
    def name(self) -> str:
        """`worker-7 on 10.0.3.8`, `billing-2 (static) on 10.0.3.9`."""
        static = " (static)" if self.tied_by is TiedBy.INSTANCE else ""
        several = " (one of several)" if self.is_shared else ""
        return f"{_shown(self.key[0])}{static}{f' on {_shown(self.host)}' if self.host else ''}{several}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberChange:
    """A member that joined or departed in a rebalance, and its process."""

    record: MemberRecord
    process: PastProcess
    departure: Departure | None = None  # None: it joined
    verdict: Verdict | None = None  # of a departure
    other: str | None = None
    """Of a member that joined, the member id that its process had before; of one that departed, the id under which
    its process had rejoined already."""
    away_us: int | None = None  # of a member that joined: the time since the one before departed, if it had

    @property
    def cause(self) -> RebalanceCause | None:
        """Of a departure: leave, expiry or unknown; None: it joined."""
        if self.departure is None:
            return None
        return RebalanceCause.UNKNOWN if self.verdict is None else self.verdict.cause

    @property
    def tied_by(self) -> TiedBy | None:
        """By what it was tied together with the other member id; None: there is none."""
        if self.other is None:
            return None
        return TiedBy.MEMBER if self.other == self.record.member else self.process.tied_by

    @property
    def is_return(self) -> bool:
        return self.departure is None and self.other is not None


def _shown(name: str) -> str:
    """A name without its middle if it is very long."""
    return (
        name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 3 :]}"
    )


def address(host: str | None) -> str | None:
    """A host without the slash that a broker puts before an address without a name."""
    return host.lstrip("/") if host else None


def changes_of(
    rebalances: Sequence[PastRebalance], records: Mapping[str, MemberRecord]
) -> list[tuple[MemberChange, ...]]:
    """The members that joined and departed in each of a group's rebalances, in order."""
    named = [*(gone.record for rebalance in rebalances for gone in rebalance.departures), *records.values()]
    unnamed = (MemberRecord(member=member) for rebalance in rebalances for member in rebalance.joined)
    records = {record.member: record for record in (*unnamed, *named)}
    processes = _processes(rebalances, records)
    here: dict[tuple[str, ...], list[str]] = {}
    for member in records.keys() - {member for rebalance in rebalances for member in rebalance.joined}:
        here.setdefault(processes[member].key, []).append(member)
    gone: dict[tuple[str, ...], tuple[str, int]] = {}
    return [tuple(_changes(rebalance, records, processes, here, gone)) for rebalance in rebalances]


def _changes(
    rebalance: PastRebalance,
    records: Mapping[str, MemberRecord],
    processes: Mapping[str, PastProcess],
    here: dict[tuple[str, ...], list[str]],
    gone: dict[tuple[str, ...], tuple[str, int]],
) -> Iterable[MemberChange]:
    verdicts = {verdict.member: verdict for verdict in rebalance.verdicts}
    for departure in rebalance.departures:
        if departure.member not in rebalance.left:
            continue  # of the rebalance before, whose partitions this one assigns
        process = processes[departure.member]
        members = here.get(process.key, [])
        if process.tied_by is TiedBy.INSTANCE:
            members.clear()  # its earlier member ids, which it replaced without a rebalance
        elif departure.member in members:
            members.remove(departure.member)
        successor = members[-1] if members and not process.is_shared else None
        if successor is None:
            gone[process.key] = departure.member, departure.at
        yield MemberChange(
            record=departure.record,
            process=process,
            departure=departure,
            verdict=verdicts.get(departure.member),
            other=successor,
        )
    for member in rebalance.joined:
        process = processes[member]
        members = here.setdefault(process.key, [])
        before, at = gone.pop(process.key, (None, None))
        if before is None and members and not process.is_shared:
            before = members[-1]
        members.append(member)
        away_us = None if at is None else max(begin_of(rebalance) - at, 0)
        yield MemberChange(record=records[member], process=process, other=before, away_us=away_us)


def _processes(
    rebalances: Sequence[PastRebalance], records: Mapping[str, MemberRecord]
) -> dict[str, PastProcess]:
    ties = {member: _tie(record) for member, record in records.items()}
    begins = {member: begin_of(rebalance) for rebalance in rebalances for member in rebalance.joined}
    ends: dict[str, int] = {}
    for rebalance in rebalances:
        left = {verdict.member for verdict in rebalance.verdicts if verdict.cause is RebalanceCause.LEAVE}
        for departure in rebalance.departures:
            session_ms = departure.record.session_timeout_ms or _SESSION_MS
            silent_ms = 0 if departure.member in left else session_ms
            ends.setdefault(departure.member, departure.at - silent_ms * 1000)
    shared, hosts = set[tuple[str, ...]](), dict[tuple[str, ...], str | None]()
    latest: dict[tuple[str, ...], float] = {}
    for member in sorted(records, key=lambda member: begins.get(member, -1)):
        tied_by, key = ties[member]
        begin = begins.get(member, -1)
        if tied_by is TiedBy.CLIENT and begin < latest.get(key, -1):
            shared.add(key)
        latest[key] = max(latest.get(key, -1), ends.get(member, float("inf")))
        hosts[key] = address(records[member].host)
    return {
        member: PastProcess(tied_by=tied_by, key=key, is_shared=key in shared, host=hosts[key])
        for member, (tied_by, key) in ties.items()
    }


def process_of(record: MemberRecord) -> PastProcess:
    tied_by, key = _tie(record)
    return PastProcess(tied_by=tied_by, key=key, host=address(record.host))


def _tie(record: MemberRecord) -> tuple[TiedBy, tuple[str, ...]]:
    if record.instance is not None:
        return TiedBy.INSTANCE, (record.instance,)
    if record.client_id:
        return TiedBy.CLIENT, (record.client_id, record.host or "")
    return TiedBy.MEMBER, (record.member,)
