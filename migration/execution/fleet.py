"""Which groups of a fleet begin, and why the others wait: a state machine without I/O.

The canaries come first, each alone, and the fleet continues only when they have finished. The others follow in waves,
groups that a former run began before new ones, small groups before large ones. A wave begins when all groups of the one
before have ended. When the windows close, nothing begins, and the groups of the wave are held after the round in
progress: a group between two rounds can stay so for a day. Not so one whose members are stopped, or that has a bridge:
it runs to its end, and so begins only if the window is long enough.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import Enum
from zoneinfo import ZoneInfo

from migration.model import Plan, RoundAction

# Times of the day in which a run may restart members, by the clock of a time zone

_TEXT = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})(?:[ @](?P<zone>[\w+/-]+))?")
_MINUTE = timedelta(minutes=1)
_DAYS = 3  # Every window opens and closes within two days, also where a day of 23 hours leaves one out


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From `opens` until before `closes` by the clock on the wall, over midnight if it closes earlier than it opens."""

    opens: time
    closes: time
    zone: ZoneInfo | None = None  # None: the zone of this machine

    def __str__(self) -> str:
        zone = f"@{self.zone.key}" if self.zone else ""
        return f"{self.opens:%H:%M}-{self.closes:%H:%M}{zone}"

    def is_open(self, at: datetime) -> bool:
        now = at.astimezone(self.zone).time()
        if self.opens < self.closes:
            return self.opens <= now < self.closes
        return now >= self.opens or now < self.closes

    @property
    def lasts_s(self) -> float:
        minutes = 60 * (self.closes.hour - self.opens.hour) + self.closes.minute - self.opens.minute
        return minutes % (24 * 60) * 60.0


