"""A watch as it was asked for: what is watched, how it is shown, when it ends, what is kept of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from cli.errors import ExitStatus, UsageError
from cli.options import SourceOptions
from cli.output import notice
from cli.sources.lasting import LastingSource
from cli.verbs.watch.feeds import Feed, LiveFeed, Look, ReplayFeed
from cli.verbs.watch.recording import Recorder, header_document, observation_document, read_recording
from cli.verbs.watch.run import Limits, watch
from cli.verbs.watch.screen import can_draw
from cli.verbs.watch.sinks import JsonSink, LinesSink, ScreenSink, Sink
from cli.verbs.watch.until import Until


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What the command line asks for, wherever the groups come from."""

    groups: tuple[str, ...]
    seconds: float | None = None
    until: Until | None = None
    commits: bool = False
    as_json: bool = False
    record: Path | None = None
    force: bool = False


def watch_live(session: Session, source: SourceOptions, every_s: float) -> ExitStatus:
    """Watch groups where they are."""
    if not session.groups:
        raise UsageError("name the groups to watch, or a recording with --replay")
    if source.as_of is not None:
        raise UsageError("watching makes no sense with --as-of: the past does not change")
    if session.force and session.record is None:
        raise UsageError("--force says that a file may be overwritten; it makes no sense without --record")
    with ExitStack() as stack:
        opened = stack.enter_context(LastingSource(source))
        return _watch(session, LiveFeed(opened, session.groups, every_s), stack)


def watch_recording(
    session: Session, source: SourceOptions, file: Path, *, speed: float | None, svg: Path | None
) -> ExitStatus:
    """Show a recording, or draw it."""
    named = (
        source.bootstrap_server,
        source.command_config,
        source.snapshot,
        source.embedded,
        source.log_dirs,
    )
    if source.place is None and any(named):  # a context that is always there is no question of this recording
        raise UsageError("--replay shows what was recorded; it makes no sense with another source")
    if session.record is not None:
        raise UsageError("--record writes down what is watched now; to keep a recording, copy its file")
    if session.force and svg is None:
        raise UsageError("--force says that a file may be overwritten; it makes no sense without --svg")
    found = read_recording(file, session.groups)
    for text in found.notices:
        notice(text)
    if svg is not None:
        from cli.verbs.watch.picture import write_picture

        write_picture(svg, found, force=session.force)
        return ExitStatus.DONE
    if speed is None and _is_drawn(session):
        speed = 1.0
    with ExitStack() as stack:
        return _watch(session, ReplayFeed(found, str(file), speed), stack)


def _watch(session: Session, feed: Feed, stack: ExitStack) -> ExitStatus:
    keep = None if session.record is None else _keeper(session.record, session.force, feed, stack)
    limits = Limits(seconds=session.seconds, until=session.until)
    return watch(feed, lambda: _sink(session, feed, stack), limits, keep)


def _keeper(file: Path, force: bool, feed: Feed, stack: ExitStack) -> Callable[[Look], None]:
    """What records each look; the file is made for the first one."""
    recorder: Recorder | None = None

    def keep(look: Look) -> None:
        nonlocal recorder
        if recorder is None:
            recorder = Recorder.create(file, force=force)
            stack.callback(recorder.close)
            recorder.write(header_document(feed.header))
        recorder.write(observation_document(look.seen))

    return keep


def _sink(session: Session, feed: Feed, stack: ExitStack) -> Sink:
    if session.as_json:
        return JsonSink(feed)
    if _is_drawn(session):
        return ScreenSink(feed, stack, commits=session.commits)
    return LinesSink(commits=session.commits)


def _is_drawn(session: Session) -> bool:
    return not session.as_json and can_draw(sys.stdout)
