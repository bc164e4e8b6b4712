"""Members taken together, round by round, and what holds before the next round begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groups.model import GroupState, Member
from migration.conditions import Condition, MemberCount, Replaced, StateIn
from migration.course import Course, Manner, Start
from migration.paths.trip import Trip

STABLE = StateIn(states=(GroupState.STABLE,))
GONE = StateIn(states=(GroupState.EMPTY, GroupState.DEAD))
"""Without members; some brokers call a group Dead at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """The rounds of a step as the runbook names the members, and as a rehearsal knows them."""

    names: tuple[tuple[str, ...], ...]
    ids: tuple[tuple[str, ...], ...]

    def course(self, manner: Manner, start: Start | None) -> Course:
        """How the step goes."""
        return Course(manner=manner, rounds=self.ids, start=start)


def in_rounds(trip: Trip, members: Sequence[Member], *, at_once: bool = False) -> Rounds:
    """As many together as the plan allows, in the order of their names; or all of them in one round."""
    ordered = sorted(members, key=lambda member: (trip.names[member.id], member.id))
    size = len(ordered) if at_once else trip.concurrency
    cut = [ordered[start : start + size] for start in range(0, len(ordered), size or 1)]
    return Rounds(
        names=tuple(trip.name(some) for some in cut),
        ids=tuple(tuple(member.id for member in some) for some in cut),
    )


def all_back(trip: Trip, guests: int = 0) -> tuple[Condition, ...]:
    """The group rests with all its members (and guests); those of the rounds so far are new ones."""
    return (STABLE, MemberCount(at_least=max(trip.size + guests, 1)), Replaced())


def restart_actions(trip: Trip, rounds: Rounds) -> tuple[str, ...]:
    """How members are restarted, in words."""
    several = len(rounds.names) > 1
    static = (
        "Never start a static member before its predecessor has ended: "
        f"{_some(member.instance or '' for member in trip.members if member.instance)}."
    )
    return (
        *((static,) if trip.has_static else ()),
        "Stop the members of a round, wait until their processes have ended, then start them with the lines below."
        if several
        else f"Stop {_some(rounds.names[0])}, wait until it has ended, then start it with the lines below."
        if rounds.names and len(rounds.names[0]) == 1
        else "Stop the members, wait until their processes have ended, then start them with the lines below.",
        *(
            ("Begin the next round only when the check of this one has ended with exit status 0.",)
            if several
            else ()
        ),
    )


def _some(names: Iterable[str], most: int = 8) -> str:
    """Names, the first of them where there are many."""
    all_names = sorted(names)
    rest = len(all_names) - most
    return ", ".join(all_names[:most]) + (f" and {rest} more" if rest > 0 else "")
