"""A topic: who reads it, and its partitions."""

from collections.abc import Iterator
from typing import NamedTuple

from cli.render.cells import Duration, safe_text
from cli.render.fit import short_names
from cli.render.lines import Line, Role, folded
from cli.verbs.top.group_rows import health_of
from cli.verbs.top.group_tables import LABEL, lag_time, place_key
from cli.verbs.top.sight import SeenGroup, Sight
from cli.verbs.top.tables import GridTable, grid_of
from groups.counts import counted
from groups.lag import PartitionLag, each_once, longest_lag_ms, total_lag
from groups.use import TopicUse, topic_use
from groups.waits import labels_of


class Reader(NamedTuple):
    """A group that reads the topic, or did."""

    group: str
    seen: SeenGroup
    use: TopicUse
    rows: tuple[PartitionLag, ...]  # Of the topic


class TopicReaders:
    """The readers of a topic. Of a group of which nothing new is known, its use is judged once."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self._known: dict[str, tuple[SeenGroup, Reader | None]] = {}

    def of(self, sight: Sight) -> list[Reader]:
        before = self._known
        self._known = {
            name: known
            if (known := before.get(name)) and known[0] is seen
            else (seen, self._reader(name, seen))
            for name, seen in sorted(sight.groups.items())
        }
        return [reader for _, reader in self._known.values() if reader is not None]

    def _reader(self, name: str, seen: SeenGroup) -> Reader | None:
        group = seen.polled.group
        use = None if group is None else topic_use(group, self.topic)
        if use is None:
            return None
        return Reader(name, seen, use, tuple(row for row in seen.polled.rows if row.topic == self.topic))


def topic_lines(sight: Sight, topic: str, readers: list[Reader], width: int) -> list[Line]:
    return [
        line
        for text, role in _sentences(sight, topic, readers)
        for line in folded(safe_text(text), width, role)
    ]


def _sentences(sight: Sight, topic: str, readers: list[Reader]) -> Iterator[tuple[str, Role]]:
    logs = {row.partition: (row.log_start, row.end) for reader in readers for row in reader.rows}
    known = sight.topics.get(topic)
    count = known.partitions if known is not None else len(logs)
    kept = [end - start for start, end in logs.values() if start is not None and end is not None]
    words = [counted(count, "partition")] if count else ["no partition is known from the groups read so far"]
    if kept and len(kept) == count:
        words.append(f"{sum(kept):,} offsets from the oldest record to the end")
    yield "  ".join(words), Role.PLAIN
    uses = [reader.use for reader in readers]
    now = uses.count(TopicUse.ASSIGNED) + uses.count(TopicUse.SUBSCRIBED)
    parts = [f"{counted(now, 'group')} with members that read it"]
    if only := uses.count(TopicUse.COMMITTED):
        parts.append(f"{counted(only, 'group')} with nothing but committed offsets")
    if unknown := uses.count(TopicUse.UNKNOWN):
        parts.append(f"{counted(unknown, 'group')} of which that is not known")
    yield "; ".join(parts), Role.PLAIN
    if unread := len(sight.listings.keys() - sight.groups.keys()):
        yield f"{counted(unread, 'group')} still to be read", Role.FAINT


def readers_table(readers: list[Reader]) -> GridTable:
    return grid_of(
        readers,
        lambda one: one.group,
        ("GROUP", lambda one: one.group),
        ("STATE", _state),
        ("USE", lambda one: one.use.value),
        ("##MEMBERS", lambda one: len({row.member.id for row in one.rows if row.member is not None})),
        ("#LAG", lambda one: total_lag(row.lag for row in each_once(one.rows))),
        ("#LAG-TIME", lambda one: _longest(one.rows)),
        ("HEALTH", lambda one: (health := health_of(one.seen)) and health.value),
        ("##PARTITIONS", lambda one: len({row.partition for row in one.rows})),
    )


def _state(reader: Reader) -> str | None:
    group = reader.seen.polled.group
    return None if group is None else group.state.value


def _longest(rows: tuple[PartitionLag, ...]) -> Duration | None:
    longest = longest_lag_ms(rows)
    return None if longest is None else Duration(longest)


def partitions_of_topic(readers: list[Reader]) -> GridTable:
    """A row per partition and group."""
    rows = sorted(
        ((row, reader) for reader in readers for row in reader.rows),
        key=lambda pair: (pair[0].partition, pair[1].group),
    )
    names = short_names((reader.group for reader in readers), LABEL)
    return grid_of(
        rows,
        lambda pair: place_key(pair[1].group, pair[0].partition),
        ("#PARTITION", lambda pair: pair[0].partition),
        ("GROUP", lambda pair: names[pair[1].group]),
        ("#LAG", lambda pair: pair[0].lag),
        ("#LAG-TIME", lambda pair: lag_time(pair[0])),
        ("OWNER", lambda pair: _owner(*pair)),
        ("#COMMITTED", lambda pair: pair[0].committed),
        ("#LOG-START", lambda pair: pair[0].log_start),
        ("#LOG-END", lambda pair: pair[0].end),
    )


def _owner(row: PartitionLag, reader: Reader) -> str | None:
    group = reader.seen.polled.group
    if row.member is None or group is None:
        return None
    return labels_of(group).get(row.member.id, row.member.id)
