"""Watching: look after look, until what is waited for, the end of the time, or Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from cli.errors import ExitStatus
from cli.verbs.watch.course import Course
from cli.verbs.watch.feeds import Feed, Look
from cli.verbs.watch.sinks import Sink
from cli.verbs.watch.until import Until


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a watch ends by itself."""

    seconds: float | None = None
    until: Until | None = None


def watch(
    feed: Feed, sink: Callable[[], Sink], limits: Limits, keep: Callable[[Look], None] | None = None
) -> ExitStatus:
    """Show every look, and keep it; the sink is made when there is something to show.

    DONE when the condition is met, when there is none, and when somebody has seen enough (Ctrl-C); FALSE when the time
    is up, or the recording at its end, before the condition was met. KeyboardInterrupt goes on where nothing was
    shown, or a condition was waited for.
    """
    course = Course()
    shown: Sink | None = None
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
    unmet = ExitStatus.DONE if limits.until is None else ExitStatus.FALSE
    try:
        for look in feed.looks():
            course, happened = course.step(look.seen)
            if keep is not None:
                keep(look)
            shown = shown or sink()
            shown.show(look, course, happened)
            if limits.until is not None and limits.until.is_met(course):
                return ExitStatus.DONE
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= look.pause_s:
                shown.wait(max(left, 0.0))
                return unmet
            shown.wait(look.pause_s)
    except KeyboardInterrupt:
        if shown is None or limits.until is not None:
            raise
        return ExitStatus.DONE
    return unmet
