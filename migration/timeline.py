"""The rollout of a plan as a picture shows it: the protocol and the partitions of each member, moment by moment.

No drawing here: columns (`TimelineFrame`), what a member is at each (`Kind`), and lanes of members, or, of a large
group, how many members are of each kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groups.model import MemberProtocol
from migration.rollout import Moment, Seat

MOST_FRAMES = 40
"""Columns that are still distinguishable on a page."""
MOST_LANES = 30
"""Members that are still distinguishable on a page."""
AWAY = "away"
UNKNOWN_LIST = "list not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineFrame:
    """A moment: a column of the picture."""

    step: int
    """0 for the group as it was found."""
    round: int
    title: str
    group: str
    """Type and assignor: `classic, range`; `empty` without members."""
    rebalances: int
    moved: int
    without_owner_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLane:
    """A member, frame by frame."""

    name: str
    kinds: tuple[int, ...]
    """Indices into the timeline's kinds."""
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """A picture's contents; all rows have a value for every frame."""

    frames: tuple[TimelineFrame, ...]
    kinds: tuple[str, ...]
    """What a member can be, in order of appearance: `classic: range`, `consumer`, `stopped`."""
    lanes: tuple[MemberLane, ...]
    """Empty for a group of more members than can be shown one by one."""
    members: tuple[tuple[int, ...], ...]
    """Members of each kind: a row for each kind."""
    partitions: tuple[tuple[int, ...], ...]
    """Partitions owned by members of each kind, and in one more row those without an owner."""
    left_out: int
    """Rounds that are not shown: there are too many, or they were not walked."""


def timeline_of(moments: Sequence[Moment], names: Mapping[str, str], rounds: int) -> Timeline | None:
    """The timeline of a walk; None where nothing was walked.

    `names` says what people call a member (a guest keeps its id), `rounds` how many rounds the plan has in all.
    """
    if len(moments) < 2:
        return None
    shown = _shown(moments)
    origins = list(dict.fromkeys(seat.origin for moment in moments for seat in moment.seats))
    seats = [{seat.origin: seat for seat in together[-1].seats} for together in shown]
    kinds: dict[str, int] = {}
    table = [[kinds.setdefault(_kind(row.get(origin)), len(kinds)) for origin in origins] for row in seats]
    owned = [[row[origin].partitions if origin in row else 0 for origin in origins] for row in seats]
    most = max(map(sum, owned))
    lanes = [
        MemberLane(
            name=names.get(origin, origin),
            kinds=tuple(row[position] for row in table),
            partitions=tuple(row[position] for row in owned),
        )
        for position, origin in enumerate(origins)
    ]
    by_kind = [_sums(row, counts, len(kinds)) for row, counts in zip(table, owned, strict=True)]
    counted = [Counter(row) for row in table]
    return Timeline(
        frames=tuple(map(_frame, shown)),
        kinds=tuple(kinds),
        lanes=tuple(lanes) if len(lanes) <= MOST_LANES else (),
        members=tuple(tuple(count[kind] for count in counted) for kind in range(len(kinds))),
        partitions=(
            *(tuple(row[kind] for row in by_kind) for kind in range(len(kinds))),
            tuple(most - sum(row) for row in owned),
        ),
        left_out=rounds - len({(together[-1].step, together[-1].round) for together in shown[1:]}),
    )


def _shown(moments: Sequence[Moment]) -> list[Sequence[Moment]]:
    """All moments, or the rounds, or some rounds: each with the moments that it stands for, the last one as it is."""
    if len(moments) <= MOST_FRAMES:
        return [[moment] for moment in moments]
    rounds: dict[tuple[int, int], list[Moment]] = {}
    for moment in moments:
        rounds.setdefault((moment.step, moment.round), []).append(moment)
    together = list(rounds.values())
    if len(together) <= MOST_FRAMES:
        return list(together)
    wanted = [index * (len(together) - 1) // (MOST_FRAMES - 1) for index in range(MOST_FRAMES)]
    return [together[index] for index in wanted]


def _frame(moments: Sequence[Moment]) -> TimelineFrame:
    last = moments[-1]
    return TimelineFrame(
        step=last.step,
        round=last.round,
        title=_title(moments),
        group=f"{last.type.value}, {last.protocol}" if last.protocol else "empty",
        rebalances=sum(moment.rebalances for moment in moments),
        moved=sum(moment.moved for moment in moments),
        without_owner_s=sum(wait.total_s for moment in moments for wait in moment.waits),
    )


def _title(moments: Sequence[Moment]) -> str:
    last = moments[-1]
    if not last.step:
        return "as found"
    done = " and ".join("stop" if moment.stopped else "start" for moment in moments)
    return f"step {last.step}, round {last.round}: {done}"


def _kind(seat: Seat | None) -> str:
    """The kind of a member, in words; a guest that has not joined yet is away."""
    if seat is None or seat.away:
        return AWAY
    if seat.protocol is MemberProtocol.CONSUMER:
        return "consumer"
    return f"classic: {', '.join(seat.assignors) or UNKNOWN_LIST}"


def _sums(kinds: Sequence[int], counts: Sequence[int], number: int) -> list[int]:
    sums = [0] * number
    for kind, count in zip(kinds, counts, strict=True):
        sums[kind] += count
    return sums
