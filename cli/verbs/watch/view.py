"""The output of a watch: a live view, lines of text, or a stream of JSON documents."""

import sys
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import starmap
from typing import NamedTuple, TextIO, TypeAlias

from cli.output import notice, write_out
from cli.render.cells import safe_text
from cli.render.document import Table, table_of
from cli.render.fit import short_names
from cli.render.headings import role_of
from cli.render.layout import column_lines
from cli.render.lines import Line, Piece, Role, folded, line_width, plain
from cli.render.redraw import Screen, marked, shortened
from cli.verbs.describe.migration import waits_text
from cli.verbs.watch.event_text import clock_text, epoch_words, event_lines, places_text
from cli.verbs.watch.feeds import Feed, TimedObservation
from cli.verbs.watch.recording import event_document, header_document, line_of, observation_document
from cli.verbs.watch.state import ObservedEvent, WatchedGroup, WatchState, owners_are_shown, topic_lags
from groups.counts import counted
from groups.listing import shown_id
from groups.model import Group, GroupState, GroupType, Partitions
from groups.times import duration_text, format_moment, seconds_text
from groups.transactions import pending_text
from migration.inspection import inspect

LONGEST_LOG = 500  # Maximum number of log lines kept for a screen
_TICK_S = 1.0
Write: TypeAlias = Callable[[Callable[[TextIO], object]], object]
"""`write_out`, or `write_next` where nothing is left to do without a reader."""


class Sink(ABC):
    """Receives every observation."""

    @abstractmethod
    def show(self, timed: TimedObservation, state: WatchState, happened: Sequence[ObservedEvent]) -> None:
        """Show one observation, the resulting state, and the events since the previous one."""

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


class ScreenSink(Sink):
    """The live view. When it is closed, its last view is printed to the normal screen."""

    def __init__(self, feed: Feed, stack: ExitStack, *, commits: bool) -> None:
        self._commits, self._log = commits, deque[LogLine](maxlen=LONGEST_LOG)
        self._shown = View(state=WatchState(), title=feed.title)
        self._failing_since: float | None = None
        self._failure = ""
        stack.callback(self._print_last)
        self._screen = stack.enter_context(Screen(sys.stdout))

    def show(self, timed: TimedObservation, state: WatchState, happened: Sequence[ObservedEvent]) -> None:
        self._log.extend(starmap(LogLine, event_lines(happened, state.labels, commits=self._commits)))
        self._failing_since = (self._failing_since or time.monotonic()) if timed.failure else None
        self._failure = timed.failure
        self._shown = replace(self._shown, state=state, before=self._shown.state, log=tuple(self._log))
        self._screen.draw(self._lines)

    def wait(self, seconds: float) -> None:
        self._screen.wait(seconds, tick_s=_TICK_S if self._failing_since is not None else None)

    def _lines(self, width: int, height: int) -> list[Line]:
        problem = ""
        if self._failing_since is not None:
            problem = f"no answer for {seconds_text(time.monotonic() - self._failing_since)}: {self._failure}"
        return view_lines(replace(self._shown, problem=problem), width, height)

    def _print_last(self) -> None:
        if self._shown.state.last is None:
            return
        width, height = self._screen.size
        lines = [plain(line) for line in self._lines(width, height)]
        write_out(lambda stream: stream.write("\n".join(lines).rstrip() + "\n"))


class LinesSink(Sink):
    """Prints only the log, for pipes and files: the initial state, then a line per event."""

    def __init__(self, write: Write, *, commits: bool) -> None:
        self._write, self._commits, self._known, self._failure = write, commits, set[str](), ""
        self._pending: dict[str, frozenset[tuple[str, int]]] = {}

    def show(self, timed: TimedObservation, state: WatchState, happened: Sequence[ObservedEvent]) -> None:
        observation, at_ms = timed.observation, timed.observation.at_ms
        problems = (f"{problem.subject}: {problem.message}" for problem in observation.problems)
        printed = timed.failure or "\n".join(problems)  # a reason is printed once while it lasts
        if printed and printed != self._failure:
            notice(printed)
        elif self._failure and not printed:
            notice("the cluster answers again")
        self._failure = printed
        lines = [
            (at_ms, name, _summary(state, name)) for name in observation.groups if name not in self._known
        ]
        self._known |= observation.groups.keys()
        for name, group in observation.groups.items():
            if group is not None and group.pending is not None:
                before, self._pending[name] = self._pending.get(name, frozenset()), group.pending.places
                if group.pending.places != before:
                    text = (
                        pending_text(group.pending, at_ms) or "no offset is pending in a transaction any more"
                    )
                    lines.append((at_ms, name, text))
        lines += event_lines(happened, state.labels, commits=self._commits)
        if lines:
            text = "".join(
                f"{clock_text(at_ms)} {safe_text(shown_id(group))}: {safe_text(line)}\n"
                for at_ms, group, line in lines
            )
            self._write(lambda stream: stream.write(text))


