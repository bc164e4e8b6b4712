"""How a watch is shown: drawn in place, told line by line, or as a stream of JSON documents."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Protocol

from cli.counts import counted
from cli.output import notice, write_out
from cli.render.cells import safe_text
from cli.verbs.watch.course import Course, Happening
from cli.verbs.watch.feeds import Feed, Look
from cli.verbs.watch.lines import Line, plain
from cli.verbs.watch.recording import event_document, header_document, line_of, observation_document
from cli.verbs.watch.screen import Screen
from cli.verbs.watch.view import LogLine, Shown, view_lines
from cli.verbs.watch.words import clock_text, epoch_words, told_lines

LONGEST_LOG = 500
"""Lines that are kept for a screen."""
_TICK_S = 1.0


class Sink(Protocol):
    """Is shown every look."""

    def show(self, look: Look, course: Course, happened: Sequence[Happening]) -> None:
        """One look, the course with it, and what happened since the one before."""
        ...

    def wait(self, seconds: float) -> None:
        """Until the next look."""
        ...


class ScreenSink:
    """The live view. When it is closed, its last picture is printed where it stays."""

    def __init__(self, feed: Feed, stack: ExitStack, *, commits: bool) -> None:
        self._commits, self._log = commits, deque[LogLine](maxlen=LONGEST_LOG)
        self._shown = Shown(course=Course(), title=feed.title)
        self._failing_since: float | None = None
        self._failure = ""
        stack.callback(self._print_last)
        self._screen = stack.enter_context(Screen(sys.stdout))

    def show(self, look: Look, course: Course, happened: Sequence[Happening]) -> None:
        self._log.extend(
            LogLine(at_ms=at_ms, group=group, text=text)
            for at_ms, group, text in told_lines(happened, course.labels, commits=self._commits)
        )
        if look.failure:
            self._failing_since = self._failing_since or time.monotonic()
        else:
            self._failing_since = None
        self._failure = look.failure
        self._shown = replace(self._shown, course=course, before=self._shown.course, log=tuple(self._log))
        self._screen.draw(self._lines)

    def wait(self, seconds: float) -> None:
        self._screen.wait(seconds, tick_s=_TICK_S if self._failing_since is not None else None)

    def _lines(self, width: int, height: int) -> list[Line]:
        problem = ""
        if self._failing_since is not None:
            problem = f"nothing for {time.monotonic() - self._failing_since:.0f} s: {self._failure}"
        return view_lines(replace(self._shown, problem=problem), width, height)

    def _print_last(self) -> None:
        if self._shown.course.last is None:
            return
        width, height = self._screen.size
        lines = [plain(line) for line in self._lines(width, height)]
        write_out(lambda stream: stream.write("\n".join(lines).rstrip() + "\n"))


class LinesSink:
    """The log alone, for pipes and files: how things stood at first, then a line for what happened."""

    def __init__(self, *, commits: bool) -> None:
        self._commits, self._known, self._failure = commits, set[str](), ""

    def show(self, look: Look, course: Course, happened: Sequence[Happening]) -> None:
        self._say(look)
        lines = [
            (look.seen.at_ms, name, _standing(course, name))
            for name in look.seen.groups
            if name not in self._known
        ]
        self._known |= look.seen.groups.keys()
        lines += told_lines(happened, course.labels, commits=self._commits)
        if lines:
            text = "".join(
                f"{clock_text(at_ms)} {safe_text(group)}: {safe_text(told)}\n" for at_ms, group, told in lines
            )
            write_out(lambda stream: stream.write(text))

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def _say(self, look: Look) -> None:
        """Why nothing was seen, or not all; each reason once as long as it lasts."""
        said = look.failure or "\n".join(f"{each.subject}: {each.message}" for each in look.seen.problems)
        if said and said != self._failure:
            notice(said)
        elif self._failure and not said:
            notice("answers come again")
        self._failure = said


class JsonSink:
    """Observations, and the events between them, a document a line."""

    def __init__(self, feed: Feed) -> None:
        self._header: str | None = line_of(header_document(feed.header))

    def show(self, look: Look, course: Course, happened: Sequence[Happening]) -> None:
        lines = [*filter(None, [self._header])]
        self._header = None
        lines += [line_of(event_document(each, course.labels)) for each in happened]
        lines.append(line_of(observation_document(look.seen)))
        write_out(lambda stream: stream.writelines(lines))

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


def _standing(course: Course, name: str) -> str:
    """How a group stands when it is seen first."""
    found = course.groups[name]
    group = found.belief
    if group is None:
        return "there is no such group"
    parts = [group.type.value, group.state.value, *epoch_words(group)]
    parts += [counted(len(group.members), "member"), counted(len(found.wanted), "partition")]
    parts += [f"{len(found.unowned):,} without an owner"] if found.unowned else []
    return ", ".join(parts)
