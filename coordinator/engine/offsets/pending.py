"""Offsets committed in open transactions, invisible before the commit, and unstable until the end. The latest value in
the log wins. Source: OffsetMetadataManager.pendingTransactionalOffsets, OpenTransactions,
replayEndTransactionMarker."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from coordinator.engine.records import StoredOffset

Partition: TypeAlias = tuple[str, int]
"""Topic and partition."""


@dataclass(slots=True)
class _Pending:
    value: StoredOffset
    position: int  # Increases along the log
    superseded: bool = False
    """Whether a later value in the log is already visible: then this one never will be."""


@dataclass(slots=True)
class TransactionOffsets:
    """See the module. A producer has one transaction at a time."""

    _by_producer: dict[int, dict[tuple[str, Partition], _Pending]] = field(default_factory=dict)
    _producers: dict[str, dict[Partition, set[int]]] = field(default_factory=dict)
    """The producers of open transactions, by group and partition."""
    _position: int = 0

    def add(self, producer_id: int, group: str, partition: Partition, value: StoredOffset) -> None:
        """Keep an offset until the transaction of the producer ends."""
        self._position += 1
        of_producer = self._by_producer.setdefault(producer_id, {})
        of_producer[group, partition] = _Pending(value, self._position)
        self._producers.setdefault(group, {}).setdefault(partition, set()).add(producer_id)

    def supersede(self, group: str, partition: Partition) -> None:
        """Note a plain commit: it is later in the log than every offset that is pending now."""
        if not self._producers:
            return
        for producer_id in self._producers.get(group, {}).get(partition, ()):
            self._by_producer[producer_id][group, partition].superseded = True

    def drop(self, group: str, partition: Partition) -> None:
        """Delete pending offsets because of a tombstone, which also makes the partition stable."""
        for producer_id in self._close(group, partition):
            of_producer = self._by_producer[producer_id]
            del of_producer[group, partition]
            if not of_producer:
                del self._by_producer[producer_id]

    def end(self, producer_id: int, *, committed: bool) -> list[tuple[str, Partition, StoredOffset]]:
        """End the transaction. Returns the offsets that become visible, with their groups."""
        visible = []
        for (group, partition), pending in self._by_producer.pop(producer_id, {}).items():
            others = self._producers[group][partition]
            others.discard(producer_id)
            for other in others:
                theirs = self._by_producer[other][group, partition]
                theirs.superseded |= committed and theirs.position < pending.position
            if not others:
                self._close(group, partition)
            if committed and not pending.superseded:
                visible.append((group, partition, pending.value))
        return visible

    def partitions(self, group: str) -> Mapping[Partition, object]:
        return self._producers.get(group, {})

    def of_group(self, group: str) -> Iterator[tuple[Partition, StoredOffset]]:
        for partition, producers in self._producers.get(group, {}).items():
            for producer_id in producers:
                yield partition, self._by_producer[producer_id][group, partition].value

    def groups(self) -> tuple[str, ...]:
        return tuple(self._producers)

    def _close(self, group: str, partition: Partition) -> set[int]:
        of_group = self._producers.get(group, {})
        producers = of_group.pop(partition, set())
        if not of_group:
            self._producers.pop(group, None)
        return producers
