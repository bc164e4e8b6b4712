"""The picture of a migration: its rounds with their gates, a lane for each member, and the lag. Times between two runs
are left out."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cli.render import lanes as draw
from cli.render.document import Picture
from cli.verbs.migrate.course import HookCourse, MigrationCourse, RoundCourse, moment_text
from cli.verbs.watch.event_text import clock_text
from cli.verbs.watch.picture import HEIGHT, KINDS_COUNT, LEFT, RIGHT, short_clock_text
from groups.counts import counted
from groups.times import duration_text, seconds_text

MOST_LANES = 60
CLOSED = "bar"
LAG_HEIGHT = 34
_PAUSE_SHARE = 30  # Between two runs, this part of the picture is left blank
_LEAST_TICK = 70.0  # The least distance of two times, in the units of a drawing


@dataclass(frozen=True, slots=True)
class Times:
    """Maps times, in ms since 1970, to the axis, on which runs follow each other after a pause."""

    starts: Sequence[int]
    offsets: Sequence[int]  # What is subtracted from the times of each run

    @classmethod
    def of(cls, course: MigrationCourse) -> "Times":
        lasted_ms = sum(run.ended_ms - run.began_ms for run in course.runs)
        pause_ms = max(lasted_ms // _PAUSE_SHARE, 1)
        offsets: list[int] = []
        for before, run in zip([None, *course.runs], course.runs, strict=False):
            gap = 0 if before is None else max(run.began_ms - before.ended_ms - pause_ms, 0)
            offsets.append((offsets[-1] if offsets else 0) + gap)
        return cls([run.began_ms for run in course.runs], offsets)

    def at(self, ms: int) -> int:
        return ms - self.offsets[max(bisect_right(self.starts, ms) - 1, 0)]


def picture_of(course: MigrationCourse) -> Picture | None:
    """None if no command ran."""
    if not course.names:
        return None
    rounds, members = counted(len(course.rounds), "round"), counted(len(course.names), "member")
    return Picture(text=f"{rounds} and {members}, {_when(course)}.", drawing=lambda: _drawing(course))


def _when(course: MigrationCourse) -> str:
    return f"{moment_text(course.began_ms)} to {moment_text(course.ended_ms)}"


def _drawing(course: MigrationCourse) -> draw.Drawing:
    times = Times.of(course)
    start, end = times.at(course.began_ms), times.at(course.ended_ms)
    end = max(end + (end - start) // 60, start + 1)  # What is last is visible
    axis = draw.Axis(left=LEFT, start=start, end=end, unit=(draw.WIDTH - LEFT - RIGHT) / (end - start))
    steps = {round_.step for round_ in course.rounds if not round_.is_rollback}
    has_failed = course.stops or any(command.problem for one in course.rounds for command in one.commands)
    legend = [
        (CLOSED, "gate closed"),
        (draw.AWAY, "stopped, or not in the group again"),
        *([(draw.NONE, "command failed, or stopped by a rule")] if has_failed else []),
        ("k0", "as before the migration"),
        *((f"k{_style(step)[1:]}", f"with step {step}") for step in sorted(steps)[: KINDS_COUNT - 1]),
    ]
    members = list(course.names)[:MOST_LANES]
    lanes = [_rounds_lane(course, times, axis), *(_member_lane(course, one, times) for one in members)]
    if any(lag_s for _, lag_s in course.lags):
        lanes.append(_lag_lane(course, times))
    rules = [times.at(run.began_ms) for run in course.runs[1:]]
    runs = draw.Lane(height=0, rules=rules, rule_height=sum(lane.height for lane in lanes))
    rest = _rest_lanes(len(course.names) - len(members), axis)
    return draw.Drawing(
        title=f"{course.group}: the migration round by round",
        text=_when(course),
        axis=axis,
        legend=legend,
        lanes=[runs, *lanes, _clock_lane(course, times, axis), *rest],
    )


def _style(step: int) -> str:
    return f"t{step % KINDS_COUNT}"


def _rounds_lane(course: MigrationCourse, times: Times, axis: draw.Axis) -> draw.Lane:
    """A box per round, with a bar while its gate was closed; and when a run stopped."""
    spans = []
    for position, round_ in enumerate(course.rounds):
        later = course.rounds[position + 1].began_ms if position + 1 < len(course.rounds) else course.ended_ms
        spans.append(_round_box(course, round_, max(later, round_.opened_ms or 0), times, axis))
    for at_ms, stop in course.stops:
        title = f"{clock_text(at_ms)} UTC: stopped by the rule {stop.text('rule')}"
        at, height = times.at(at_ms), HEIGHT - 2
        spans.append(draw.Box(start=at, end=at + 4 / axis.unit, style=draw.NONE, title=title, height=height))
    return draw.Lane(height=HEIGHT + 2, texts=(draw.Label("rounds", y=13),), spans=spans)


def _round_box(
    course: MigrationCourse, round_: RoundCourse, end_ms: int, times: Times, axis: draw.Axis
) -> draw.Box:
    opened_ms, is_back = round_.opened_ms, round_.is_rollback
    name = f"{'back ' if is_back else ''}{round_.step}.{round_.round}"
    lasted_ms = course.lasted_ms(round_.began_ms, opened_ms or round_.began_ms)
    waited = "not known" if opened_ms is None else f"open after {duration_text(lasted_ms)}"
    title = f"{'rollback, ' if is_back else ''}step {round_.step}, round {round_.round}: gate {waited}"
    start, end = times.at(round_.began_ms), times.at(end_ms)
    closed_end = end if opened_ms is None else times.at(opened_ms)
    closed = draw.Box(start=start, end=closed_end, style=CLOSED, title=title, top=HEIGHT - 5, height=3)
    return draw.labeled_box(start, end, name, title, axis, height=HEIGHT - 2, bars=(closed,))


def _member_lane(course: MigrationCourse, member: str, times: Times) -> draw.Lane:
    """The configuration that a member runs with, by color, and when it was stopped or away."""
    name = course.names[member]
    lane = _Spans(name, times)
    since_ms, style, what = course.began_ms, _style(0), "as before the migration"
    commands = ((round_, command) for round_ in course.rounds for command in round_.commands)
    for round_, command in commands:
        if member not in command.members:
            continue
        lane.add(since_ms, command.began_ms, style, what)
        number = 0 if round_.is_rollback else round_.step
        back_ms = _back_ms(course, member, command)
        ended_ms = course.ended_ms if command.ended_ms is None else command.ended_ms
        if command.problem:
            lane.add(command.began_ms, ended_ms, draw.NONE, f"{command.action} failed: {command.problem}")
            since_ms, style = ended_ms, draw.AWAY
            what = f"not known after the command for step {round_.step} failed"
            continue
        lane.add(command.began_ms, back_ms, draw.AWAY, f"{command.action} for step {round_.step}")
        since_ms, style = back_ms, _style(number)
        what = f"with step {number}" if number else "as before the migration"
    lane.add(since_ms, course.ended_ms, style, what)
    texts = (draw.Label(draw.shortened(name, LEFT - 12), y=14, title=name),)
    return draw.Lane(height=HEIGHT, texts=texts, spans=lane.boxes)


class _Spans:
    """Collects the spans of a member's lane."""

    def __init__(self, name: str, times: Times) -> None:
        self._name, self._times = name, times
        self.boxes: list[draw.Box] = []

    def add(self, start_ms: int, end_ms: int, style: str, what: str) -> None:
        if end_ms > start_ms:
            title = f"{self._name}: {what}, from {clock_text(start_ms)} UTC for {duration_text(end_ms - start_ms)}"
            start, end = self._times.at(start_ms), self._times.at(end_ms)
            box = draw.Box(start=start, end=end, style=style, title=title, top=1, height=HEIGHT - 3)
            strip = replace(box, style=f"k{style[1:]}", title="", top=HEIGHT - 5, height=3)
            self.boxes.append(replace(box, bars=(strip,)) if style.startswith("t") else box)


