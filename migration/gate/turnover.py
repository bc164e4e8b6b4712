"""Who has been replaced by whom since a step began.

A restarted member comes back under a new id. Its instance id stays, its client id mostly (a pod's may change), its host
often: new members are matched with those that have gone by as much of that as agrees, and at last by their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from migration.model import PlannedMember


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnover:
    """The members of then and of now; guests (temporary members that a plan starts and stops) are left out."""

    stayed: tuple[PlannedMember, ...]
    """Still there under the same id."""
    gone: tuple[PlannedMember, ...]
    """There no more under that id: stopped, or restarted."""
    new: tuple[PlannedMember, ...]
    """Now there under an id that was not there then."""
    missing: tuple[PlannedMember, ...]
    """Of those that have gone, those in whose place nobody came."""
    surplus: tuple[PlannedMember, ...]
    """Of the new ones, those that came in nobody's place."""


def turnover(
    then: Sequence[PlannedMember], now: Sequence[PlannedMember], guests: Collection[str]
) -> Turnover:
    """Compare; `guests` are client ids."""
    then = [one for one in then if one.client_id not in guests]
    now = [one for one in now if one.client_id not in guests]
    ids_then, ids_now = {one.id for one in then}, {one.id for one in now}
    gone = [one for one in then if one.id not in ids_now]
    new = [one for one in now if one.id not in ids_then]
    missing, surplus = gone, new
    for key in _LIKENESS:
        missing, surplus = _unmatched(missing, surplus, key)
    return Turnover(
        stayed=tuple(one for one in then if one.id in ids_now),
        gone=tuple(gone),
        new=tuple(new),
        missing=tuple(missing),
        surplus=tuple(surplus),
    )


def is_named(member: PlannedMember, names: Collection[str]) -> bool:
    """Whether rounds that use these names mean the member."""
    return any(name in names for name in member.called)


_Key = Callable[[PlannedMember], object]
_LIKENESS: tuple[_Key, ...] = (
    lambda one: one.instance,
    lambda one: one.client_id and one.host and (one.client_id, one.host),
    lambda one: one.client_id,
    lambda one: one.host,
    lambda _: True,
)
"""What two members may have in common, the strongest first; None is nothing."""


def _unmatched(
    gone: Sequence[PlannedMember], new: Sequence[PlannedMember], key: _Key
) -> tuple[list[PlannedMember], list[PlannedMember]]:
    """Those of both that are left when members with the same key are paired."""
    waiting: dict[object, list[PlannedMember]] = defaultdict(list)
    for one in reversed(gone):
        if key(one) is not None:
            waiting[key(one)].append(one)
    matched: set[str] = set()
    surplus = []
    for one in new:
        if key(one) is not None and waiting[key(one)]:
            matched.add(waiting[key(one)].pop().id)
        else:
            surplus.append(one)
    return [one for one in gone if one.id not in matched], surplus
