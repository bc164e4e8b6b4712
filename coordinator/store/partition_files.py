"""The directory of a partition: its name, and the two small files next to its segments; checkpoint files.
`partition.metadata` has the lines `version: 0` and `topic_id: rLqC2mAaSwaTp_K8YEvuag`. A checkpoint file has a
version, the number of lines that follow, and these; `leader-epoch-checkpoint` a line per epoch, with its first
offset. Source: UnifiedLog, PartitionMetadataFile, LeaderEpochCheckpointFile, CheckpointFile, ReplicationUtils."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from uuid import UUID

from coordinator.store.disk import write_atomically
from wire.files import read_regular
from wire.log.errors import DamagedLog
from wire.uuids import format_uuid, parse_uuid

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
CLUSTER_METADATA = "__cluster_metadata"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC, CLUSTER_METADATA})  # not written by producers
LONGEST_NAME = 255  # the length limit of a directory's name; the name of a deleted topic is cut to fit

PARTITION_METADATA = "partition.metadata"
LEADER_EPOCHS = "leader-epoch-checkpoint"

_NAME = re.compile(r"(?P<topic>\S+)-(?P<partition>[0-9]{1,10})(?:\.\S+-(?P<suffix>delete|future|stray))?")
_VERSION = 0
_INT32 = 1 << 31
_INT64 = 1 << 63


class DirectorySuffix(Enum):
    """The suffix of a partition's directory: to be deleted, or being moved here from another disk."""

    NONE = ""
    DELETE = "delete"
    FUTURE = "future"
    STRAY = "stray"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionName:
    """The parts of a directory's name. The topic name of a deleted one may be cut, to fit 255 characters."""

    topic: str
    partition: int
    suffix: DirectorySuffix = DirectorySuffix.NONE

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def partition_directories(root: Path) -> Iterator[tuple[Path, PartitionName]]:
    """The directories of partitions in a log directory, in the order of their names. Raises OSError."""
    for path in sorted(root.iterdir()):
        name = parse_partition_name(path.name)
        if name is not None and path.is_dir():
            yield path, name


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderEpoch:
    """The epoch of a leader, and its first offset."""

    epoch: int
    start_offset: int


def parse_partition_name(name: str) -> PartitionName | None:
    """The partition of a directory's name; None if it is not the name of a partition's directory."""
    match = _NAME.fullmatch(name)
    if match is None or int(match["partition"]) >= _INT32:
        return None
    return PartitionName(
        topic=match["topic"], partition=int(match["partition"]), suffix=DirectorySuffix(match["suffix"] or "")
    )


def partition_for(group: str, partitions: int = 50) -> int:
    """The partition of `__consumer_offsets` that holds a group; `partitions` is the topic's partition count."""
    return partitions_for([group], partitions)[0]


def partitions_for(groups: Sequence[str], partitions: int) -> list[int]:
    """The partition of each group: its `String.hashCode` without the sign, 0 for -2^31 (`Utils.abs`)."""
    from assignors.java.hash_map import string_hashes  # numpy, which not every reader of a directory needs

    codes: list[int] = string_hashes(groups).tolist()
    return [(0 if code == -_INT32 else abs(code)) % partitions for code in codes]


def read_topic_id(directory: Path) -> UUID | None:
    """The topic's id in `partition.metadata`; None without the file (before Kafka 2.8, and while a partition is
    created). Raises DamagedLog: it contains no id. Raises OSError."""
    path = directory / PARTITION_METADATA
    try:
        lines = _lines(path)
    except FileNotFoundError:
        return None
    fields = [re.split(r":\s+", line.text, maxsplit=1) for line in lines[:2]]
    if [field[0] for field in fields] != ["version", "topic_id"] or min(map(len, fields)) < 2:
        raise DamagedLog(path, 0, "a version and a topic_id are expected, each on a line")
    if _number(fields[0][1], _INT32) is None:
        raise DamagedLog(path, 0, f"the version {fields[0][1]!r} is not a number")
    try:
        topic_id = parse_uuid(fields[1][1])
    except ValueError as error:
        raise DamagedLog(path, lines[1].position, str(error)) from None
    if topic_id.int == 0:
        raise DamagedLog(path, lines[1].position, "the topic id is zero")
    return topic_id


def write_topic_id(directory: Path, topic_id: UUID) -> None:
    """Write `partition.metadata`. Raises OSError: the old one is unchanged."""
    content = f"version: {_VERSION}\ntopic_id: {format_uuid(topic_id)}"
    write_atomically(directory / PARTITION_METADATA, content)


