"""The directories of a real broker that was killed while clients of every kind ran, and tools' output about them.

`python -m tests.coordinator.store.real_log DIRECTORY` creates one for experiments; with
`KOHORT_REAL_LOG=DIRECTORY` the tests use it instead of creating their own.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka.admin._resource import ResourceType

from tests.cli.command import Kohort
from tests.coordinator.store.real_log_story import BROKER_SETTINGS, BUSY, Story
from tests.coordinator.store.what_was_said import Moment, Witness
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members
from tests.kafka.tool_host import ToolHost
from tests.kafka.topics import set_config

BLOCK_BYTES = 1 << 20
SEGMENT_BYTES = 32 * 1024
"""Small, so that segments roll, also before the transactions that stay open: what is after them is not compacted. The
public setting does not go below a mebibyte."""
REUSE = "KOHORT_REAL_LOG"
NOTES = "notes.pickle"
OFFSETS_TOPIC = "__consumer_offsets"
SETTINGS: Mapping[str, str] = {
    **BROKER_SETTINGS,
    # All records stay, so that every earlier time can be read.
    "log.cleaner.min.compaction.lag.ms": str(24 * 3600 * 1000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RealLog:
    """A copy of a broker's `log.dirs`, which is not written to, and the notes that belong to it."""

    data: Path
    # While all groups except `busy` were settled. After the last one only `busy` committed; then the broker was killed.
    moments: tuple[Moment, ...]
    busy_acknowledged: int  # the last offset whose commit was answered; the next one may be in the log too

    @property
    def last(self) -> Moment:
        return self.moments[-1]

    def segments(self) -> list[Path]:
        return segments_of(self.data)

    def save(self, directory: Path) -> None:
        copy_directory(self.data, directory / "data")
        (directory / NOTES).write_bytes(pickle.dumps((self.moments, self.busy_acknowledged)))

    @classmethod
    def load(cls, directory: Path) -> RealLog:
        moments, busy_acknowledged = pickle.loads((directory / NOTES).read_bytes())
        return cls(data=directory / "data", moments=moments, busy_acknowledged=busy_acknowledged)


def in_any_order(group: Mapping[str, Any]) -> dict[str, Any]:
    """With members and offsets sorted: compaction changes the order of members whose ids share a bin of a map."""
    return {**group, **{rows: sorted(group[rows], key=str) for rows in ("members", "offsets")}}


def segments_of(data: Path) -> list[Path]:
    directories = sorted(data.glob(f"{OFFSETS_TOPIC}-*"), key=lambda path: int(path.name.split("-")[-1]))
    return [segment for directory in directories for segment in sorted(directory.glob("*.log"))]


def make_real_log(jars: Path, scratch: Path, tools: ToolHost, kohort: Kohort) -> RealLog:
    """Start a broker, run the clients, record the tools' output, kill the broker, copy its directory. Once more if a
    group does not settle: at times a librdkafka member of a new group keeps for minutes what it had to revoke."""
    try:
        return _make_once(jars, scratch / "first", tools, kohort)
    except TimeoutError as error:
        print(f"once more: {error}")
        return _make_once(jars, scratch / "second", tools, kohort)


def _make_once(jars: Path, scratch: Path, tools: ToolHost, kohort: Kohort) -> RealLog:
    scratch.mkdir()
    with ExitStack() as stack:
        broker = Broker(jars, scratch / "broker", SETTINGS)
        stack.callback(broker.stop)
        broker.start()
        wait_for_coordinator(broker)
        set_config(broker, ResourceType.TOPIC, OFFSETS_TOPIC, {"internal.segment.bytes": str(SEGMENT_BYTES)})
        host = JavaHost(jars)
        stack.callback(host.crash)
        witness = Witness(broker, tools, kohort, moving={BUSY})
        story = Story(broker, Members(host, jars, scratch), witness)
        try:
            story.begin()
            first = witness.note("first")
            story.continue_story()
            story.crash_some()
            second = witness.note("second")
            broker.crash()
            copy_directory(broker.data, scratch / "data")
        finally:
            # Killed: without a broker they would take long to close.
            broker.crash()
            host.crash()
            story.end()
        return RealLog(
            data=scratch / "data", moments=(first, second), busy_acknowledged=story.busy.acknowledged
        )


def copy_directory(source: Path, target: Path) -> None:
    """Copy a directory and keep the holes in its files, such as a broker's preallocated indexes."""
    shutil.copytree(source, target, copy_function=_copy_with_holes)


def _copy_with_holes(source: str, target: str) -> None:
    with Path(source).open("rb") as reader, Path(target).open("wb") as writer:
        while block := reader.read(BLOCK_BYTES):
            if block.count(0) == len(block):
                writer.seek(len(block), os.SEEK_CUR)
            else:
                writer.write(block)
        writer.truncate(writer.tell())
    shutil.copystat(source, target)


def main() -> None:
    import sys

    jars = fetch()
    tools = ToolHost(jars)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            log = make_real_log(jars, Path(scratch), tools, Kohort(Path(scratch) / "home"))
        finally:
            tools.close()
        log.save(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
