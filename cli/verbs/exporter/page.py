"""The metrics of all groups as text, compressed as they are written, once for each poll: prometheus_client's objects
are too many for a fleet. After a full flush, raw deflate data ends on a byte boundary: pieces make one gzip stream."""

import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import attrgetter
from threading import Lock
from typing import Any, TypeAlias

from prometheus_client.utils import floatToGoString

from cli.otlp.message import PushedMetric
from cli.polls.history import ExporterHistory
from cli.polls.reading import PolledGroup, PollResult
from cli.verbs.exporter import families
from cli.verbs.exporter.options import OwnerName, SampleLevel
from cli.verbs.exporter.owners import Owners
from groups.lag import PartitionLag

CLUSTER = "cluster"  # The label of the context, if there are several
OWNER = "owner"  # The label of a partition's owner, with --owner
_OF_PROCESS = ("version", "implementation", "major", "minor", "patchlevel", "generation")
LABELS = {"le", "quantile", CLUSTER, OWNER, *_OF_PROCESS, *(level.value for level in SampleLevel)}.union(
    *(family.labels for family in families.FAMILIES)
)
"""The labels of all metrics, also of those of the process, and those that formats reserve."""
NO_LABELS: Mapping[str, str] = {}
_FASTEST = 1
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LEVELS = tuple(SampleLevel)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    per: SampleLevel = SampleLevel.TOPIC
    max_series: int
    owner: OwnerName | None = None
    owner_limit: int = 0


@dataclass(frozen=True, slots=True)
class PackedMetric:
    """A metric: its head in both formats, and its samples, compressed; `size` is their length as text."""

    family: families.AnyFamily
    packed: bytes
    size: int

    def head(self, *, openmetrics: bool) -> bytes:
        """`# HELP` and `# TYPE`; OpenMetrics uses the name without the suffix, and more types."""
        family = self.family
        name = family.name if openmetrics else family.sample
        kind = families.Kind.GAUGE if family.kind is families.Kind.INFO and not openmetrics else family.kind
        return f"# HELP {name} {family.help}\n# TYPE {name} {kind.value}\n".encode()

    @property
    def samples(self) -> bytes:
        return zlib.decompressobj(wbits=-zlib.MAX_WBITS).decompress(self.packed)


class _Packer:
    def __init__(self) -> None:
        self._packer = zlib.compressobj(_FASTEST, wbits=-zlib.MAX_WBITS)
        self._packed, self._size = bytearray(), 0

    def add(self, lines: Iterable[str]) -> None:
        text = "".join(lines).encode()
        self._packed += self._packer.compress(text)
        self._size += len(text)

    def segment(self, family: families.AnyFamily) -> PackedMetric:
        """All samples, ending on a byte boundary."""
        return PackedMetric(family, bytes(self._packed) + self._packer.flush(zlib.Z_FULL_FLUSH), self._size)


