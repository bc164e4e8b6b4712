"""A group at one moment: who owned which partitions since when, and what the group waited for."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from groups.history.account import Account, Explained
from groups.history.causes import RebalanceCause
from groups.history.events import Holding, Place, Protocol
from groups.history.storms import begin_of


class Awaited(StrEnum):
    """What a group waited for, until it happened."""

    ASSIGNMENT = "assignment"  # the leader's assignment
    REVOCATION = "revocation"  # a member must revoke partitions
    OWNER = "owner"  # partitions are free, and their next owner must fetch them
    EXPIRY = "expiry"  # a member that read no longer must be removed


@dataclass(frozen=True, slots=True, kw_only=True)
class PastWait:
    awaited: Awaited
    member: str | None  # that it waited for
    places: tuple[Place, ...]
    since: int  # when the rebalance began, or the member had last committed
    until: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    at: int
    last: Explained | None  # the rebalance that had begun last
    in_progress: bool | None  # None: its end is not known
    owners: tuple[Holding, ...]  # of each partition that has or should have one, by partition
    waits: tuple[PastWait, ...]


def moment_of(account: Account, at: int) -> Moment:
    """The group at a time within the account's span, as its records show it."""
    begun = [one for one in account.rebalances if begin_of(one.rebalance) <= at]
    last = begun[-1] if begun else None
    in_progress = last is not None and _is_open(last, at)
    held = [span for span in account.holdings if span.since <= at < _until(span, account)]
    owners = tuple(sorted(held, key=lambda span: span.place))
    waits = list(_waits(account, last, at, owners)) if last is not None and in_progress else []
    waits += _expiries(account, at, owners)
    return Moment(at=at, last=last, in_progress=in_progress, owners=owners, waits=tuple(waits))


def _until(span: Holding, account: Account) -> int:
    return account.until + 1 if span.until is None else span.until


def _is_open(one: Explained, at: int) -> bool:
    return one.rebalance.end is None or at < one.rebalance.end


def _waits(account: Account, last: Explained, at: int, owners: tuple[Holding, ...]) -> Iterator[PastWait]:
    begin, end = begin_of(last.rebalance), last.rebalance.end
    if last.rebalance.protocol is Protocol.CLASSIC:
        yield PastWait(awaited=Awaited.ASSIGNMENT, member=None, places=(), since=begin, until=end)
        return
    horizon = account.until if end is None else end
    waits: dict[tuple[Awaited, str | None], list[Holding]] = {}
    for span in owners:
        later = [one for one in account.holdings if one.place == span.place and at < one.since <= horizon]
        following = next((one.member for one in later if one.member is not None), None)
        if span.member is None:
            waits.setdefault((Awaited.OWNER, following), []).append(span)
        elif later:
            waits.setdefault((Awaited.REVOCATION, span.member), []).append(span)
    for (awaited, member), spans in waits.items():
        is_over = awaited is Awaited.REVOCATION or member is not None
        yield PastWait(
            awaited=awaited,
            member=member,
            places=tuple(span.place for span in spans),
            since=max(begin, *(span.since for span in spans)) if awaited is Awaited.OWNER else begin,
            until=max(_until(span, account) for span in spans) if is_over else None,
        )


def _expiries(account: Account, at: int, owners: tuple[Holding, ...]) -> Iterator[PastWait]:
    """Owners that had stopped reading, and were removed later because they did not leave."""
    stopped = {
        pause.place: pause.since
        for pause in account.pauses
        if pause.since <= at and (pause.until is None or at < pause.until)
    }
    for one in account.rebalances:
        for change in one.changes:
            gone = change.departure
            if gone is None or gone.at <= at or change.cause is RebalanceCause.LEAVE:
                continue
            spans = [span for span in owners if span.member == gone.member and span.place in stopped]
            if spans:
                yield PastWait(
                    awaited=Awaited.EXPIRY,
                    member=gone.member,
                    places=tuple(span.place for span in spans),
                    since=min(stopped[span.place] for span in spans),
                    until=gone.at,
                )
