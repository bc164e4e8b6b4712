"""Looking at groups, again and again where they live, and judging what was seen."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cli.errors import ExitStatus, UsageError
from cli.options import SelectionOptions, SourceOptions
from cli.progress import Progress
from cli.selection import choose_groups, is_live, opened, without_vanished
from cli.sources.source import Source
from cli.times import parse_duration
from groups.diagnosis.diagnose import Diagnosis, Verdict, diagnose
from groups.diagnosis.observation import Observation, Thresholds
from groups.diagnosis.rebalances import is_unsettled
from groups.diagnosis.subscriptions import has_regexes
from groups.lag import topics_read
from groups.model import Cluster, Group, OpenTransaction, Problem, Topic

USUAL_MS = 6_000
"""How long a cluster is observed: consumers commit every 5 seconds unless told otherwise."""
EVERY_MS = 1_000
"""From one look to the next."""


def milliseconds(text: str, name: str) -> int:
    """A duration of an option. UsageError for anything else."""
    try:
        return round(parse_duration(text) * 1000)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def status_of(found: Sequence[Diagnosis]) -> ExitStatus:
    """FALSE where an error was found."""
    return ExitStatus.FALSE if any(each.verdict is Verdict.ERROR for each in found) else ExitStatus.DONE


def diagnose_chosen(
    options: SourceOptions, selection: SelectionOptions, thresholds: Thresholds, for_ms: int | None
) -> tuple[list[Diagnosis], tuple[Problem, ...]]:
    """Diagnose the groups that are meant, and what could not be read. Only a cluster is looked at more than once."""
    live = is_live(options)
    if for_ms is not None and not live:
        raise UsageError(
            "--for is for a live cluster: a file shows one moment; leave it out, or name --bootstrap-server"
        )
    with opened(options) as source:
        names, problems = choose_groups(source, selection)
        looks = [_look(source, names, in_full=True, is_live=live)]
        if live and looks[0].groups:
            looks += _more_looks(source, names, thresholds, for_ms)
        looks[-1] = _with_leaders(source, looks[-1])
        if live:
            looks[-1] = _with_evidence(source, looks)
    unread = without_vanished(looks[-1].problems, named=bool(selection.groups))
    found = _judged(names, looks, thresholds)
    explained = {each.group for each in found if not any(each.group in look.groups for look in looks)}
    left = (each for each in (*problems, *unread) if each.group not in explained)
    return found, tuple(dict.fromkeys(left))


def _judged(names: Sequence[str], looks: Sequence[Look], thresholds: Thresholds) -> list[Diagnosis]:
    """Of every group that some look shows, or of which it is known why none does."""
    judged = (
        (
            diagnose(name, [look.at(name) for look in looks], thresholds),
            any(name in look.groups for look in looks),
        )
        for name in names
    )
    return [found for found, is_seen in judged if is_seen or found.findings]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """All groups at one moment."""

    at_ms: int
    groups: Mapping[str, Group]
    problems: tuple[Problem, ...] = ()
    topics: Mapping[str, Topic] | None = None
    unread_topics: frozenset[str] = frozenset()
    missing_topics: frozenset[str] | None = None
    topic_names: frozenset[str] | None = None
    cluster: Cluster | None = None
    waiting_since_ms: Mapping[str, Mapping[tuple[str, int], int | None]] = field(default_factory=dict)
    """By group, as observations have it."""
    transactions: Mapping[tuple[str, int], tuple[OpenTransaction, ...]] | None = None

    def at(self, name: str) -> Observation:
        """What it shows of one group."""
        return Observation(
            at_ms=self.at_ms,
            group=self.groups.get(name),
            problem=next((each for each in self.problems if each.group == name), None),
            topics=self.topics,
            unread_topics=self.unread_topics,
            missing_topics=self.missing_topics,
            topic_names=self.topic_names,
            cluster=self.cluster,
            waiting_since_ms=self.waiting_since_ms.get(name, {}),
            transactions=self.transactions,
        )


def _look(source: Source, chosen: Sequence[str], *, in_full: bool, is_live: bool) -> Look:
    """Members and states; in full, committed offsets and topics too."""
    described = source.describe(chosen, offsets=in_full)
    at_ms = time.time_ns() // 1_000_000
    groups = {group.id: group for group in described.items}
    if not in_full:
        return Look(at_ms=at_ms, groups=groups, problems=described.problems)
    wanted = frozenset(topics_read(described.items))
    topics = source.topics(wanted, end_offsets=True, start_offsets=True, stable_offsets=True)
    unread = frozenset(name for problem in topics.problems for name in problem.topics)
    names: frozenset[str] | None = None
    if is_live and any(map(has_regexes, described.items)):
        names = frozenset(topic.name for topic in source.topics(None, end_offsets=False).items)
    return Look(
        at_ms=at_ms,
        groups=groups,
        problems=(*described.problems, *topics.problems),
        topics={topic.name: topic for topic in topics.items},
        unread_topics=unread,
        missing_topics=wanted - {topic.name for topic in topics.items} - unread if is_live else None,
        topic_names=names,
    )


def _more_looks(
    source: Source, names: Sequence[str], thresholds: Thresholds, for_ms: int | None
) -> Iterator[Look]:
    """Looks at members every second, and in the end one in full.

    Where no time is given, a group that was in a rebalance all the time is looked at until it can be judged.
    """
    begun = time.monotonic()
    usual_ms = USUAL_MS if for_ms is None else for_ms
    longest_ms = max(usual_ms, thresholds.rebalance_ms) if for_ms is None else for_ms
    unsettled = set(names)
    with Progress(f"observing for {usual_ms / 1000:g} s", usual_ms) as progress:
        while True:
            asked = time.monotonic()
            left_ms = (usual_ms if not unsettled else longest_ms) - (asked - begun) * 1000
            if left_ms <= EVERY_MS:
                break
            time.sleep(EVERY_MS / 1000)
            look = _look(source, names, in_full=False, is_live=True)
            unsettled &= {name for name, group in look.groups.items() if is_unsettled(group)}
            progress.at(min(round((time.monotonic() - begun) * 1000), usual_ms))
            yield look
        time.sleep(max(left_ms, 0) / 1000)
    yield _look(source, names, in_full=True, is_live=True)


def _with_evidence(source: Source, looks: Sequence[Look]) -> Look:
    """The last look, with what is only asked of groups that look wrong by then."""
    from cli.verbs.diagnose.evidence import open_transactions, with_commits

    first, last = looks[0], looks[-1]
    seen = {name: [first.at(name), last.at(name)] for name in last.groups}
    groups, waiting = with_commits(source, seen, last.groups)
    return replace(
        last,
        groups=groups,
        waiting_since_ms=waiting,
        transactions=open_transactions(source, first.topics or {}, last.topics or {}, groups),
        cluster=last.cluster or source.cluster(),
    )


def _with_leaders(source: Source, look: Look) -> Look:
    """With the leaders of classic groups in a rebalance: who came since the last one has joined this one."""
    moving = [group for group in look.groups.values() if is_unsettled(group)]
    if not moving:
        return look
    found = {group.id: group for group in source.with_leaders(moving)}
    return replace(look, groups={**look.groups, **found})


def diagnose_recording(
    file: Path, selection: SelectionOptions, options: SourceOptions, thresholds: Thresholds
) -> tuple[list[Diagnosis], tuple[Problem, ...]]:
    """Diagnose the groups of a recording, all unless some are named."""
    from cli.output import notice
    from cli.verbs.watch.recording import read_recording

    if selection.chooses:
        raise UsageError("--replay is about all groups that were recorded, or those that are named")
    if options.place is None and any(options.sources.values()):
        raise UsageError("--replay reads what was recorded; it makes no sense with another source")
    found = read_recording(file, tuple(dict.fromkeys(selection.groups or ())))
    for text in found.notices:
        notice(text)
    looks = [
        Look(
            at_ms=each.at_ms,
            groups={name: group for name, group in each.groups.items() if group is not None},
            topics=each.topics,
            problems=each.problems,
        )
        for each in found.observations
    ]
    names = list(dict.fromkeys(name for each in found.observations for name in each.groups))
    return _judged(names, looks, thresholds), looks[-1].problems