@dataclass(slots=True)
class MetricsPage:
    """The metrics of a poll, as text. Thread-safe."""

    segments: Sequence[PackedMetric] = ()
    series: int = 0
    left_out: Mapping[SampleLevel, int] = field(default_factory=dict)  # Number of omitted samples, by level
    _checksums: dict[bool, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def joined(cls, pages: Sequence["MetricsPage"]) -> "MetricsPage":
        """One page of those of several clusters: a format allows the samples of a metric in one place only."""
        if len(pages) == 1:
            return pages[0]
        order = {family: position for position, family in enumerate(families.FAMILIES)}
        segments = [segment for page in pages for segment in page.segments]
        return cls(segments=sorted(segments, key=lambda segment: order[segment.family]))

    def _metrics(self, *, openmetrics: bool) -> Iterator[tuple[bytes, list[PackedMetric]]]:
        """The head of each metric, and the segments with its samples: one for each cluster."""
        for _, segments in groupby(self.segments, key=attrgetter("family")):
            of_metric = list(segments)
            yield of_metric[0].head(openmetrics=openmetrics), of_metric

    def parts(self, *, openmetrics: bool) -> Iterator[bytes]:
        for head, segments in self._metrics(openmetrics=openmetrics):
            yield head
            yield from (segment.samples for segment in segments)

    def pushed(self) -> Iterator[PushedMetric]:
        """The metrics, with the names and labels that they have as text."""
        for family, segments in groupby(self.segments, key=attrgetter("family")):
            yield PushedMetric(
                name=family.sample,
                help=family.help,
                is_counter=family.kind is families.Kind.COUNTER,
                points=chain.from_iterable(map(_points, segments)),
            )

    def size(self, *, openmetrics: bool) -> int:
        metrics = self._metrics(openmetrics=openmetrics)
        return sum(len(head) + sum(segment.size for segment in segments) for head, segments in metrics)

    def compressed(self, tail: bytes, *, openmetrics: bool) -> list[bytes]:
        """Pieces of one gzip stream, with `tail` after the contents of the page."""
        checksum, size = self._checksum(openmetrics=openmetrics), self.size(openmetrics=openmetrics)
        pieces = [_GZIP_HEADER]
        for head, segments in self._metrics(openmetrics=openmetrics):
            pieces += [_deflated(head, zlib.Z_FULL_FLUSH), *(segment.packed for segment in segments)]
        end = struct.pack("<II", zlib.crc32(tail, checksum), (size + len(tail)) & 0xFFFFFFFF)
        return [*pieces, _deflated(tail, zlib.Z_FINISH), end]

    def _checksum(self, *, openmetrics: bool) -> int:
        """The checksum of all parts; computed for the first scrape that needs it."""
        with self._lock:
            if openmetrics not in self._checksums:
                checksum = 0
                for part in self.parts(openmetrics=openmetrics):
                    checksum = zlib.crc32(part, checksum)
                self._checksums[openmetrics] = checksum
            return self._checksums[openmetrics]


_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def _points(metric: PackedMetric) -> Iterator[tuple[dict[str, str], float]]:
    """Labels and values of its samples, from their text."""
    for line in metric.samples.decode().split("\n")[:-1]:
        labels, _, value = line.rpartition("} ")
        named = {
            name: re.sub(r"\\.", lambda match: _ESCAPED[match[0]], text) if "\\" in text else text
            for name, text in _LABEL.findall(labels)
        }
        yield named, float(value) if not value.lstrip("-").isdigit() else int(value)


def _deflated(text: bytes, end: int) -> bytes:
    packer = zlib.compressobj(_FASTEST, wbits=-zlib.MAX_WBITS)
    return packer.compress(text) + packer.flush(end)


def page_of(
    reading: PollResult,
    history: ExporterHistory,
    limits: PageLimits,
    labels: Mapping[str, str] = NO_LABELS,
    owners: Owners | None = None,
) -> MetricsPage:
    """The metrics of a poll within the limits: at the level that exceeds them, the groups last by name are omitted, so
    that every poll shows the same groups, and all finer levels. `labels` are those of all samples, `owners` give one
    to those of partitions."""
    shared = "".join(f'{name}="{escaped(value)}",' for name, value in labels.items())
    poll = _Poll(reading=reading, history=history, owners=owners)
    if owners is not None:
        owners.take(row for seen in reading.groups.values() for row in seen.rows())
    packers: dict[families.AnyFamily, _Packer] = defaultdict(_Packer)
    series, is_full = 0, False
    left_out = dict.fromkeys(SampleLevel, 0)
    for level in _LEVELS[: _LEVELS.index(limits.per) + 1]:
        for seen in reading.groups.values():
            samples = _SAMPLES[level](seen, poll, f'{shared}group="{escaped(seen.id)}"')
            count = sum(len(lines) for _, lines in samples)
            is_full = is_full or series + count > limits.max_series
            if is_full:
                left_out[level] += count
                continue
            series += count
            for family, lines in samples:
                if lines:
                    packers[family].add(lines)
    segments = [packers[family].segment(family) for family in families.FAMILIES if family in packers]
    return MetricsPage(segments=segments, series=series, left_out=left_out)


Samples: TypeAlias = list[tuple[families.AnyFamily, list[str]]]  # The lines of some metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class _Poll:
    reading: PollResult
    history: ExporterHistory
    owners: Owners | None


def _of_group(seen: PolledGroup, poll: _Poll, at: str) -> Samples:
    samples: Samples = []
    _add(samples, families.READABLE, families.READABLE.values(seen.error), at)
    _add(samples, families.UNREAD, families.UNREAD.values(seen.error), at)
    facts = None
    if seen.group is not None:
        read, others, topics = seen.read, seen.others, poll.reading.topics
        sums = read.with_(others)
        facts = families.GroupFacts(group=seen.group, topics=topics, sums=sums, read=read, others=others)
    past = poll.history.groups[seen.id]
    for family in families.OF_GROUPS:
        if family.of_history:
            _add(samples, family, family.values(past), at)
        elif facts is not None:
            _add(samples, family, family.values(facts), at)
    return samples


def _add(samples: Samples, family: families.AnyFamily, values: families.Values, at: str) -> None:
    """Add the samples of a metric of a group; `at` are the labels of the group."""
    if isinstance(values, dict):  # isinstance of Mapping takes a twentieth of a poll
        named = [(at + _more(family.labels, labels), value) for labels, value in values.items()]
        samples.append((family, [f"{family.sample}{{{labels}}} {text(value)}\n" for labels, value in named]))
    elif values is not None:
        samples.append((family, [f"{family.sample}{{{at}}} {text(values)}\n"]))


def _of_topics(seen: PolledGroup, _poll: _Poll, at: str) -> Samples:
    labeled = [(f'{at},topic="{escaped(topic)}"', sums) for topic, sums in sorted(seen.topics.items())]
    return [(family, _lines(family, labeled)) for family in families.OF_TOPICS]


def _of_partitions(seen: PolledGroup, poll: _Poll, at: str) -> Samples:
    topics = {topic: escaped(topic) for topic in seen.topics}
    labeled = [
        (f'{at},topic="{topics[row.topic]}",partition="{row.partition}"{_owner(poll, row)}', row)
        for row in seen.rows()
    ]
    return [(family, _lines(family, labeled)) for family in families.OF_PARTITIONS]


def _owner(poll: _Poll, row: PartitionLag) -> str:
    owner = None if poll.owners is None else poll.owners.of(row)
    return "" if owner is None else f',{OWNER}="{escaped(owner)}"'


def _lines(family: families.AnyFamily, labeled: Sequence[tuple[str, Any]]) -> list[str]:
    return [
        f"{family.sample}{{{labels}}} {text(value)}\n"
        for labels, values in labeled
        if (value := family.values(values)) is not None
    ]


_SAMPLES: Mapping[SampleLevel, Callable[[PolledGroup, _Poll, str], Samples]] = {
    SampleLevel.GROUP: _of_group,
    SampleLevel.TOPIC: _of_topics,
    SampleLevel.PARTITION: _of_partitions,
}


def _more(names: families.Labels, values: families.Labels) -> str:
    return "".join(f',{name}="{escaped(value)}"' for name, value in zip(names, values, strict=True))


def escaped(value: str) -> str:
    """The value of a label, between its quotation marks."""
    if "\\" in value or '"' in value or "\n" in value:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return value


def text(value: float) -> str:
    """A number: whole ones without a fraction, infinity as +Inf."""
    return str(value) if isinstance(value, int) else str(floatToGoString(value))  # type: ignore[no-untyped-call]
