"""A group at a moment of the past: what happened before it, who owned what, and its commits."""

from collections.abc import Iterable
from dataclasses import replace

from cli.verbs.top.ownership import KEPT_MS, Track, Tracks, tracks_after
from cli.verbs.top.sight import HOUR_MS, LONGEST_LOG, SAMPLES, LogLine, Sample, Sight
from cli.verbs.watch.event_text import clock_text, event_lines
from cli.verbs.watch.events import Place
from cli.verbs.watch.state import WatchObservation, WatchState
from cli.verbs.why.view import state_text, wait_text
from groups.history.account import Account, account_of
from groups.history.course import Course
from groups.history.moment import moment_of
from groups.history.stories import reasons
from groups.history.storms import begin_of
from groups.lag import each_once, partition_lags
from wire.log.timestamps import US_PER_MS

MOST_STORIES = 50  # Rebalances before the moment that are shown as events


def from_recording(sight: Sight, group: str, observations: Iterable[WatchObservation]) -> Sight:
    """`observations`: those until the moment."""
    state = WatchState()
    owners: Tracks = {}
    lines: list[LogLine] = []
    samples: dict[Place, list[Sample]] = {}
    for observation in observations:
        if group not in observation.groups:
            continue
        seen = observation.groups[group]
        state, happened = state.step(replace(observation, groups={group: seen}))
        owners = tracks_after(owners, state, group)
        lines += [LogLine(at_ms=at_ms, text=text) for at_ms, _, text in event_lines(happened, state.labels)]
        for row in each_once(partition_lags(seen, observation.topics)) if seen is not None else ():
            sample = Sample(observation.at_ms, row.committed, row.end, row.lag)
            samples.setdefault((row.topic, row.partition), []).append(sample)
    known = replace(sight, watched=state, owners=owners, log=tuple(lines[-LONGEST_LOG:]), log_of=group)
    return _with_samples(known, group, samples)


def from_course(sight: Sight, group: str, course: Course, since: int, at_ms: int) -> Sight:
    """`since`: when the records begin, in µs."""
    at = at_ms * US_PER_MS
    account = account_of(course, since, at)
    moment = moment_of(account, at)
    said = (f"{state_text(moment)}.", *(wait_text(wait, moment, account) for wait in moment.waits))
    lines = tuple(
        LogLine(at_ms=begin_of(one.rebalance) // US_PER_MS, text="; ".join(reasons([one])))
        for one in account.rebalances[-MOST_STORIES:]
    )
    known = replace(sight, owners=_tracks(account, at_ms), log=lines, log_of=group, said=said)
    return _with_samples(
        known, group, {place: commits_until(course, place, at_ms) for place in course.commits.places}
    )


def last_story(course: Course, at_ms: int) -> str | None:
    """Why a group rebalanced last, in the hour before the moment."""
    at = at_ms * US_PER_MS
    rebalances = account_of(course, at - HOUR_MS * US_PER_MS, at).rebalances
    if not rebalances:
        return None
    began_ms = begin_of(rebalances[-1].rebalance) // US_PER_MS
    return f"{clock_text(began_ms)[:8]} {'; '.join(reasons(rebalances[-1:]))}"


def commits_until(course: Course, place: Place, at_ms: int) -> list[Sample]:
    """The last ones."""
    times, offsets, _ = course.commits.between(place, 0, at_ms * US_PER_MS)
    rows = zip(times[-SAMPLES:].tolist(), offsets[-SAMPLES:].tolist(), strict=True)
    return [Sample(time // US_PER_MS, offset, None, None) for time, offset in rows]


def _with_samples(sight: Sight, group: str, samples: dict[Place, list[Sample]]) -> Sight:
    seen = sight.groups.get(group)
    if seen is None:
        return sight
    kept = {place: tuple(listed[-SAMPLES:]) for place, listed in samples.items()}
    return replace(sight, groups={**sight.groups, group: replace(seen, samples=kept)})


def _tracks(account: Account, at_ms: int) -> Tracks:
    """The owners in the last `KEPT_MS`. A span without a record is one without an owner."""
    tracks: dict[Place, Track] = {}
    for span in sorted(account.holdings, key=lambda span: span.since):
        since_ms = max(span.since // US_PER_MS, at_ms - KEPT_MS)
        until_ms = at_ms if span.until is None else span.until // US_PER_MS
        if until_ms < since_ms or since_ms > at_ms:
            continue
        owner = None if span.member is None else account.name_of(span.member)
        ended = ((until_ms, None),) if until_ms < at_ms else ()
        before = tuple(change for change in tracks.get(span.place, ()) if change[0] < since_ms)
        tracks[span.place] = (*before, (since_ms, owner), *ended)
    return tracks
