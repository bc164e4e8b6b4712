"""The course of a migration, from the event documents of all runs of a plan: what a report shows. Events may be
damaged, missing, or of another version."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cli.verbs.migrate.event_documents import Event
from groups.times import format_moment, read_moment

FURTHEST_MS = 400 * 86_400_000  # A time further from the first one is an error
LAG = "most_lag_s"
ENDS = ("finished", "stopped", "rolled-back")


@dataclass(slots=True, kw_only=True)
class HookCourse:
    """One run of the operator's command; times are in ms since 1970."""

    name: str
    action: str
    members: Sequence[str]  # The ids that they had when the plan was made
    began_ms: int
    ended_ms: int | None = None  # None: not known, because Kohort was killed
    lasted_s: float | None = None
    problem: str = ""


@dataclass(slots=True, kw_only=True)
class RoundCourse:
    step: int
    round: int
    is_rollback: bool
    names: Sequence[str]
    began_ms: int
    opened_ms: int | None = None  # When its gate opened
    commands: list[HookCourse] = field(default_factory=list)

    @property
    def gate_since_ms(self) -> int:
        """Since when its gate was awaited: the end of its last command."""
        return max((command.ended_ms or command.began_ms for command in self.commands), default=self.began_ms)


@dataclass(slots=True, kw_only=True)
class StepCourse:
    title: str = ""
    measured: list[Event] = field(default_factory=list)  # In each run that wrote it down
    rehearsed: Event = field(default_factory=lambda: Event({}))
    is_complete: bool = False
    is_partial: bool = False  # Whether a run was killed in it: what it had cost until then is not known

    def cost(self, figure: str) -> float | None:
        """What it cost in all runs together; of a lag, the longest. None: not known."""
        values = [measured.number(figure) for measured in self.measured]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return None
        return max(known) if figure == LAG else sum(known)


@dataclass(slots=True, kw_only=True)
class RunCourse:
    """From a start of Kohort to its end."""

    began_ms: int
    ended_ms: int
    who: str
    end: str = ""  # `finished`, `stopped`, `rolled-back`; empty if it was killed, or is still running
    is_resumed: bool = False


