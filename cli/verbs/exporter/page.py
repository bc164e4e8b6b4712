"""The figures of all groups as text: written once for each poll, kept as bytes, and read by every scrape.

prometheus_client makes an object of every sample, of which a fleet has hundreds of thousands; here a sample is a line
from the beginning. OpenMetrics and Prometheus's text differ only in the lines that begin a metric: its samples are the
same bytes in both. What changes from scrape to scrape (`exporter.own`) is written by prometheus_client, and comes last:
it continues the compressed bytes of what comes before, which are made once.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from threading import Lock

from prometheus_client.utils import floatToGoString

from cli.verbs.exporter.course import Course
from cli.verbs.exporter.families import (
    FAMILIES,
    OF_GROUPS,
    OF_PARTITIONS,
    OF_TOPICS,
    READABLE,
    UNREAD,
    Family,
    GroupFacts,
    Kind,
    Labels,
    Level,
)
from cli.verbs.exporter.reading import GroupReading, Reading

_FASTEST = 1
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LEVELS = tuple(Level)
_MOST_VALUES = 4
"""Of a metric of a group: what its protocols, of which members may speak two, are counted as."""
_PER_GROUP = 2 + _MOST_VALUES + len(OF_GROUPS)
_SERIES = {Level.GROUP: _PER_GROUP, Level.TOPIC: len(OF_TOPICS), Level.PARTITION: len(OF_PARTITIONS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How fine the figures are, and how many samples there may be."""

    per: Level = Level.TOPIC
    max_series: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A metric: its head in both formats, and its samples."""

    family: Family
    samples: bytes

    def head(self, *, openmetrics: bool) -> bytes:
        """`# HELP` and `# TYPE`; OpenMetrics has the name without the suffix, and more types."""
        family = self.family
        name = family.name if openmetrics else family.sample
        kind = Kind.GAUGE if family.kind is Kind.INFO and not openmetrics else family.kind
        return f"# HELP {name} {family.help}\n# TYPE {name} {kind.value}\n".encode()


@dataclass(slots=True)
class Page:
    """What a poll found out, as text. Thread-safe."""

    segments: Sequence[Segment] = ()
    series: int = 0
    left_out: Mapping[Level, int] = field(default_factory=dict)
    """Samples that were too many, by level."""
    _compressed: dict[bool, tuple[bytes, int, int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def parts(self, *, openmetrics: bool) -> list[bytes]:
        """Pieces, to be written one after the other."""
        return [
            part
            for segment in self.segments
            for part in (segment.head(openmetrics=openmetrics), segment.samples)
        ]

    def compressed(self, tail: bytes, *, openmetrics: bool) -> list[bytes]:
        """Pieces of one gzip stream, with `tail` after what the page holds."""
        with self._lock:
            if openmetrics not in self._compressed:
                self._compressed[openmetrics] = _deflated(self.parts(openmetrics=openmetrics))
            body, checksum, size = self._compressed[openmetrics]
        rest = zlib.compressobj(_FASTEST, wbits=-zlib.MAX_WBITS)
        end = struct.pack("<II", zlib.crc32(tail, checksum), (size + len(tail)) & 0xFFFFFFFF)
        return [_GZIP_HEADER, body, rest.compress(tail) + rest.flush(), end]


def _deflated(parts: Iterable[bytes]) -> tuple[bytes, int, int]:
    """Raw deflate that ends on a byte and needs nothing after it, with the checksum and length of what it holds."""
    packer = zlib.compressobj(_FASTEST, wbits=-zlib.MAX_WBITS)
    packed, checksum, size = bytearray(), 0, 0
    for part in parts:
        packed += packer.compress(part)
        checksum, size = zlib.crc32(part, checksum), size + len(part)
    packed += packer.flush(zlib.Z_FULL_FLUSH)
    return bytes(packed), checksum, size


def page_of(reading: Reading, course: Course, limits: Limits) -> Page:
    """The figures of a poll."""
    admitted, left_out = admit(reading.groups.values(), limits)
    writer = _Writer()
    for seen in admitted[Level.GROUP]:
        writer.group(seen, reading, course)
    for seen in admitted[Level.TOPIC]:
        writer.topics(seen)
    for seen in admitted[Level.PARTITION]:
        writer.partitions(seen)
    return Page(segments=writer.segments(), series=writer.series, left_out=left_out)


def admit(
    groups: Iterable[GroupReading], limits: Limits
) -> tuple[Mapping[Level, Sequence[GroupReading]], Mapping[Level, int]]:
    """Which groups are shown at each level, and how many samples of the others are left out.

    Figures of groups come before those of topics, and those before partitions. At each level whole groups are left
    out, the last by name, so that the same ones are shown in every poll.
    """
    every, left = list(groups), limits.max_series
    shown: dict[Level, Sequence[GroupReading]] = {}
    left_out: dict[Level, int] = {}
    for level in _LEVELS:
        wanted = every if _LEVELS.index(level) <= _LEVELS.index(limits.per) else []
        chosen: list[GroupReading] = []
        left_out[level] = 0
        for seen in wanted:
            count = _SERIES[level] * _places(seen, level)
            if left_out[level] or count > left:
                left_out[level] += count
            else:
                left -= count
                chosen.append(seen)
        shown[level] = chosen
    return shown, left_out


def _places(seen: GroupReading, level: Level) -> int:
    if level is Level.GROUP:
        return 1
    return len(seen.rows) if level is Level.PARTITION else len({row.topic for row in seen.rows})


class _Writer:
    """Collects samples by metric."""

    def __init__(self) -> None:
        self._lines: dict[Family, bytearray] = {}
        self.series = 0

    def segments(self) -> list[Segment]:
        """All metrics that have a sample, in the order of their table."""
        return [Segment(each, bytes(self._lines[each])) for each in FAMILIES if each in self._lines]

    def _add(self, family: Family, lines: Sequence[str]) -> None:
        if lines:
            self._lines.setdefault(family, bytearray()).extend("".join(lines).encode())
            self.series += len(lines)

    def group(self, seen: GroupReading, reading: Reading, course: Course) -> None:
        """The samples of the group itself."""
        at = f'group="{escaped(seen.id)}"'
        self._add(READABLE, [f"{READABLE.sample}{{{at}}} {int(seen.error is None)}\n"])
        if seen.error is not None:
            self._add(UNREAD, [f'{UNREAD.sample}{{{at},error="{escaped(seen.error)}"}} 1\n'])
        if seen.group is None:
            return
        facts = GroupFacts(
            seen=seen, group=seen.group, rows=seen.rows, topics=reading.topics, course=course.groups[seen.id]
        )
        for family in OF_GROUPS:
            values = family.values(facts)
            if isinstance(values, Mapping):
                named = [(at + _more(family.labels, labels), value) for labels, value in values.items()]
                self._add(family, [f"{family.sample}{{{labels}}} {text(value)}\n" for labels, value in named])
            elif values is not None:
                self._add(family, [f"{family.sample}{{{at}}} {text(values)}\n"])

    def topics(self, seen: GroupReading) -> None:
        """The samples of its topics."""
        ordered = sorted(seen.rows, key=attrgetter("topic"))
        by_topic = [(topic, list(rows)) for topic, rows in groupby(ordered, key=attrgetter("topic"))]
        group = escaped(seen.id)
        for family in OF_TOPICS:
            self._add(
                family,
                [
                    f'{family.sample}{{group="{group}",topic="{escaped(topic)}"}} {text(value)}\n'
                    for topic, rows in by_topic
                    if (value := family.values(rows)) is not None
                ],
            )

    def partitions(self, seen: GroupReading) -> None:
        """The samples of its partitions."""
        group = escaped(seen.id)
        topics = {topic: escaped(topic) for topic in {row.topic for row in seen.rows}}
        places = [
            (f'group="{group}",topic="{topics[row.topic]}",partition="{row.partition}"', row)
            for row in seen.rows
        ]
        for family in OF_PARTITIONS:
            self._add(
                family,
                [
                    f"{family.sample}{{{place}}} {text(value)}\n"
                    for place, row in places
                    if (value := family.values(row)) is not None
                ],
            )


def _more(names: Labels, values: Labels) -> str:
    return "".join(f',{name}="{escaped(value)}"' for name, value in zip(names, values, strict=True))


def escaped(value: str) -> str:
    """The value of a label, between its quotation marks."""
    if "\\" in value or '"' in value or "\n" in value:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return value


def text(value: float) -> str:
    """A number: whole ones without a fraction, infinity as +Inf."""
    return str(value) if isinstance(value, int) else str(floatToGoString(value))  # type: ignore[no-untyped-call]
