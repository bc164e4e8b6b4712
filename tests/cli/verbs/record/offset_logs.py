"""Logs of `__consumer_offsets` for the recorder: groups that rebalance and commit, and a recorder that reads them."""

import time
from pathlib import Path
from random import Random
from uuid import UUID

from cli.sources.journal.writer import JournalWriter
from cli.verbs.record.following import Fetched
from cli.verbs.record.reading import LogReading
from cli.verbs.record.recorder import LogRecorder
from coordinator.engine import records as stored
from coordinator.store.records import encode_record
from tests.coordinator.store.logs import Pairs, Written
from wire.log.batch_header import batch_at
from wire.log.control_records import ControlType
from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    write_assignment,
    write_subscription,
)

PARTITIONS = 4
START_MS = 1_767_225_600_000
TOPIC_ID = UUID(int=7)


def generation(
    group: str, number: int, members: list[str], at_ms: int, *, is_static: bool = False
) -> stored.ClassicGroupRecord:
    """A generation in which the members share the partitions of `orders`."""
    value = stored.ClassicGroupValue(
        protocol_type="consumer",
        generation=number,
        protocol="range" if members else None,
        leader=members[0] if members else None,
        state_since_ms=at_ms,
        members=tuple(
            stored.ClassicMemberValue(
                member=member,
                instance=f"i-{member}" if is_static else None,
                client_id=member[:2],
                host="/10.0.0.1",
                rebalance_timeout_ms=300_000,
                session_timeout_ms=6_000,
                subscription=write_subscription(
                    EmbeddedSubscription(version=1, topics=("orders",), user_data=None)
                ),
                assignment=write_assignment(
                    EmbeddedAssignment(
                        version=1,
                        partitions={"orders": tuple(range(index, PARTITIONS, len(members)))},
                        user_data=None,
                    )
                ),
            )
            for index, member in enumerate(members)
        ),
    )
    return stored.ClassicGroupRecord(group=group, value=value)


def commits(group: str, offset: int, partitions: range = range(PARTITIONS)) -> list[stored.Record]:
    return [
        stored.OffsetRecord(
            group=group,
            topic="orders",
            partition=number,
            value=stored.StoredOffset(
                offset=offset, leader_epoch=0, metadata="", commit_ms=0, topic_id=TOPIC_ID
            ),
        )
        for number in partitions
    ]


def rebalancing_log(seed: int, seconds: int = 240) -> Written:
    """A log of two groups, of members that come, leave and crash, with commits every second, some of transactions."""
    draw, log = Random(seed), Written()
    members: dict[str, list[str]] = {"pay": ["m0"], "bill": ["m0", "m1"]}
    numbers = dict.fromkeys(members, 1)
    silent_until = dict.fromkeys(members, 0)
    for second in range(seconds):
        at_ms = START_MS + second * 1000
        for group, present in members.items():
            if second == 0 or draw.random() < 0.04:
                if second:
                    if present and draw.random() < 0.5:
                        present.pop(draw.randrange(len(present)))
                    else:
                        present.append(f"m{second}")
                    numbers[group] += 1
                log.batch(pairs(generation(group, numbers[group], present, at_ms)), timestamp=at_ms)
            if draw.random() < 0.02:
                silent_until[group] = second + draw.randrange(3, 40)
            if present and second > silent_until[group]:
                _commit(log, group, second, at_ms + draw.randrange(900), draw)
    return log


def _commit(log: Written, group: str, second: int, at_ms: int, draw: Random) -> None:
    written = pairs(*commits(group, 10 * second))
    if draw.random() < 0.8:
        log.batch(written, timestamp=at_ms)
        return
    log.batch(written, timestamp=at_ms, transaction_of=1)
    log.end(1, draw.choice((ControlType.COMMIT, ControlType.ABORT)), timestamp=at_ms)


def pairs(*records: stored.Record) -> Pairs:
    return [encode_record(record) for record in records]


class Batches:
    """The batches of a log, as a broker returns them."""

    def __init__(self, log: Written) -> None:
        self._batches = [batch for _, batches in log.segments for batch in batches]
        self._lasts = [batch_at(batch).last_offset for batch in self._batches]
        self.end = log.next_offset

    def fetch(self, position: int, most: int) -> Fetched:
        chosen = [batch for batch, last in zip(self._batches, self._lasts, strict=True) if last >= position][
            :most
        ]
        return Fetched(log_partition=0, position=position, records=b"".join(chosen), end=self.end)


class Rig:
    """A recorder of one partition of the log. `start` continues as after SIGKILL: what was not written is lost."""

    def __init__(self, file: Path, log: Written) -> None:
        self.file, self.batches = file, Batches(log)
        self.lines: list[str] = []
        self.journal: JournalWriter
        self.recorder: LogRecorder
        self.start()

    def start(self) -> None:
        self.journal = JournalWriter(self.file, {"cluster": "c"})
        self.recorder = LogRecorder(self.journal, dict, report=self.lines.append)
        before = self.journal.positions.get(0)
        reading = LogReading(number=0, position=0) if before is None else LogReading.after(0, before, 0)
        self.recorder.start(reading)

    def kill(self) -> None:
        self.journal.close()

    @property
    def position(self) -> int:
        return self.recorder.progress[0].position

    def read(self, most: int = 1 << 30) -> None:
        if self.recorder.progress[0].look_back is not None:  # the cluster confirms the position
            self.recorder.take(self.batches.fetch(self.position, 0), 0)
        self.recorder.take(self.batches.fetch(self.position, most), 0)
        self.recorder.settle(0)

    def flush(self) -> list[int]:
        new, _ = self.recorder.flush(time.time_ns() // 1_000_000)
        return [rebalance.offset for rebalance, _ in new]