class JsonSink(Sink):
    """Prints observations and the events between them, one document per line."""

    def __init__(self, write: Write, feed: Feed) -> None:
        self._write, self._header = write, [line_of(header_document(feed.header))]

    def show(self, timed: TimedObservation, state: WatchState, happened: Sequence[ObservedEvent]) -> None:
        lines, self._header = self._header, []
        lines += [line_of(event_document(observed, state.labels)) for observed in happened]
        lines.append(line_of(observation_document(timed.observation)))
        self._write(lambda stream: stream.writelines(lines))


def _summary(state: WatchState, name: str) -> str:
    watched = state.groups[name]
    group = watched.merged
    if group is None:
        return "there is no such group"
    parts = [group.type.value, group.state.value, *epoch_words(group)]
    parts += [counted(len(group.members), "member"), counted(len(watched.wanted), "partition")]
    parts += [f"{len(watched.unowned):,} without an owner"] if watched.unowned else []
    return ", ".join(parts)


LEAST_LOG = 4  # Minimum number of lines for the log
LABEL = 30  # Width of names of members and topics; more only if they would not stay unique
MOST_OF_A_PROBLEM = 3  # Maximum number of lines of a problem
_SETTLED = (GroupState.STABLE, GroupState.EMPTY)


class LogLine(NamedTuple):
    at_ms: int
    group: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    state: WatchState
    before: WatchState | None = None  # The previous state: changes since then are marked
    log: Sequence[LogLine] = ()
    title: str = ""  # The source and the interval, or the recording
    problem: str = ""  # Why the last observation failed


