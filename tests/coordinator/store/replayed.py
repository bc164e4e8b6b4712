"""The state after replaying every record: the slow, obvious implementation, and its comparison."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.context import EngineState, Group
from coordinator.engine.engine import Engine
from coordinator.engine.records import OffsetRecord
from coordinator.store.other_groups import OtherGroup, OtherGroups
from coordinator.store.records import OtherRecord, decode_record
from wire.log.batch_header import Batch
from wire.log.control_records import ControlType, control_type
from wire.log.log_records import LogRecord
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType


@dataclass(slots=True)
class Sequential:
    """Replays one record after another, as a broker does."""

    engine: Engine = field(default_factory=Engine)
    others: OtherGroups = field(default_factory=OtherGroups)
    unknown_keys: Counter[int] = field(default_factory=Counter)
    malformed: list[int] = field(default_factory=list)
    _partitions: int = -1

    def producer(self, producer_id: int) -> int:
        """The engine's producer id for a producer of this partition: each partition has separate markers."""
        return producer_id + (self._partitions << 64)

    def replay(self, log: Iterable[tuple[Batch, Sequence[LogRecord]]], as_of_ms: int | None = None) -> None:
        """Replay a partition; transactions open at its end stay open, whatever markers other partitions have."""
        self._partitions += 1
        for batch, records in log:
            for record in records:
                if as_of_ms is not None and record.timestamp > as_of_ms:
                    continue
                if batch.is_control:
                    self._end(batch, record)
                else:
                    self._record(batch, record)

    def _end(self, batch: Batch, record: LogRecord) -> None:
        kind = control_type(record)
        if kind in (ControlType.COMMIT, ControlType.ABORT):
            self.engine.end_transaction(
                self.producer(batch.producer_id), committed=kind is ControlType.COMMIT
            )

    def _record(self, batch: Batch, stored: LogRecord) -> None:
        try:
            record = decode_record(stored.key or b"", stored.value)
        except UnknownKeyType as error:
            self.unknown_keys[error.key_type] += 1
        except DecodeError:
            self.malformed.append(stored.offset)
        else:
            if isinstance(record, OtherRecord):
                self._other(record)
            elif isinstance(record, OffsetRecord):
                producer_id = None if batch.producer_id == -1 else self.producer(batch.producer_id)
                self.engine.replay(record, producer_id)
            else:
                self.engine.replay(record)
                if record.group in self.engine.state.groups:
                    self.others.by_id.pop(record.group, None)

    def _other(self, record: OtherRecord) -> None:
        group = record.key["groupId"]
        self.others.replay(record.key_type, record.key, record.value)
        self.engine.note_other_type(group, exists=group in self.others.by_id)


def other_groups(groups: Mapping[str, OtherGroup]) -> dict[str, Any]:
    return {name: group.described({}) for name, group in groups.items()}


def groups(state: EngineState) -> dict[str, Any]:
    """All facts about the groups that are in records; the creation time of a simple group is in none."""
    return {name: _shown(group) for name, group in sorted(state.groups.items())}


def _shown(group: Group) -> Any:
    if isinstance(group, ClassicGroup):
        return ("classic", group.stored, group.state, group.generation, group.protocol_type, group.leader)
    assert isinstance(group, ConsumerGroup)
    return (
        "consumer",
        group.epoch,
        group.assignment_epoch,
        group.metadata_hash,
        group.members,
        group.targets,
        group.regexes,
        [member.id for member in group.in_order()],
    )
