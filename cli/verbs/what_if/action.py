"""Play the past of groups, as it was and as it might have been."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

from cli.errors import CommandError, ExitStatus, UsageError
from cli.options import SourceOptions
from cli.output import notice
from cli.progress import Progress
from cli.selection import is_live
from cli.times import moment
from cli.verbs.simulate.action import pairs_of
from cli.verbs.what_if.options import AlternativeOptions, WhatIfOptions
from cli.verbs.why.options import HistoryOptions, HistorySelection
from cli.verbs.why.reading import is_file, read_history
from coordinator.configs.settings import Config
from coordinator.consumer.library import MemberSettings
from coordinator.errors import InvalidSetting
from coordinator.simulation.alternatives import AS_IT_WAS, WhatIfAlternative, applied, combinations
from coordinator.simulation.calibration import Calibration, calibration_of
from coordinator.simulation.from_history import CannotPlayError, Past, Statements, past_of
from coordinator.simulation.scenario import Variant
from coordinator.simulation.scenario_checks import unknown
from coordinator.simulation.variants import NAMES
from coordinator.simulation.what_if import PlayedPast, WhatIfCost, play
from groups.history.account import account_of
from groups.history.costs import rebalanced_at
from groups.history.course import Course
from groups.listing import Problem
from groups.times import format_moment

_DAYS_MS = 7 * 86_400_000
_MOST_ALTERNATIVES = 64
_PROTOCOLS = {variant.value: variant for variant in Variant if variant is not Variant.AS_WRITTEN}
_US_PER_S = 1_000_000
_OBSERVED = (
    "the recording has the times of its observations, so partitions had no owner for less time than observed"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWhatIf:
    """The past of a group, as it was and as it might have been."""

    group: str
    past: Past
    observed: WhatIfCost
    simulated: PlayedPast
    calibration: Calibration
    alternatives: tuple[PlayedPast, ...]
    same: tuple[WhatIfAlternative, ...]  # Those that change nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfAnswer:
    source: str
    since: int  # µs since 1970, as the next
    until: int
    seeds: int
    groups: tuple[GroupWhatIf, ...]
    unplayed: tuple[Problem, ...]  # Groups that cannot be played
    problems: tuple[Problem, ...]  # What could not be read


def carry_out(
    selection: HistorySelection,
    options: WhatIfOptions,
    files: HistoryOptions,
    source: SourceOptions,
    processes: int,
) -> WhatIfAnswer:
    """Play the selected groups. Raises UsageError: the options are invalid, or name no alternative that fits."""
    alternatives, stated = alternatives_of(options), statements_of(options.assume or ())
    since_ms, until_ms = moment(options.since, "--since"), moment(options.until, "--until")
    now_ms = time.time_ns() // 1_000_000
    end_ms = now_ms if until_ms is None else min(until_ms, now_ms)
    read = read_history(selection, files, source, end_ms - _DAYS_MS if since_ms is None else since_ms)
    for text in read.notices:
        notice(text)
    if read.until is not None and (is_file(files) or not is_live(source)):
        end_ms = min(end_ms, read.until // 1000 + 1)
    begin_ms = end_ms - _DAYS_MS if since_ms is None else since_ms
    if begin_ms >= end_ms:
        raise UsageError(f"--since {format_moment(begin_ms)} is not before {format_moment(end_ms)}")
    if not read.courses and not read.problems:
        raise CommandError(f"no group in {read.source}")
    pasts: list[tuple[Course, Past, Sequence[WhatIfAlternative], Sequence[WhatIfAlternative]]] = []
    unplayed: list[Problem] = []
    for course in read.courses.values():
        try:
            past = past_of(course, since=begin_ms * 1000, until=end_ms * 1000, stated=stated)
            if files.replay is not None:
                past = replace(past, assumptions=(*past.assumptions, _OBSERVED))
            pasts.append((course, *_fitting(past, alternatives)))
        except (CannotPlayError, UsageError) as error:
            if isinstance(error, UsageError) and len(read.courses) == 1:
                raise UsageError(f"{course.group}, {error}") from None
            unplayed.append(Problem(subject=course.group, message=str(error), group=course.group))
    total = sum(1 + len(fitting) for _, _, fitting, _ in pasts) * options.seeds
    with Progress("simulating", total=total, before_data=True) as progress:
        played = [_play(*past, options.seeds, processes, progress) for past in pasts]
    return WhatIfAnswer(
        source=read.source,
        since=begin_ms * 1000,
        until=end_ms * 1000,
        seeds=options.seeds,
        groups=tuple(played),
        unplayed=tuple(unplayed),
        problems=tuple(read.problems),
    )


def _play(
    course: Course,
    past: Past,
    fitting: Sequence[WhatIfAlternative],
    same: Sequence[WhatIfAlternative],
    seeds: int,
    processes: int,
    progress: Progress,
) -> GroupWhatIf:
    played: list[PlayedPast] = []
    for runs in play(past, (AS_IT_WAS, *fitting), range(1, seeds + 1), processes):
        played.append(runs)
        progress.advance(seeds)
    simulated, *others = played
    return GroupWhatIf(
        group=course.group,
        past=past,
        observed=WhatIfCost(
            **asdict(past.observed), unread_s=_observed_unread_s(course, past), read_twice=None
        ),
        simulated=simulated,
        calibration=calibration_of(past, simulated),
        alternatives=tuple(others),
        same=tuple(same),
    )


def _fitting(
    past: Past, alternatives: Sequence[WhatIfAlternative]
) -> tuple[Past, Sequence[WhatIfAlternative], Sequence[WhatIfAlternative]]:
    """The past with what is left out, the alternatives that differ from it, and those that do not. Raises UsageError:
    the past cannot be played, or no alternative."""
    fitting: list[WhatIfAlternative] = []
    same: list[WhatIfAlternative] = []
    left_out: list[str] = []
    for alternative in (AS_IT_WAS, *alternatives):
        try:
            is_same = applied(past.scenario, alternative) == past.scenario
        except InvalidSetting as error:
            left_out.append(f"{alternative.name}: {error}")
            if alternative == AS_IT_WAS:
                break
        else:
            (same if is_same else fitting).append(alternative)
    if not fitting and left_out:
        raise UsageError(left_out[0])
    left_out_texts = (f"not played: {text}" for text in left_out)
    return replace(past, assumptions=(*past.assumptions, *left_out_texts)), fitting, same[1:]


def _observed_unread_s(course: Course, past: Past) -> float | None:
    """How long partitions were not read by their commits, without the usual time between two commits. None: there are
    no commits. Nothing counts while the group has no member, nor what was never read again: it may have stopped."""
    if past.commit_interval_ms is None:
        return None
    usual_us = past.commit_interval_ms * 1000
    pauses = account_of(course, past.since, past.until).pauses
    empty = [
        (rebalanced_at(row), rebalanced_at(later))
        for row, later in pairwise(course.rebalances)
        if not row.members
    ]
    unread_us = 0
    for pause in pauses:
        if pause.until is not None:
            without_us = sum(max(0, min(pause.until, end) - max(pause.since, start)) for start, end in empty)
            unread_us += max(0, pause.until - pause.since - without_us - usual_us)
    return unread_us / _US_PER_S


def alternatives_of(options: AlternativeOptions) -> tuple[WhatIfAlternative, ...]:
    """The combinations that the options name. Raises UsageError: there are none, or too many."""
    protocols = []
    for name in _split(options.protocol):
        if name not in _PROTOCOLS:
            raise UsageError(f"--protocol: {unknown('protocol', name, _PROTOCOLS)}")
        protocols.append(_PROTOCOLS[name])
    settings = pairs_of(options.set_ or ())
    for name, _ in settings:
        if name not in NAMES:
            raise UsageError(f"--set {name}: {unknown('setting', name, NAMES)}")
    alternatives = combinations(
        protocols=protocols, assignors=_split(options.assignor), static=options.static, settings=settings
    )
    if not alternatives:
        raise UsageError(
            "name an alternative: --protocol cooperative, --static, --assignor NAME or --set NAME=VALUE"
        )
    if len(alternatives) > _MOST_ALTERNATIVES:
        raise UsageError(f"{len(alternatives)} combinations; at most {_MOST_ALTERNATIVES} are played at once")
    return alternatives


def _split(texts: Sequence[str] | None) -> list[str]:
    return [name for text in texts or () for part in text.split(",") if (name := part.strip())]


def statements_of(texts: Sequence[str]) -> Statements:
    """The settings of --assume. Raises UsageError: one is unknown or invalid."""
    settings = dict(pairs_of(texts, "--assume"))
    of_members, of_brokers = MemberSettings.names(), Config.names()
    for name in settings:
        if name not in of_members and name not in of_brokers:
            raise UsageError(f"--assume {name}: {unknown('setting', name, (*of_members, *of_brokers))}")
    stated = Statements(
        of_members={name: value for name, value in settings.items() if name in of_members},
        of_brokers={name: value for name, value in settings.items() if name not in of_members},
    )
    try:
        MemberSettings.parse(stated.of_members)
        Config.parse(stated.of_brokers)
    except InvalidSetting as error:
        raise UsageError(f"--assume: {error}") from None
    return stated


def status_of(answer: WhatIfAnswer) -> ExitStatus:
    """FALSE if a simulation does not agree with the log."""
    agrees = all(group.calibration.agrees for group in answer.groups)
    return ExitStatus.DONE if agrees else ExitStatus.FALSE
