"""A partition of a group: its owner, its offsets, and its commits over time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from cli.render.cells import safe_text
from cli.render.lines import Line, Role, folded
from cli.verbs.top.group_rows import rate_text
from cli.verbs.top.group_summary import group_on_screen
from cli.verbs.top.group_tables import rates_of, sparkline, time_text
from cli.verbs.top.sight import Sample, Sight
from cli.verbs.top.tables import GridTable, grid_of
from cli.verbs.watch.events import Place
from groups.counts import counted
from groups.lag import PartitionLag
from groups.times import duration_text, format_moment, seconds_text
from groups.transactions import pending_text
from groups.waits import labels_of

MARKS = 60  # Of the line of lags


def row_of(sight: Sight, group: str, place: Place) -> PartitionLag | None:
    seen = sight.groups.get(group)
    return next(
        (row for row in (seen.polled.rows if seen else ()) if (row.topic, row.partition) == place), None
    )


def partition_lines(sight: Sight, group: str, place: Place, width: int) -> list[Line]:
    sentences = [*_sentences(sight, group, place)]
    return [line for text, role in sentences for line in folded(safe_text(text), width, role)]


def _sentences(sight: Sight, name: str, place: Place) -> Iterator[tuple[str, Role]]:
    group, row = group_on_screen(sight, name), row_of(sight, name, place)
    if group is None or row is None:
        is_read = name in sight.groups
        yield (
            ("The group neither owns it nor has committed an offset." if is_read else "Reading the group …"),
            Role.PLAIN,
        )
        return
    yield from _owner(sight, name, place, row)
    yield "  ".join(_offset_words(row)), Role.PLAIN
    if row.lost:
        yield f"{counted(row.lost, 'offset')} before the log start: deleted before they were read.", Role.BAD
    read, written = rates_of(samples_of(sight, name, place))
    if read is not None and written is not None:
        gain, lag = read - written, row.unread or 0
        until = f"  all is read in {seconds_text(lag / gain)}" if gain > 0 and lag > 0 else ""
        yield f"reads {rate_text(read)}/s  written {rate_text(written)}/s{until}", Role.PLAIN
    if group.pending is not None and place in group.pending.places:
        watched = sight.watched.groups.get(name)
        yield pending_text(group.pending, watched.at_ms if watched else None), Role.BAD
    samples = samples_of(sight, name, place)[-MARKS:]
    lags = [sample.lag for sample in samples if sample.lag is not None]
    if len(lags) > 1:
        over = duration_text(samples[-1].at_ms - samples[0].at_ms)
        yield f"lag {sparkline(samples, MARKS)} {min(lags):,} to {max(lags):,} in {over}", Role.PLAIN


def _owner(sight: Sight, name: str, place: Place, row: PartitionLag) -> Iterator[tuple[str, Role]]:
    group, watched = group_on_screen(sight, name), sight.watched.groups.get(name)
    gap = watched.unowned.get(place) if watched else None
    if row.member is not None and group is not None:
        label = labels_of(group).get(row.member.id, row.member.id)
        yield f"owned by {label}  host {row.member.client.address or 'not known'}", Role.PLAIN
    elif gap is not None and watched is not None:
        yield f"Without an owner for {duration_text(max(watched.asked_ms - gap.since_ms, 0))}.", Role.BAD
    elif not row.is_subscribed:
        yield "No member reads its topic.", Role.FAINT
    else:
        yield "No owner is known.", Role.FAINT


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


def samples_of(sight: Sight, group: str, place: Place) -> Sequence[Sample]:
    seen = sight.groups.get(group)
    return seen.samples.get(place, ()) if seen else ()


def commits_table(sight: Sight, group: str, place: Place) -> GridTable:
    """Each commit that was seen, the newest first."""
    samples = samples_of(sight, group, place)
    moved = [(now, before) for before, now in pairwise(samples) if now.committed != before.committed]
    rows = [*((sample, before) for sample, before in reversed(moved)), *((one, None) for one in samples[:1])]
    first_ms, last_ms = (samples[0].at_ms, samples[-1].at_ms) if samples else (0, 0)
    return grid_of(
        rows,
        lambda pair: str(pair[0].at_ms),
        ("SEEN-AT", lambda pair: time_text(pair[0].at_ms, first_ms, last_ms)),
        ("#COMMITTED", lambda pair: pair[0].committed),
        ("#STEP", lambda pair: _step(*pair)),
        ("#LAG", lambda pair: pair[0].lag),
        ("#LOG-END", lambda pair: pair[0].end),
    )


def _step(sample: Sample, before: Sample | None) -> int | None:
    if before is None or before.committed is None or sample.committed is None:
        return None
    return sample.committed - before.committed
