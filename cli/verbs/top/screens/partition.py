"""A partition of a group: its owner, its offsets, and its commits over time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from cli.render.lines import Role
from cli.verbs.top.group_rows import rate_text
from cli.verbs.top.group_summary import Sentence, group_on_screen
from cli.verbs.top.group_tables import owner_names, rates_of, sparkline, time_text
from cli.verbs.top.past_group import commits_until
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.screens.subject import SubjectScreen
from cli.verbs.top.sight import Focus, Sample, Sight
from cli.verbs.top.tables import GridTable, grid_of
from groups.counts import counted
from groups.lag import PartitionLag
from groups.model import TopicPartition
from groups.times import duration_text, format_moment, seconds_text
from groups.transactions import pending_text

MARKS = 60  # Of the line of lags


class PartitionScreen(SubjectScreen, ActingScreen):
    def __init__(self, group: str, topic: str, partition: str) -> None:
        super().__init__()
        self.group, self.place = group, (topic, int(partition) if partition.isdecimal() else -1)

    def partition_on_screen(self) -> TopicPartition | None:
        return self.place

    def wanted(self) -> Focus:
        return Focus(opened=self.group)

    @property
    def title_parts(self) -> list[str]:
        topic, number = self.place
        return [f"partition {topic}:{number} of {self.group}"]

    def empty_text(self, sight: Sight) -> str:
        return "No commit is known." if self.group in sight.groups else "Reading …"

    def sentences(self, sight: Sight) -> Iterator[Sentence]:
        group, seen = group_on_screen(sight, self.group), sight.groups.get(self.group)
        rows = (
            row for row in (seen.polled.rows() if seen else ()) if (row.topic, row.partition) == self.place
        )
        row = next(rows, None)
        if group is None or row is None:
            yield (
                ("Reading the group …" if seen is None else "It is not owned, and has no committed offset."),
                Role.PLAIN,
            )
            return
        yield self._owner(sight, row, owner_names(group).get(self.place))
        yield "  ".join(_offset_words(row)), Role.PLAIN
        if row.lost:
            yield (
                f"{counted(row.lost, 'offset')} before the log start: deleted before they were read.",
                Role.BAD,
            )
        samples = self._samples(sight)[-MARKS:]
        read, written = rates_of(samples)
        if read is not None and written is not None:
            gain, lag = read - written, row.unread or 0
            until = f"  all is read in {seconds_text(lag / gain)}" if gain > 0 and lag > 0 else ""
            yield f"reads {rate_text(read)}/s  written {rate_text(written)}/s{until}", Role.PLAIN
        if group.pending is not None and self.place in group.pending.places:
            yield pending_text(group.pending, seen.at_ms if seen else None), Role.BAD
        lags = [sample.lag for sample in samples if sample.lag is not None]
        if len(lags) > 1:
            over = duration_text(samples[-1].at_ms - samples[0].at_ms)
            yield f"lag {sparkline(samples, MARKS)} {min(lags):,} to {max(lags):,} in {over}", Role.PLAIN

    def _owner(self, sight: Sight, row: PartitionLag, owner: str | None) -> Sentence:
        watched = sight.watched.groups.get(self.group)
        gap = watched.unowned.get(self.place) if watched else None
        if owner is not None:
            host = row.member.client.address if row.member is not None else None
            return f"owned by {owner}{f'  host {host}' if host else ''}", Role.PLAIN
        if gap is not None and watched is not None:
            return f"Without an owner for {duration_text(max(watched.asked_ms - gap.since_ms, 0))}.", Role.BAD
        return ("No owner is known." if row.is_subscribed else "No member reads its topic."), Role.FAINT

    def _samples(self, sight: Sight) -> Sequence[Sample]:
        seen = sight.groups.get(self.group)
        return seen.samples.get(self.place, ()) if seen else ()

    def table(self, sight: Sight) -> GridTable:
        """What polls saw; and before them, what was read of the past."""
        samples, past = self._samples(sight), self.app.past
        course = past.read.courses.get(self.group) if past is not None and sight.past_ms is None else None
        if course is not None:
            begin_ms = samples[0].at_ms if samples else self.app.now_ms()
            samples = [*commits_until(course, self.place, begin_ms), *samples]
        return commits_table(samples)


def commits_table(samples: Sequence[Sample]) -> GridTable:
    """Each commit that was seen, the newest first."""
    moved = [(now, before) for before, now in pairwise(samples) if now.committed != before.committed]
    first_ms, last_ms = (samples[0].at_ms, samples[-1].at_ms) if samples else (0, 0)
    return grid_of(
        [*reversed(moved), *((one, None) for one in samples[:1])],
        lambda pair: str(pair[0].at_ms),
        ("SEEN-AT", lambda pair: time_text(pair[0].at_ms, first_ms, last_ms)),
        ("#COMMITTED", lambda pair: pair[0].committed),
        ("#STEP", lambda pair: _step(*pair)),
        ("#LAG", lambda pair: pair[0].lag),
        ("#LOG-END", lambda pair: pair[0].end),
    )


def _offset_words(row: PartitionLag) -> Iterator[str]:
    yield f"committed {_number(row.committed)}"
    yield f"lag {_number(row.lag)}"
    if row.lag_ms:
        yield f"the oldest unread is {duration_text(row.lag_ms)} old"
    if row.log_start is not None:
        yield f"log {row.log_start:,} to {_number(row.end)}"
    elif row.end is not None:
        yield f"the log ends at {row.end:,}"
    if row.stable is not None and row.stable != row.end:
        yield f"stable to {row.stable:,}"
    if row.last_commit_ms is not None:
        yield f"committed at {format_moment(row.last_commit_ms)}"
    if row.leader_epoch is not None:
        yield f"leader epoch {row.leader_epoch}"
    if row.metadata:
        yield f"metadata {row.metadata!r}"


def _number(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"


def _step(sample: Sample, before: Sample | None) -> int | None:
    if before is None or before.committed is None or sample.committed is None:
        return None
    return sample.committed - before.committed
