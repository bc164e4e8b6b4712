"""The output of a watch: lines of text, or a stream of JSON documents."""

from collections.abc import Callable, Sequence
from typing import TextIO, TypeAlias

from cli.output import notice
from cli.render.cells import safe_text
from cli.verbs.watch.event_text import clock_text, epoch_words, event_lines
from cli.verbs.watch.feeds import Feed, TimedObservation
from cli.verbs.watch.recording import event_document, header_document, line_of, observation_document
from cli.verbs.watch.state import ObservedEvent, WatchState
from groups.counts import counted
from groups.listing import shown_id
from groups.transactions import pending_text

Write: TypeAlias = Callable[[Callable[[TextIO], object]], object]
"""`write_out`, or `write_next` where nothing is left to do without a reader."""


class LinesSink:
    """Prints the initial state, then a line per event."""

    def __init__(self, write: Write, *, commits: bool) -> None:
        self._write, self._commits, self._known, self._failure = write, commits, set[str](), ""
        self._pending: dict[str, frozenset[tuple[str, int]]] = {}

    def show(self, timed: TimedObservation, state: WatchState, happened: Sequence[ObservedEvent]) -> None:
        """Show an observation, the resulting state, and the events since the previous one."""
        observation, at_ms = timed.observation, timed.observation.at_ms
        problems = (f"{problem.subject}: {problem.message}" for problem in observation.problems)
        printed = timed.failure or "\n".join(problems)  # a reason is printed once while it lasts
        if printed and printed != self._failure:
            notice(printed)
        elif self._failure and not printed:
            notice("the cluster answers again")
        self._failure = printed
        lines = [
            (at_ms, name, summary_text(state, name)) for name in observation.groups if name not in self._known
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


class JsonSink:
    """Prints observations and the events between them, one document per line."""

    def __init__(self, write: Write, feed: Feed) -> None:
        self._write, self._header = write, [line_of(header_document(feed.header))]

    def show(self, timed: TimedObservation, state: WatchState, happened: Sequence[ObservedEvent]) -> None:
        lines, self._header = self._header, []
        lines += [line_of(event_document(observed, state.labels)) for observed in happened]
        lines.append(line_of(observation_document(timed.observation)))
        self._write(lambda stream: stream.writelines(lines))


Sink: TypeAlias = LinesSink | JsonSink  # Receives every observation


def summary_text(state: WatchState, name: str) -> str:
    watched = state.groups[name]
    group = watched.merged
    if group is None:
        return "there is no such group"
    parts = [group.type.value, group.state.value, *epoch_words(group)]
    parts += [counted(len(group.members), "member"), counted(len(watched.wanted), "partition")]
    parts += [f"{len(watched.unowned):,} without an owner"] if watched.unowned else []
    return ", ".join(parts)