def read_leader_epochs(directory: Path) -> tuple[LeaderEpoch, ...]:
    """The epochs, ascending; none without a file or records. Raises DamagedLog. Raises OSError."""
    return tuple(
        LeaderEpoch(epoch=epoch, start_offset=offset)
        for _, epoch, offset in read_checkpoint_lines(directory / LEADER_EPOCHS, ("leader epoch", "offset"))
    )


def write_leader_epochs(directory: Path, epochs: Sequence[LeaderEpoch]) -> None:
    """Write `leader-epoch-checkpoint`. Raises OSError: the old one is unchanged."""
    lines = [f"{epoch.epoch} {epoch.start_offset}" for epoch in epochs]
    write_checkpoint_lines(directory / LEADER_EPOCHS, lines)


def read_checkpoint_lines(path: Path, fields: Sequence[str]) -> list[tuple[str, int, int]]:
    """The lines of a checkpoint file, empty without one: an int32 and an int64 at the end, after "" or a text. `fields`
    are their names. Raises DamagedLog: a line has other fields, or lines are missing. Raises OSError."""
    try:
        lines = _lines(path)
    except FileNotFoundError:
        return []
    if lines and _number(lines[0].text, _INT32) != _VERSION:
        raise DamagedLog(path, 0, f"version {lines[0].text!r} of a checkpoint where {_VERSION} is expected")
    if len(lines) > 1 and _number(lines[1].text, _INT32) != len(lines) - 2:
        raise DamagedLog(
            path, lines[1].position, f"{lines[1].text!r} lines are announced, {len(lines) - 2} follow"
        )
    entries = []
    for line in lines[2:]:
        words = line.text.split()
        numbers = [_number(word, limit) for word, limit in zip(words[-2:], (_INT32, _INT64), strict=False)]
        if len(words) != len(fields) or numbers[0] is None or numbers[1] is None:
            raise DamagedLog(path, line.position, f"{line.text!r} is not {', '.join(fields)}")
        entries.append((" ".join(words[:-2]), numbers[0], numbers[1]))
    return entries


def write_checkpoint_lines(path: Path, lines: Sequence[str]) -> None:
    """Replace a checkpoint file. Raises OSError: the old one is unchanged."""
    write_atomically(path, "".join(f"{line}\n" for line in (_VERSION, len(lines), *lines)))


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    position: int


def _lines(path: Path) -> list[_Line]:
    lines = []
    position = 0
    for raw in read_regular(path).splitlines(keepends=True):
        lines.append(_Line(raw.decode(errors="replace").rstrip("\r\n"), position))
        position += len(raw)
    return lines


def _number(text: str, limit: int) -> int | None:
    if not re.fullmatch("[0-9]{1,19}", text):
        return None
    number = int(text)
    return number if number < limit else None


UNDEFINED = -1  # no epoch, or no offset


class LeaderEpochs:
    """The epochs of one partition, ascending."""

    def __init__(self, epochs: Iterable[LeaderEpoch] = ()) -> None:
        self.epochs = list(epochs)

    @property
    def latest(self) -> int:
        """The epoch of the current leader; `UNDEFINED` before the first one."""
        return self.epochs[-1].epoch if self.epochs else UNDEFINED

    def begin(self, epoch: int, offset: int) -> None:
        """Start `epoch` at `offset`, and remove previous epochs without records."""
        if epoch <= self.latest:
            return
        while self.epochs and self.epochs[-1].start_offset >= offset:
            self.epochs.pop()
        self.epochs.append(LeaderEpoch(epoch=epoch, start_offset=offset))

    def of(self, offset: int) -> int:
        """The epoch in which the record at `offset` was written, or would be."""
        later = bisect_right(self.epochs, offset, key=lambda started: started.start_offset)
        return self.epochs[later - 1].epoch if later else UNDEFINED

    def end_of(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The largest epoch up to `epoch` that has records, and the offset after its last record.
        (`UNDEFINED`, `UNDEFINED`) for an epoch that has not started."""
        if epoch == UNDEFINED or epoch > self.latest:
            return UNDEFINED, UNDEFINED
        if epoch == self.latest:
            return epoch, log_end
        later = bisect_right(self.epochs, epoch, key=lambda started: started.epoch)
        last = self.epochs[later - 1].epoch if later else epoch
        return last, self.epochs[later].start_offset

    def forget_before(self, log_start: int) -> None:
        """Remove the epochs before the new log start offset; the first remaining epoch starts there."""
        later = bisect_right(self.epochs, log_start, key=lambda started: started.start_offset)
        if later:
            self.epochs[:later] = [replace(self.epochs[later - 1], start_offset=log_start)]
