"""The checks, deviations and result of a gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groups.counts import first_names
from migration.model import PlannedMember


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedMember:
    """A member that a gate waits for."""

    label: str
    """Its instance id or client id if it has one, else its member id."""
    id: str
    """Its present or last id in the group."""
    host: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of the group, and its result."""

    check: str
    """Its name: a condition's tag in plan files, or the name of a check of every gate (`rest`)."""
    holds: bool | None
    """None: unknown."""
    text: str
    awaited: tuple[AwaitedMember, ...] = ()
    by_waiting: bool = True
    """Whether waiting may change the answer."""


def yes(check: str, text: str) -> Check:
    """A check that holds."""
    return Check(check=check, holds=True, text=text)


def no(check: str, text: str, *, awaited: Sequence[AwaitedMember] = (), by_waiting: bool = True) -> Check:
    """A check that does not hold."""
    return Check(check=check, holds=False, text=text, awaited=tuple(awaited), by_waiting=by_waiting)


def undecided(check: str, text: str, *, by_waiting: bool = True) -> Check:
    """A check with an unknown result."""
    return Check(check=check, holds=None, text=text, by_waiting=by_waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedDeviation:
    """The group has left the plan."""

    message: str
    back_to: int
    """The index of the step to return to, from 0."""
    by_waiting: bool = False
    """Whether it may end by itself: an extra member may be a stopped one whose session has not expired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMismatch:
    """A difference between the group and the plan's group."""

    what: str
    plan: str
    now: str
    drift: bool = False
    """Whether the group is still the plan's, but its topics or members have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The result of a gate: the first of these fields that is not empty."""

    differences: tuple[PlanMismatch, ...] = ()
    """The plan is refused: it is not for this group, or no longer."""
    strayed: ObservedDeviation | None = None
    checks: tuple[Check, ...] = ()

    @property
    def open(self) -> bool | None:
        """True: continue. False: not complete, or off plan. None: unknown, or the plan was refused."""
        if self.differences:
            return None
        answers = {check.holds for check in self.checks}
        if self.strayed is not None or False in answers:
            return False
        return None if None in answers or not answers else True

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the gate is not open; empty if it is."""
        if self.differences:
            return tuple(f"{each.what}: {each.plan} in the plan, {each.now} now" for each in self.differences)
        texts = [self.strayed.message] if self.strayed else []
        is_open = self.open
        return (*texts, *(check.text for check in self.checks if check.holds is is_open is not True))

    @property
    def waiting_for(self) -> tuple[AwaitedMember, ...]:
        """The members that are missing, each once."""
        found: dict[str, AwaitedMember] = {}
        for check in self.checks:
            if check.holds is False:
                for one in check.awaited:
                    found.setdefault(one.id, one)
        return tuple(found.values())

    @property
    def is_final(self) -> bool:
        """Whether waiting cannot change the result."""
        if self.open or self.differences:
            return True
        if self.strayed is not None:
            return not self.strayed.by_waiting
        return any(check.holds is not True and not check.by_waiting for check in self.checks)


def await_all(members: Sequence[PlannedMember], why: str) -> tuple[AwaitedMember, ...]:
    """All members, awaited for the same reason."""
    return tuple(AwaitedMember(label=one.label, id=one.id, host=one.host, why=why) for one in members)


def name_all(members: Sequence[PlannedMember], most: int = 8) -> str:
    """Names for a message: `m1 (id x, host y), m2 (…) and 3 more`."""
    return first_names([_name(one) for one in members], most)


def _name(member: PlannedMember) -> str:
    known = [] if member.label == member.id else [f"id {member.id}"]
    known += [f"host {member.host}"] if member.host else []
    return f"{member.label} ({', '.join(known)})" if known else member.label