def view_lines(shown: View, width: int, height: int) -> list[Line]:
    """The whole screen: never more than `height` lines. Rows of tables may be wider: they are cut."""
    head = list(_head(shown, width))
    names = list(shown.state.groups)
    room = max(height - len(head) - min(LEAST_LOG, height // 4), 1)
    blocks = [
        [*_group_lines(shown, name, shown.before.groups.get(name) if shown.before else None, width), ()]
        for name in names
    ]
    shares = _shares([len(block) for block in blocks], room)
    body = [line for block, share in zip(blocks, shares, strict=True) for line in shortened(block, share)]
    left = height - len(head) - len(body)
    newest: list[Line] = []
    for line in reversed(shown.log):
        if len(newest) >= left:
            break
        newest = [*_log_lines(line, width, several=len(names) > 1), *newest]
    newest = newest[-left:] if left > 0 else []
    return [*head, *body, *newest][:height]


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """The number of lines for each block: as many as it needs, or an equal share of the rest."""
    shares = [0] * len(sizes)
    by_size = sorted(range(len(sizes)), key=lambda position: sizes[position])
    for turn, position in enumerate(by_size):
        shares[position] = min(sizes[position], max((room - sum(shares)) // (len(sizes) - turn), 1))
    return shares


def _head(shown: View, width: int) -> Iterator[Line]:
    last = shown.state.last
    at = format_moment(last.at_ms) if last else ""
    yield (Piece("kohort watch  ", Role.HEADING), Piece(f"{at}  {safe_text(shown.title)}", Role.FAINT))
    problems = last.problems[:2] if last else ()
    texts = [f"{problem.subject}: {problem.message}" for problem in problems]
    for text in [shown.problem] if shown.problem else texts:
        yield from folded(safe_text(text), width, Role.BAD)[:MOST_OF_A_PROBLEM]
    yield ()


def _log_lines(line: LogLine, width: int, *, several: bool) -> list[Line]:
    """The lines of a log entry: the time, and the text next to it."""
    time = f"{clock_text(line.at_ms)}  "
    text = f"{shown_id(line.group)}: {line.text}" if several else line.text
    first, *more = folded(safe_text(time + text), width, indent=len(time))
    return [(Piece(time, Role.FAINT), Piece(first[0].text[len(time) :])), *more]


def _group_lines(shown: View, name: str, before: WatchedGroup | None, width: int) -> Iterator[Line]:
    """The lines of a group; problems and lag precede members: a screen cannot show all members of a large group."""
    state = shown.state.groups[name]
    group = state.shown
    if group is None or state.merged is None:
        yield (Piece(safe_text(shown_id(name)), Role.HEADING), Piece("  there is no such group"))
        return
    yield from _state_lines(group, before.shown if before else None, len(state.wanted), width)
    yield from _unowned_lines(state, width)
    if group.pending is not None and group.pending.partitions:
        yield from folded(safe_text(pending_text(group.pending, state.at_ms)), width, Role.BAD)
    lags = _lags_table(shown.state, name, state, width)
    if lags.rows:
        earlier = _lags_table(shown.before, name, before, width) if shown.before and before else None
        yield from column_lines(lags.columns, marked(lags, earlier))
    yield from _waits_lines(group, width)
    if group.members:
        earlier = _members_table(before.merged, width) if before and before.merged else None
        members = _members_table(state.merged, width)
        yield from column_lines(members.columns, marked(members, earlier))


def _state_lines(group: Group, before: Group | None, partitions: int, width: int) -> Iterator[Line]:
    """The state in one line, or in two if one would be cut: a cut number would be misread."""
    was = None if before is None else before.state
    role = Role.CHANGED if was not in (None, group.state) else role_of("STATE")(group.state.value)
    printed = [*epoch_words(group), *([group.protocol] if group.protocol else [])]
    printed.append(f"{counted(len(group.members), 'member')}, {counted(partitions, 'partition')}")
    name = Piece(safe_text(shown_id(group.id)), Role.HEADING)
    rest = (
        Piece(f"  {group.type.value}  "),
        Piece(group.state.value, role),
        Piece(safe_text("".join(f"  {text}" for text in printed))),
    )
    yield from [(name, *rest)] if line_width((name, *rest)) <= width else [(name,), rest]


def _members_table(group: Group, width: int) -> Table:
    """The partitions that each member owns, gains and must revoke; the longest cells are last, where lines are cut."""
    inspected = inspect(group)
    known = ((member.id, member.owned) for member in group.members if member.owned is not None)
    counts = {name: sum(map(len, owned.values())) for name, owned in known}
    has_targets = any(member.member.target is not None for member in inspected.members)
    names = short_names((member.label for member in inspected.members), _most_of_a_name(width))
    return table_of(
        sorted(inspected.members, key=lambda member: (member.label, member.member.id)),
        ("MEMBER", lambda member: names[member.label]),
        ("PROTOCOL", lambda member: member.member.protocol and member.member.protocol.value),
        ("#CURRENT-EPOCH", "epoch"),
        ("##PARTITIONS", lambda member: counts.get(member.member.id)),
        *[("GAINS", lambda member: _without(member.member.target, member.member.owned))] * has_targets,
        *[("REVOKES", lambda member: _without(member.member.owned, member.member.target))] * has_targets,
        ("CURRENT-ASSIGNMENT", lambda member: places_text(member.member.owned or {}) or None),
    )


def _without(partitions: Partitions | None, others: Partitions | None) -> str | None:
    """The partitions in the first but not in the second; None if there are none, or if either is not known."""
    if partitions is None or others is None:
        return None
    left = {
        topic: sorted(set(numbers).difference(others.get(topic, ()))) for topic, numbers in partitions.items()
    }
    return places_text(left) or None


def _waits_lines(group: Group, width: int) -> Iterator[Line]:
    """Lines on what members wait for; none for settled groups."""
    if group.state in _SETTLED or group.type not in (GroupType.CLASSIC, GroupType.CONSUMER):
        return
    members = inspect(group).members
    labels = {member.member.id: member.label for member in members}
    together: dict[str, list[str]] = {}
    for member in members:
        if member.waits:
            together.setdefault(waits_text(member, labels) or "", []).append(member.label)
    for text, names in together.items():
        who = names[0] if len(names) == 1 else f"Each of {len(names)} members"
        yield from folded(safe_text(f"{who} waits for {text}"), width)
    if not owners_are_shown(group):
        text = "Brokers do not show who owns what during this rebalance: CURRENT-ASSIGNMENT is from before."
        yield (Piece(text, Role.FAINT),)


def _lags_table(state: WatchState, name: str, watched: WatchedGroup, width: int) -> Table:
    partitions = Counter(topic for topic, _ in watched.wanted)
    unowned = Counter(topic for topic, _ in watched.unowned)
    lags = topic_lags(name, state.window, partitions)
    names = short_names((lag.topic for lag in lags), _most_of_a_name(width))
    return table_of(
        lags,
        ("TOPIC", lambda lag: names[lag.topic]),
        ("##PARTITIONS", lambda lag: partitions[lag.topic]),
        ("#UNOWNED", lambda lag: unowned[lag.topic]),
        "#LAG",
        ("##LAG-UNKNOWN", lambda lag: lag.unknown or None),
        ("#READ/S", lambda lag: _rate(lag.consumed_per_s)),
        ("#WRITTEN/S", lambda lag: _rate(lag.produced_per_s)),
        ("#ZERO-IN", lambda lag: seconds_text(lag.seconds_to_zero) if lag.seconds_to_zero else None),
    )


def _rate(per_second: float | None) -> str | None:
    if per_second is None:
        return None
    return f"{per_second:,.0f}" if per_second >= 100 or per_second == 0 else f"{per_second:.1f}"


def _unowned_lines(state: WatchedGroup, width: int) -> Iterator[Line]:
    """Partitions without an owner; the longest without one are first."""
    since: dict[int, dict[str, list[int]]] = {}
    for (topic, number), gap in sorted(state.unowned.items()):
        since.setdefault(gap.since_ms, {}).setdefault(topic, []).append(number)
    for at_ms in sorted(since):
        age = max(state.asked_ms - at_ms, 0)
        text = f"Without an owner for {duration_text(age)}: {places_text(since[at_ms])}"
        yield from folded(safe_text(text), width, Role.BAD)


def _most_of_a_name(width: int) -> int:
    """Maximum width of names in tables, so that the numbers after them are not cut."""
    return max(min(LABEL, width // 3), 8)