def _back_ms(course: MigrationCourse, member: str, command: HookCourse) -> int:
    """When the member was in the group again; of one that is only stopped, when it is started again."""
    if command.action == "stop":
        return course.ended_ms
    returned = (at_ms for at_ms, one in course.returns if one == member and at_ms >= command.began_ms)
    return next(returned, course.ended_ms)


def _lag_lane(course: MigrationCourse, times: Times) -> draw.Lane:
    """The lag, as high as the longest one is long."""
    longest_s = max(lag_s for _, lag_s in course.lags)
    ends = [*(at_ms for at_ms, _ in course.lags[1:]), course.ended_ms]
    boxes = []
    for (at_ms, lag_s), end_ms in zip(course.lags, ends, strict=True):
        height = (LAG_HEIGHT - 6) * lag_s / longest_s
        if height > 0 and end_ms > at_ms:
            title = f"lag: {seconds_text(lag_s)}, {clock_text(at_ms)} UTC"
            start, end, top = times.at(at_ms), times.at(end_ms), LAG_HEIGHT - 3 - height
            boxes.append(draw.Box(start=start, end=end, style="k3", title=title, top=top, height=height))
    most = f"lag, at most {seconds_text(longest_s)}"
    return draw.Lane(height=LAG_HEIGHT, texts=(draw.Label(most, y=LAG_HEIGHT / 2 + 4),), spans=boxes)


def _clock_lane(course: MigrationCourse, times: Times, axis: draw.Axis) -> draw.Lane:
    """Times of the day, in UTC: round ones, and those at which a run continued."""
    marks: list[tuple[float, int]] = []
    for run in course.runs:
        places = [run.began_ms] if run.is_resumed else []
        for ms in [*places, *draw.clock_places(run.began_ms, max(run.ended_ms, run.began_ms + 1))]:
            x = axis.x(times.at(ms))
            if not marks or x >= marks[-1][0] + _LEAST_TICK:
                marks.append((x, ms))
    texts = [draw.Label(short_clock_text(ms), y=12, at=times.at(ms), style="faint middle") for _, ms in marks]
    return draw.Lane(height=16, texts=texts)


def _rest_lanes(left_out: int, axis: draw.Axis) -> Iterator[draw.Lane]:
    if left_out > 0:
        label = draw.Label(counted(left_out, "more member"), y=12, at=axis.start, style="faint")
        yield draw.Lane(height=16, texts=(label,))
    yield draw.Lane(height=8)
