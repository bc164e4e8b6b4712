"""Random logs of commits, and their table, computed the slow and obvious way."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from random import Random
from typing import Any, TypeAlias

from coordinator.engine.records import OffsetRecord, StoredOffset
from coordinator.store.records import encode_record
from tests.coordinator.store.logs import Written
from wire.log.control_records import ControlType

START_MS = 1_700_000_000_000
Key: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    key: Key
    place: int
    time_ms: int
    offset: int | None
    producer_id: int | None


@dataclass(slots=True)
class RandomCommits:
    """Commits of some groups, plain and in transactions that are committed, rolled back or left open."""

    random: Random
    transactions: bool = True
    log: Written = field(default_factory=Written)
    said: list[Said] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)  # places of what does not count
    _open: dict[int, list[int]] = field(default_factory=dict)
    _time_ms: int = START_MS

    def write(self, batches: int) -> None:
        for _ in range(batches):
            self._time_ms += self.random.choice((1, 5_000, 300_000, 3_600_000))
            choice = self.random.random()
            if choice < 0.6 or not self.transactions:
                self._batch(None)
            elif choice < 0.85:
                self._batch(self.random.choice((7, 8, 9)))
            else:
                self._end(self.random.choice((7, 8, 9)))
            if self.random.random() < 0.1:
                self.log.roll()

    def close(self) -> None:
        """No more comes: what is open does not count."""
        for places in self._open.values():
            self.lost.update(places)

    def counted(self) -> list[Said]:
        return [commit for commit in self.said if commit.place not in self.lost]

    def _batch(self, producer_id: int | None) -> None:
        records = []
        for index in range(self.random.randint(1, 4)):
            key = self.random.choice("ab"), self.random.choice(("orders", "naïve")), self.random.randint(0, 1)
            offset = self.random.randint(0, 50)
            is_tombstone = producer_id is None and self.random.random() < 0.1
            value = (
                None
                if is_tombstone
                else StoredOffset(offset=offset, leader_epoch=-1, metadata="", commit_ms=1)
            )
            records.append(
                encode_record(OffsetRecord(group=key[0], topic=key[1], partition=key[2], value=value))
            )
            position = self.log.next_offset + index
            self.said.append(
                Said(
                    key=key,
                    place=position,
                    time_ms=self._time_ms,
                    offset=None if is_tombstone else offset,
                    producer_id=producer_id,
                )
            )
            if producer_id is not None:
                self._open.setdefault(producer_id, []).append(position)
        self.log.batch(
            records, timestamp=self._time_ms, transaction_of=-1 if producer_id is None else producer_id
        )

    def _end(self, producer_id: int) -> None:
        kind = self.random.choice((ControlType.COMMIT, ControlType.ABORT))
        self.log.end(producer_id, kind, timestamp=self._time_ms)
        places = self._open.pop(producer_id, [])
        if kind is ControlType.ABORT:
            self.lost.update(places)


def commits_table(counted: list[Said]) -> list[dict[str, Any]]:
    rows: dict[tuple[date, Key], dict[str, Any]] = {}
    before: dict[Key, Said] = {}
    for said in counted:
        time = datetime.fromtimestamp(said.time_ms / 1000, UTC)
        row = rows.setdefault(
            (time.date(), said.key),
            {
                "day": time.date(),
                **dict(zip(("group", "topic", "topic_partition"), said.key, strict=True)),
                "commits": 0, "first_offset": None, "last_offset": None, "resets": 0, "longest_gap_s": None,
                "deleted": 0, "first": time, "last": time,
            },
        )  # fmt: skip
        row["last"] = time
        if said.offset is None:
            row["deleted"] += 1
            before.pop(said.key, None)
            continue
        row["commits"] += 1
        row["last_offset"] = said.offset
        if row["first_offset"] is None:
            row["first_offset"] = said.offset
        earlier = before.get(said.key)
        before[said.key] = said
        if earlier is None or earlier.offset is None:
            continue
        row["resets"] += said.offset < earlier.offset
        row["longest_gap_s"] = max(row["longest_gap_s"] or 0.0, (said.time_ms - earlier.time_ms) / 1000)
    return list(rows.values())
