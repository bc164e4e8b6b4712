"""Observe groups, and diagnose them from the observations."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cli.errors import ExitStatus, UsageError
from cli.options import SelectionOptions, SourceOptions
from cli.selection import choose_groups, is_live, opened, without_deleted_groups
from cli.sources.source import Source
from cli.times import moment
from cli.verbs.diagnose.observing import FleetObservation, observe, observe_again, observe_log, with_leaders
from groups.diagnosis.case import Thresholds
from groups.diagnosis.diagnose import Diagnosis, Health, diagnose
from groups.model import Problem
from groups.progress import STILL_INTERVALS


def status_of(found: Sequence[Diagnosis]) -> ExitStatus:
    """FALSE if an error was found."""
    return ExitStatus.FALSE if any(each.verdict is Health.ERROR for each in found) else ExitStatus.DONE


def diagnose_chosen(
    options: SourceOptions, selection: SelectionOptions, thresholds: Thresholds, for_ms: int | None
) -> tuple[list[Diagnosis], tuple[Problem, ...]]:
    """Diagnose the selected groups; also returns problems of reading them."""
    live = is_live(options)
    if for_ms is not None and not (live or options.log_dirs):
        raise UsageError(
            "--for needs a live cluster or a broker's log, as a snapshot shows one moment: leave it out, or use "
            "--bootstrap-server or --log-dir"
        )
    with opened(options) as source:
        names, problems = choose_groups(source, selection)
        if live:
            observations = observe_cluster(source, names, thresholds, for_ms)
        else:
            as_of_ms = None if options.as_of is None else moment(options.as_of, "--as-of")
            last = observe(source, names, in_full=True, is_live=False, at_ms=as_of_ms)
            observations = [with_leaders(source, last)]
    if options.log_dirs and for_ms is not None:
        observations = [*observe_log(options, names, observations[-1].at_ms, for_ms), *observations]
    unread = without_deleted_groups(observations[-1].problems, named=bool(selection.groups))
    found = _judged(names, observations, thresholds)
    explained = {each.group for each in found if not any(each.group in one.groups for one in observations)}
    found = [each for each in found if each.findings or each.group in observations[-1].groups]
    left = (each for each in (*problems, *unread) if each.group not in explained)
    return found, tuple(dict.fromkeys(left))


def observe_cluster(
    source: Source, names: Sequence[str], thresholds: Thresholds, for_ms: int | None
) -> list[FleetObservation]:
    """Observe groups of a cluster for a while, and request more about those with a suspected problem."""
    from cli.verbs.diagnose.evidence import with_evidence

    observations = [observe(source, names, in_full=True, is_live=True)]
    begun = time.monotonic()
    if observations[0].groups:
        observations[0] = _with_idle_commits(source, observations[0])
        observations += observe_again(source, names, thresholds, for_ms, begun)
    observations[-1] = with_leaders(source, observations[-1])
    observations = with_evidence(source, observations, thresholds.commit_interval_ms)
    if for_ms is None and _may_have_stalled(observations[-1]):
        still_ms = STILL_INTERVALS * thresholds.commit_interval_ms
        observations += observe_again(source, names, thresholds, still_ms, begun)
        observations[-1] = with_leaders(source, observations[-1])
        observations = with_evidence(source, observations, thresholds.commit_interval_ms)
    return observations


def _judged(
    names: Sequence[str], observations: Sequence[FleetObservation], thresholds: Thresholds
) -> list[Diagnosis]:
    """Diagnoses of every group that an observation shows, or whose absence from all of them is explained."""
    judged = (
        (
            diagnose(name, [each.at(name) for each in observations], thresholds),
            any(name in each.groups for each in observations),
        )
        for name in names
    )
    return [found for found, is_seen in judged if is_seen or found.findings]


def _with_idle_commits(source: Source, first: FleetObservation) -> FleetObservation:
    """The first observation, with commit times of groups without members, read while other groups are observed."""
    from cli.verbs.diagnose.evidence import with_idle_commits

    return replace(first, groups=with_idle_commits(source, first.groups))


def _may_have_stalled(last: FleetObservation) -> bool:
    """Whether a group with members committed nothing since the first observation, and its last commit is unknown."""
    return any(not since and last.groups[name].members for name, since in last.waiting_since_ms.items())


def diagnose_recording(
    file: Path, selection: SelectionOptions, options: SourceOptions, thresholds: Thresholds
) -> tuple[list[Diagnosis], tuple[Problem, ...]]:
    """Diagnose the named groups of a recording, or all of them."""
    from cli.output import notice
    from cli.verbs.watch.recording import read_recording

    if selection.chooses:
        raise UsageError("--replay takes group ids only, or none for all recorded groups")
    if options.place is None and any(options.sources.values()):
        raise UsageError("--replay cannot be used with another source")
    found = read_recording(file, tuple(dict.fromkeys(selection.groups or ())))
    for text in found.notices:
        notice(text)
    observations = [
        FleetObservation(
            at_ms=each.at_ms,
            groups={name: group for name, group in each.groups.items() if group is not None},
            topics=each.topics,
            problems=each.problems,
        )
        for each in found.observations
    ]
    names = list(dict.fromkeys(name for each in found.observations for name in each.groups))
    return _judged(names, observations, thresholds), observations[-1].problems