def read_window(text: str) -> Window:
    """`22:00-05:00` in the zone of this machine, or `22:00-05:00@Europe/Berlin`. ValueError for anything else."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r}: expected a window such as 22:00-05:00 or 22:00-05:00@Europe/Berlin")
    first_hour, first_minute, last_hour, last_minute = map(int, match.groups()[:4])
    try:
        opens = time(first_hour, first_minute)
        closes = time(0) if (last_hour, last_minute) == (24, 0) else time(last_hour, last_minute)
    except ValueError:
        raise ValueError(f"{text!r}: not a time of the day") from None
    if opens == closes:
        raise ValueError(f"{text!r}: it opens when it closes; without --window a run is never held")
    return Window(opens=opens, closes=closes, zone=_zone(match["zone"]))


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return None if name is None else ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # a name of a directory is an OSError
        raise ValueError(f"{name!r}: this machine has no such time zone") from None


def is_open(windows: Sequence[Window], at: datetime) -> bool:
    """Whether one of the windows is open; always if there are none."""
    return not windows or any(window.is_open(at) for window in windows)


def next_change(windows: Sequence[Window], at: datetime) -> datetime | None:
    """The minute at which the windows, all together, close or open next; None if they never do."""
    if not windows:
        return None
    minute, before = at.replace(second=0, microsecond=0), is_open(windows, at)
    later = (minute + _MINUTE * count for count in range(1, _DAYS * 24 * 60))
    return next((one for one in later if is_open(windows, one) != before), None)


# Groups and waves


class GroupPhase(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    HELD = "held"  # Interrupted after a round, by the window or by the operator
    FINISHED = "finished"
    STOPPED = "stopped"


class Spread(Enum):
    COORDINATOR = "coordinator"
    HOST = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetGroup:
    name: str
    members: int
    coordinator: int | None = None  # The broker's id; None: not known, as if all such groups shared one
    hosts: frozenset[str] = frozenset()
    can_be_held: bool = True  # Whether it can stay as it is between any two rounds
    lasts_s: float = 0.0  # Roughly
    phase: GroupPhase = GroupPhase.WAITING  # Or how it ended before
    has_begun: bool = False  # In a former run


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveOptions:
    first: tuple[str, ...] = ()  # The canaries; empty: the smallest group
    at_once: int = 1
    pause_s: float = 0.0  # Between two waves
    spread: frozenset[Spread] = frozenset()  # What two groups of a wave may not share
    most_stopped: int = 1  # When that many groups have stopped, no other begins
    windows: tuple[Window, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    begin: tuple[str, ...] = ()  # Also groups that were held
    hold: tuple[str, ...] = ()  # Groups to interrupt after the round in progress


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetWait:
    why: str
    until: datetime | None = None  # None: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveStatus:
    """All that a view shows of a fleet besides the runs of its groups."""

    phases: Mapping[str, GroupPhase]  # In the order in which groups begin
    wave: int  # From 1, the canaries included; 0: none has begun
    is_canary: bool
    wait: FleetWait | None  # Why no group begins now; None if all have begun
    ends: str  # Why no group will begin any more, before all have; or empty


def fleet_group(plan: Plan, coordinator: int | None = None, watch_s: float = 0.0) -> FleetGroup:
    """A plan as a fleet sees it, not yet begun. One without steps is finished. `watch_s`: for how long a group is
    watched after its last gate."""
    members = plan.baseline.members if plan.baseline else ()
    rollouts = [step.rollout for step in plan.steps if step.rollout]
    return FleetGroup(
        name=plan.group,
        members=len(members),
        coordinator=coordinator,
        hosts=frozenset(member.host for member in members if member.host),
        can_be_held=all(
            rollout.action is RoundAction.RESTART and not rollout.temporary_members and not rollout.leaving
            for rollout in rollouts
        ),
        lasts_s=sum(_lasts_s(plan)) + watch_s,
        phase=GroupPhase.WAITING if plan.steps else GroupPhase.FINISHED,
    )


def _lasts_s(plan: Plan) -> Iterator[float]:
    """The seconds of each step, as rehearsed at worst; else as if each round took a restart and nothing more."""
    for step in plan.steps:
        rehearsed = step.rehearsed.worst.lasted_s if step.rehearsed else None
        yield len(step.rounds) * plan.bounce_s if rehearsed is None else rehearsed


_NEVER = datetime.min.replace(tzinfo=UTC)


class Fleet:
    """Call `next` once a second or so and do what it says; report each end of a run with `ended`."""

    def __init__(self, groups: Sequence[FleetGroup], options: WaveOptions) -> None:
        """Raises ValueError: two plans are for the same group, or a canary has no plan."""
        self._groups = {group.name: group for group in groups}
        if len(self._groups) < len(groups):
            raise ValueError("two plans are for the same group")
        for name in options.first:
            if name not in self._groups:
                raise ValueError(f"--first names {name}, for which there is no plan")
        self._options = options
        self._phases = {group.name: group.phase for group in groups}
        smallest = sorted(groups, key=lambda group: (not group.has_begun, group.members, group.name))
        movable = [group for group in groups if group.has_begun or group.phase is GroupPhase.WAITING]
        least = min(movable, key=lambda group: (group.members, group.name), default=None)
        self.canaries = options.first or ((least.name,) if least else ())
        self._order = list(dict.fromkeys((*self.canaries, *(group.name for group in smallest))))
        self._wave: tuple[str, ...] = ()
        self._number = 0
        self._wave_ended_s: float | None = None
        self._unchanged = _NEVER, _NEVER
        """The times between which the windows do not change, to search for them once."""
        self._holding: set[str] = set()
        self._stopped = 0
        self._ends = ""

    @property
    def is_over(self) -> bool:
        phases = set(self._phases.values())
        remaining = {GroupPhase.WAITING, GroupPhase.HELD} & phases
        return GroupPhase.RUNNING not in phases and (bool(self._ends) or not remaining)

    # What goes in

    def next(self, now: datetime, at_s: float) -> Moves:
        """`now` has a zone; `at_s` is of a clock that never goes back."""
        if not is_open(self._options.windows, now):
            running = [name for name in self._in(GroupPhase.RUNNING) if name not in self._holding]
            hold = [name for name in running if self._groups[name].can_be_held]
            self._holding.update(hold)
            return Moves(hold=tuple(hold))
        if self._ends:
            return Moves()
        begin = self._in(GroupPhase.HELD)
        if self._wave_is_over and not self._pauses(at_s):
            wave = self._next_wave(now)
            if wave:
                self._wave, self._number = wave, self._number + 1
            begin += wave
        self._holding.difference_update(begin)
        self._phases.update(dict.fromkeys(begin, GroupPhase.RUNNING))
        return Moves(begin=begin)

    def ended(self, name: str, phase: GroupPhase, at_s: float) -> None:
        """The run of a group has ended: FINISHED, STOPPED or HELD."""
        self._phases[name] = phase
        self._wave_ended_s = at_s
        if phase is not GroupPhase.STOPPED:
            return
        self._stopped += 1
        if name in self.canaries:
            self._ends = self._ends or f"The canary {name} stopped."
        elif self._stopped >= self._options.most_stopped:
            stopped = "A group" if self._stopped == 1 else f"{self._stopped} groups"
            self._ends = self._ends or f"{stopped} stopped, and --max-stopped allows no more."

    def interrupt(self) -> None:
        """No group begins any more. The caller interrupts the runs."""
        self._ends = self._ends or "Interrupted."

    # What comes out

    def status(self, now: datetime, at_s: float) -> WaveStatus:
        return WaveStatus(
            phases={name: self._phases[name] for name in self._order},
            wave=self._number,
            is_canary=bool(self._wave) and self._wave[0] in self.canaries,
            wait=None if self._ends else self._wait(now, at_s),
            ends=self._ends,
        )

    def _wait(self, now: datetime, at_s: float) -> FleetWait | None:
        windows = self._options.windows
        if not self._in(GroupPhase.WAITING, GroupPhase.HELD):
            return None
        if not is_open(windows, now):
            names = ", ".join(map(str, windows))
            return FleetWait(why=f"outside of --window {names}", until=self._next_change(now))
        if not self._wave_is_over and not self._in(GroupPhase.RUNNING):
            return None  # Those that were held begin now
        if not self._wave_is_over:
            wave = "the canary has" if self._wave[0] in self.canaries else f"wave {self._number} has"
            return FleetWait(why=f"until {wave} ended")
        if remaining_s := self._pauses(at_s):
            return FleetWait(why="a pause between two waves", until=now + timedelta(seconds=remaining_s))
        if self._next_wave(now):
            return None
        closes = self._next_change(now)
        why = f"{self._candidates()[0]} cannot be held when the window closes, and would not end before"
        return FleetWait(why=why, until=closes and next_change(windows, closes))

    def _next_change(self, now: datetime) -> datetime | None:
        since, until = self._unchanged
        if not since <= now < until:
            change = next_change(self._options.windows, now)
            self._unchanged = now, change or now
            return change
        return until

    def _in(self, *phases: GroupPhase) -> tuple[str, ...]:
        return tuple(name for name in self._order if self._phases[name] in phases)

    @property
    def _wave_is_over(self) -> bool:
        return not any(self._phases[name] in (GroupPhase.RUNNING, GroupPhase.HELD) for name in self._wave)

    def _pauses(self, at_s: float) -> float:
        """The seconds until the next wave may begin."""
        since_s = None if self._wave_ended_s is None else at_s - self._wave_ended_s
        return 0.0 if since_s is None else max(0.0, self._options.pause_s - since_s)

    def _candidates(self) -> tuple[str, ...]:
        """A canary that has not finished comes alone."""
        waiting = self._in(GroupPhase.WAITING)
        return waiting[:1] if waiting and waiting[0] in self.canaries else waiting

    def _next_wave(self, now: datetime) -> tuple[str, ...]:
        wave: list[str] = []
        taken: set[object] = set()
        closes = self._next_change(now)
        remaining_s = (closes - now).total_seconds() if closes else None
        for name in self._candidates():
            group = self._groups[name]
            shared = set(self._shared(group))
            if len(wave) < self._options.at_once and self._fits(group, remaining_s) and not taken & shared:
                wave.append(name)
                taken |= shared
        return tuple(wave)

    def _shared(self, group: FleetGroup) -> Collection[object]:
        coordinators = (group.coordinator,) if Spread.COORDINATOR in self._options.spread else ()
        hosts = group.hosts if Spread.HOST in self._options.spread else ()
        return (*coordinators, *hosts)

    def _fits(self, group: FleetGroup, remaining_s: float | None) -> bool:
        """Whether it can be held, or ends before the window closes; if no window is long enough for it, any is."""
        longest_s = max((window.lasts_s for window in self._options.windows), default=0.0)
        is_too_long = group.lasts_s > longest_s - 60
        return group.can_be_held or remaining_s is None or is_too_long or group.lasts_s <= remaining_s
