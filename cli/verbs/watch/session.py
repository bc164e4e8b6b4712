"""Run a watch until its condition is met, the time is up, or Ctrl-C."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path

import typer

from cli.errors import CommandError, ExitStatus, UsageError
from cli.options import SelectionOptions, SourceOptions
from cli.output import notice, write_next, write_out
from cli.render.output_format import StreamOutput
from cli.selection import ReusableSource, choose_groups
from cli.verbs.watch.feeds import Feed, LiveFeed, ReplayFeed
from cli.verbs.watch.options import WatchOptions
from cli.verbs.watch.recording import Recorder, header_document, observation_document, read_recording
from cli.verbs.watch.sinks import JsonSink, LinesSink, Sink, Write
from cli.verbs.watch.state import WatchState
from groups.model import Group, GroupState, GroupType

ANSWER_WITHIN_MS = 5_000  # Default timeout of an observation: a frozen view is useless


def watch_groups(options: WatchOptions, source: SourceOptions) -> None:
    """Watch groups of a source, or show a recording: in the screens of `kohort top`, or as lines; exits with the
    status."""
    if not source.timeout_is_chosen:
        source = replace(source, timeout_ms=ANSWER_WITHIN_MS)
    until = None if options.until is None else Until.parse(options.until)
    if options.replay is None:
        _check_live(options, source)
    else:
        _check_recording(options, source)
    if _is_in_full_screen(options, source):
        return
    if options.replay is None:
        status = watch_live(options, source, until)
    else:
        status = watch_recording(options, options.replay, until)
    if status is not ExitStatus.DONE:
        raise typer.Exit(int(status))


def _is_in_full_screen(options: WatchOptions, source: SourceOptions) -> bool:
    """Open the screens until the user quits; False if there is no terminal for them, or lines are asked for."""
    from cli.verbs.top.action import EXTRA, has_terminal, run_top
    from cli.verbs.top.options import LEAST_EVERY_S, TopOptions, TopSelection
    from cli.web_guard_options import GuardOptions
    from wire.extras import install_command, is_installed

    of_lines = (options.until, options.seconds, options.record, options.speed, options.svg)
    is_lines = (
        options.commits or options.output is StreamOutput.JSON or any(value is not None for value in of_lines)
    )
    if is_lines or not has_terminal():
        return False
    if not is_installed(EXTRA):
        notice(f"events are printed as lines; to watch in full screen, run `{install_command(EXTRA)}`")
        return False
    every_s = max(options.every, LEAST_EVERY_S)
    selection = TopSelection(
        **{field.name: getattr(options, field.name) for field in fields(SelectionOptions)}
    )
    run_top(TopOptions(selection=selection, every=every_s, replay=options.replay), GuardOptions(), source)
    return True


def _check_live(options: WatchOptions, source: SourceOptions) -> None:
    if options.speed is not None or options.svg is not None:
        raise UsageError("--speed and --svg are for recordings: they need --replay")
    if not (options.groups or options.chooses):
        raise UsageError(
            "name the groups to watch, or choose them with --match REGEX, --all-groups or a filter, or show a "
            "recording with --replay"
        )
    if source.as_of is not None:
        raise UsageError("watching cannot be used with --as-of: the past does not change")
    if options.force and options.record is None:
        raise UsageError("--force overwrites a file: it needs --record")


def watch_live(options: WatchOptions, source: SourceOptions, until: "Until | None") -> ExitStatus:
    with ExitStack() as stack:
        opened = stack.enter_context(ReusableSource(source))
        groups: Sequence[str] = tuple(dict.fromkeys(options.groups or ()))
        if options.chooses:  # groups that appear later are not added
            groups, problems = choose_groups(opened.get(), options)
            for problem in problems:
                notice(f"{problem.subject}: {problem.message}")
            if not groups:
                raise CommandError("there is no group to watch")
        return _watch(options, until, LiveFeed(opened, groups, options.every), stack)


def _check_recording(options: WatchOptions, source: SourceOptions) -> None:
    # A current context does not apply to a recording.
    if source.place is None and any(source.sources.values()):
        raise UsageError("--replay shows a recording: it cannot be used with another source")
    if options.chooses:
        raise UsageError("--replay shows the recorded groups, all or those that are named: leave filters out")
    if options.record is not None:
        raise UsageError("--record writes down what is watched now; to keep a recording, copy its file")
    if options.force and options.svg is None:
        raise UsageError("--force overwrites a file: it needs --svg")


def watch_recording(options: WatchOptions, file: Path, until: "Until | None") -> ExitStatus:
    recording = read_recording(file, tuple(dict.fromkeys(options.groups or ())))
    for text in recording.notices:
        notice(text)
    if options.svg is not None:
        from cli.verbs.watch.picture import write_picture

        write_picture(options.svg, recording, force=options.force)
        return ExitStatus.DONE
    with ExitStack() as stack:
        return _watch(options, until, ReplayFeed(recording, options.speed), stack)


def _sink(options: WatchOptions, write: Write, feed: Feed) -> Sink:
    is_json = options.output is StreamOutput.JSON
    return JsonSink(write, feed) if is_json else LinesSink(write, commits=options.commits)


def _watch(options: WatchOptions, until: "Until | None", feed: Feed, stack: ExitStack) -> ExitStatus:
    """Show and record every observation; the sink is created for the first one. FALSE when the time is up, or the
    recording ends, before the condition was met. KeyboardInterrupt is raised if nothing was shown, or there is a
    condition."""
    state = WatchState()
    recorder: Recorder | None = None
    shown: Sink | None = None
    deadline = None if options.seconds is None else time.monotonic() + options.seconds
    unmet = ExitStatus.DONE if until is None else ExitStatus.FALSE
    try:
        for timed in feed.observations():
            state, happened = state.step(timed.observation)
            if options.record is not None:  # the file is created for the first observation
                if recorder is None:
                    recorder = Recorder.create(options.record, force=options.force)
                    stack.callback(recorder.close)
                    recorder.write(header_document(feed.header))
                recorder.write(observation_document(timed.observation))
            shown = shown or _sink(options, write_next if until is None else write_out, feed)
            shown.show(timed, state, happened)
            if until is not None and until.is_met(state):
                return ExitStatus.DONE
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= timed.pause_s:
                time.sleep(max(left, 0.0))
                return unmet
            time.sleep(timed.pause_s)
    except KeyboardInterrupt:
        if shown is None or until is not None:
            raise
        return ExitStatus.DONE
    return unmet


STEADY_MS = 1_000
"""How long a group must have been Stable: a cooperative group is briefly Stable between two rebalances."""
STABLE, EMPTY = "stable", "empty"


@dataclass(slots=True)
class Until:
    """A condition on all watched groups; checked after every observation."""

    _holds: Callable[[Group | None], bool]
    _steady_ms: int = 0
    _since_ms: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Until":
        """`stable`, `empty`, or an epoch. UsageError for anything else."""
        word = text.strip().lower()
        if word == STABLE:
            return cls(lambda group: group is not None and group.state is GroupState.STABLE, STEADY_MS)
        if word == EMPTY:
            return cls(lambda group: group is None or not group.members)
        if word.isascii() and word.isdecimal() and len(word) < 10:
            epoch = int(word)
            return cls(lambda group: group is not None and has_reached(group, epoch))
        raise UsageError(f"--until {text!r}: write stable, empty, or the epoch that all members are to reach")

    def is_met(self, state: WatchState) -> bool:
        """Whether the condition holds for every group in the last observation, and has held for the required time."""
        last = state.last
        observed = last is not None and last.groups and last.groups.keys() == state.groups.keys()
        if last is None or not observed or not all(map(self._holds, last.groups.values())):
            self._since_ms = None
            return False
        if self._since_ms is None:
            self._since_ms = last.at_ms
        return last.at_ms - self._since_ms >= self._steady_ms


def has_reached(group: Group, epoch: int) -> bool:
    """Whether the group and all its members have reached an epoch."""
    if group.type is GroupType.CLASSIC and group.generation is None:
        raise UsageError(
            f"--until {epoch}: {group.id} is a classic group, and brokers do not show its generation; "
            "--until stable waits until it is Stable"
        )
    epochs = (
        [group.generation]
        if group.type is GroupType.CLASSIC
        else [group.group_epoch, group.assignment_epoch, *(member.epoch for member in group.members)]
    )
    return all(reached is not None and reached >= epoch for reached in epochs)
