"""A process that appends and compacts until it is killed.

It writes a line before each action, and `done` after the action is acknowledged. Offsets increase from the largest
that the directory contains, so that a later process continues from an earlier one.

    value GROUP PARTITION OFFSET        committed
    deleted GROUP PARTITION             a tombstone
    topic NAME PARTITIONS               a topic is created, or grows
    gone NAME                           a topic is deleted
"""

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from coordinator.engine.engine import Engine
from coordinator.engine.records import OffsetRecord
from coordinator.engine.topics import TopicInfo
from coordinator.store.cleaner import CompactionSettings
from coordinator.store.data_directory import DataDirectory
from coordinator.store.disk import FsyncPolicy
from coordinator.store.log import SegmentLimits
from tests.coordinator.store.directories import SMALL, committed, committed_offsets

SEGMENT_BYTES = 20_000
SETTINGS = replace(
    SMALL,
    limits=SegmentLimits(segment_bytes=SEGMENT_BYTES),
    compaction=CompactionSettings(segment_bytes=SEGMENT_BYTES),
)
"""Segments of a few batches: every few milliseconds one is full, and something can be compacted."""
GROUPS = 6
PARTITIONS = 8
TOPICS = ("orders", "payments")


def append_until_killed(path: Path, seed: int, fsync: FsyncPolicy, said: Path) -> None:
    """Run this in a process; `said` is the file that it writes its lines to."""
    _Appender(path, seed, fsync, said).run()


class _Appender:
    def __init__(self, path: Path, seed: int, fsync: FsyncPolicy, said: Path) -> None:
        self._said = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self._random = random.Random(seed)
        self._owned = threading.Lock()
        self._data = DataDirectory.open(path, replace(SETTINGS, fsync=fsync))
        engine = Engine()
        self._data.recover(engine)
        self._offset = max(committed_offsets(engine).values(), default=0)
        self._topics = {topic.name: topic for topic in self._data.topics.found}
        self._data.topics.file_remover()()

    def run(self) -> None:
        threading.Thread(target=self._compact, daemon=True).start()
        while True:
            if self._random.random() < 0.02:
                self._change_topic(self._random.choice(TOPICS))
            else:
                self._append()

    def _append(self) -> None:
        chosen = {
            (f"g{self._random.randrange(GROUPS)}", self._random.randrange(PARTITIONS)): self._random.random()
            < 0.2
            for _ in range(self._random.randrange(1, 5))
        }
        records = []
        for (group, partition), is_deleted in chosen.items():
            self._offset += 1
            # Large enough to be written in more than one piece.
            metadata = "m" * self._random.choice((0, 0, 0, 5_000))
            offset = None if is_deleted else self._offset
            records.append(committed(group, partition, offset, metadata))
        self._say(*map(_line, records))
        with self._owned:
            self._data.append(records, now_ms=_now_ms())
        self._say("done")

    def _change_topic(self, name: str) -> None:
        known = self._topics.get(name)
        if known is not None and known.partitions > 5:
            self._say(f"gone {name}")
            self._data.topics.delete(known)
            self._say("done")
            self._data.topics.file_remover()()
            del self._topics[name]
            return
        before = 0 if known is None else known.partitions
        new = TopicInfo(name=name, id=UUID(int=self._random.getrandbits(128)), partitions=before + 2)
        topic = new if known is None else replace(known, partitions=before + 2)
        self._say(f"topic {name} {topic.partitions}")
        self._data.topics.grow(topic, before)
        self._say("done")
        self._topics[name] = topic

    def _say(self, *lines: str) -> None:
        os.write(self._said, "".join(f"{line}\n" for line in lines).encode())

    def _compact(self) -> None:
        while True:
            self._data.compact(_now_ms(), in_logs_thread=self._in_logs_thread)
            time.sleep(0.001)

    def _in_logs_thread(self, call: Callable[[], None]) -> None:
        with self._owned:
            call()


def _line(record: OffsetRecord) -> str:
    if record.value is None:
        return f"deleted {record.group} {record.partition}"
    return f"value {record.group} {record.partition} {record.value.offset}"


def _now_ms() -> int:
    return int(time.time() * 1000)