@dataclass(slots=True, kw_only=True)
class MigrationCourse:
    group: str
    began: Event = field(default_factory=lambda: Event({}))  # The last `run-began`
    runs: list[RunCourse] = field(default_factory=list)
    steps: dict[int, StepCourse] = field(default_factory=dict)  # From 1
    rounds: list[RoundCourse] = field(default_factory=list)
    stops: list[tuple[int, Event]] = field(default_factory=list)
    returns: list[tuple[int, str]] = field(default_factory=list)  # Times, and the ids of members
    lags: list[tuple[int, float]] = field(default_factory=list)  # Times, and seconds
    events: list[tuple[int, Event]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # Of members, by id

    @property
    def end(self) -> str:
        return self.runs[-1].end if self.runs else ""

    @property
    def began_ms(self) -> int:
        return self.runs[0].began_ms if self.runs else 0

    @property
    def ended_ms(self) -> int:
        return self.runs[-1].ended_ms if self.runs else 0

    @property
    def stop(self) -> Event | None:
        """Why the last run stopped, or was rolled back."""
        return self.stops[-1][1] if self.stops and self.end in ("stopped", "rolled-back") else None

    def lasted_ms(self, start_ms: int, end_ms: int) -> int:
        """The time between two moments, without that between two runs."""
        spans = ((max(run.began_ms, start_ms), min(run.ended_ms, end_ms)) for run in self.runs)
        return sum(max(end - start, 0) for start, end in spans)

    def gate_wait_ms(self, round_: RoundCourse) -> int:
        """How long a gate was awaited after the last command: until it opened, or something else was begun."""
        later = (one.began_ms for one in self.rounds if one.began_ms > round_.gate_since_ms)
        end_ms = next(later, self.ended_ms) if round_.opened_ms is None else round_.opened_ms
        return self.lasted_ms(round_.gate_since_ms, end_ms)

    def step(self, number: int) -> StepCourse:
        return self.steps.setdefault(number, StepCourse())


def courses_of(documents: Iterable[Mapping[str, object]]) -> list[MigrationCourse]:
    """The course of each group, in the order of their first events."""
    by_group: dict[str, list[Event]] = {}
    for document in documents:
        event = Event(document)
        if event.kind and isinstance(document.get("group"), str):
            by_group.setdefault(event.group, []).append(event)
    return [_course_of(group, events) for group, events in by_group.items()]


def _course_of(group: str, events: Sequence[Event]) -> MigrationCourse:
    course = MigrationCourse(group=group)
    course.events = list(_timed(events))
    for at_ms, event in course.events:
        if event.kind == "run-began" or not course.runs:
            _begin(course, at_ms, event)
        course.runs[-1].ended_ms = at_ms
        lag_s = event.number("lag_s")
        if lag_s is not None:
            course.lags.append((at_ms, max(lag_s, 0.0)))
        _add(course, at_ms, event)
    return course


def _timed(events: Sequence[Event]) -> Iterator[tuple[int, Event]]:
    """The events with their times, which never go back; an unknown time is that of the event before."""
    times = [_time_of(event) for event in events]
    first = next((at_ms for at_ms in times if at_ms is not None), 0)
    latest = first
    for at_ms, event in zip(times, events, strict=True):
        if at_ms is not None and latest < at_ms < first + FURTHEST_MS:
            latest = at_ms
        yield latest, event


def _time_of(event: Event) -> int | None:
    try:
        return read_moment(event.at, None)
    except ValueError:
        return None


def _begin(course: MigrationCourse, at_ms: int, event: Event) -> None:
    if course.runs and not course.runs[-1].end and course.rounds and not course.rounds[-1].is_rollback:
        course.step(course.rounds[-1].step).is_partial = True
    is_resumed, who = bool(course.runs) or event.truth("resumed") is True, event.text("who")
    course.runs.append(RunCourse(began_ms=at_ms, ended_ms=at_ms, who=who, is_resumed=is_resumed))
    if event.kind == "run-began":
        course.began = event
        for number, of_step in enumerate(event.parts("steps"), 1):
            step = course.step(number)
            step.title = of_step.text("title")
            step.rehearsed = of_step.part("rehearsed")


def _add(course: MigrationCourse, at_ms: int, event: Event) -> None:
    step, _ = event.place
    match event.kind:
        case "round-began":
            _new_round(course, at_ms, event)
        case "hook-began":
            members = event.texts("members")
            course.names.update({member: event.text("name") or member for member in members[:1]})
            command = HookCourse(
                name=event.text("name") or ", ".join(members),
                action=event.text("action") or "restart",
                members=members,
                began_ms=at_ms,
            )
            (_round_of(course, event) or _new_round(course, at_ms, event)).commands.append(command)
        case "hook-ended":
            _end_command(course, at_ms, event)
        case "member-returned":
            course.names.setdefault(event.text("member"), event.text("name"))
            course.returns.append((at_ms, event.text("member")))
        case "gate" if event.truth("open") is True:
            round_ = _round_of(course, event)
            if round_ is not None and round_.opened_ms is None:
                _open(course, round_, at_ms)
        case "step-ended":
            last = next((one for one in reversed(course.rounds) if one.step == step), None)
            if last is not None and last.opened_ms is None:
                _open(course, last, at_ms)
            if step > 0 and not event.truth("rollback"):
                _cost(course.step(step), event).is_complete = True
        case "stopped" | "rolling-back" if event.text("rule") or event.kind == "stopped":
            course.stops.append((at_ms, event))
            if step > 0 and not event.truth("rollback"):
                _cost(course.step(step), event)
    if event.kind in ENDS:
        course.runs[-1].end = event.kind
    elif event.kind == "rolling-back":
        course.runs[-1].end = ""


def _cost(step: StepCourse, event: Event) -> StepCourse:
    if event.part("measured").document:
        step.measured.append(event.part("measured"))
    step.rehearsed = event.part("rehearsed") if event.part("rehearsed").document else step.rehearsed
    return step


def _round_of(course: MigrationCourse, event: Event) -> RoundCourse | None:
    """The latest round at the event's place."""
    key, rounds = (*event.place, event.truth("rollback") is True), reversed(course.rounds)
    return next((one for one in rounds if (one.step, one.round, one.is_rollback) == key), None)


def _new_round(course: MigrationCourse, at_ms: int, event: Event) -> RoundCourse:
    (step, round_), is_back, names = event.place, event.truth("rollback") is True, event.texts("names")
    began = RoundCourse(step=step, round=round_, is_rollback=is_back, names=names, began_ms=at_ms)
    course.rounds.append(began)
    return began


def _end_command(course: MigrationCourse, at_ms: int, event: Event) -> None:
    round_ = _round_of(course, event)
    running = [one for one in round_.commands if one.ended_ms is None] if round_ else []
    command = next((one for one in running if one.name == event.text("name")), None)
    if command is not None:
        command.ended_ms, command.problem = at_ms, event.text("problem")
        command.lasted_s = event.number("lasted_s")


def _open(course: MigrationCourse, round_: RoundCourse, at_ms: int) -> None:
    """The gate shows that every member of the round is where it belongs, also if a former run did not see it return."""
    round_.opened_ms = at_ms
    for command in round_.commands:
        course.returns += [(at_ms, member) for member in command.members if command.action != "stop"]


def moment_text(ms: int) -> str:
    """`2026-03-01T22:00:00Z`: events have no milliseconds."""
    return format_moment(ms).replace(".000Z", "Z")
