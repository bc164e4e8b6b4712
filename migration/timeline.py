"""The rollout of a plan as the contents of a picture: the protocol and the partitions of each member over time.

Nothing is drawn here. A timeline has columns (`TimelineFrame`), the kind of each member in each column, and a lane
for each member, or, for a large group, the number of members of each kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groups.model import MemberProtocol
from migration.rollout import SettledGroup, SettledMember

MOST_FRAMES = 40
"""The most columns that are distinguishable on a page."""
MOST_LANES = 30
"""The most members that are distinguishable on a page."""
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
    """Type and assignor of the group: `classic, range`; `empty` without members."""
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
class PlanTimeline:
    """A picture's contents; all rows have a value for every frame."""

    frames: tuple[TimelineFrame, ...]
    kinds: tuple[str, ...]
    """The kinds of members, in order of appearance: `classic: range`, `consumer`, `stopped`."""
    lanes: tuple[MemberLane, ...]
    """Empty if the group has more than `MOST_LANES` members."""
    members: tuple[tuple[int, ...], ...]
    """The number of members of each kind: a row for each kind."""
    partitions: tuple[tuple[int, ...], ...]
    """Partitions owned by members of each kind, and in the last row partitions without an owner."""
    left_out: int
    """The number of rounds that are not shown: there are too many, or they were not walked."""


def timeline_of(
    settled_groups: Sequence[SettledGroup], names: Mapping[str, str], rounds: int
) -> PlanTimeline | None:
    """The timeline of a walk; None if nothing was walked.

    `names` contains names of members for people (temporary members keep their ids); `rounds` is the number of rounds
    in the plan.
    """
    if len(settled_groups) < 2:
        return None
    shown = _shown(settled_groups)
    origins = list(dict.fromkeys(member.origin for settled in settled_groups for member in settled.members))
    members = [{member.origin: member for member in together[-1].members} for together in shown]
    kinds: dict[str, int] = {}
    table = [[kinds.setdefault(_kind(row.get(origin)), len(kinds)) for origin in origins] for row in members]
    owned = [[row[origin].partitions if origin in row else 0 for origin in origins] for row in members]
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
    return PlanTimeline(
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


def _shown(settled_groups: Sequence[SettledGroup]) -> list[Sequence[SettledGroup]]:
    """The columns: all moments, or all rounds, or some rounds; each with its moments, of which the last is shown."""
    if len(settled_groups) <= MOST_FRAMES:
        return [[settled] for settled in settled_groups]
    rounds: dict[tuple[int, int], list[SettledGroup]] = {}
    for settled in settled_groups:
        rounds.setdefault((settled.step, settled.round), []).append(settled)
    together = list(rounds.values())
    if len(together) <= MOST_FRAMES:
        return list(together)
    wanted = [index * (len(together) - 1) // (MOST_FRAMES - 1) for index in range(MOST_FRAMES)]
    return [together[index] for index in wanted]


def _frame(settled_groups: Sequence[SettledGroup]) -> TimelineFrame:
    last = settled_groups[-1]
    return TimelineFrame(
        step=last.step,
        round=last.round,
        title=_title(settled_groups),
        group=f"{last.type.value}, {last.protocol}" if last.protocol else "empty",
        rebalances=sum(settled.rebalances for settled in settled_groups),
        moved=sum(settled.moved for settled in settled_groups),
        without_owner_s=sum(wait.total_s for settled in settled_groups for wait in settled.waits),
    )


def _title(settled_groups: Sequence[SettledGroup]) -> str:
    last = settled_groups[-1]
    if not last.step:
        return "as found"
    done = " and ".join("stop" if settled.stopped else "start" for settled in settled_groups)
    return f"step {last.step}, round {last.round}: {done}"


def _kind(member: SettledMember | None) -> str:
    """The kind of a member, in words; a temporary member that has not joined yet is away."""
    if member is None or member.away:
        return AWAY
    if member.protocol is MemberProtocol.CONSUMER:
        return "consumer"
    return f"classic: {', '.join(member.assignors) or UNKNOWN_LIST}"


def _sums(kinds: Sequence[int], counts: Sequence[int], number: int) -> list[int]:
    sums = [0] * number
    for kind, count in zip(kinds, counts, strict=True):
        sums[kind] += count
    return sums
