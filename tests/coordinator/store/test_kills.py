"""SIGKILL at random moments of a process that appends and compacts: acknowledged records are there.

A few rounds by default; `KOHORT_KILL_ROUNDS=500` sets another number. A round continues from the last one.
"""

import multiprocessing
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from coordinator.engine.engine import Engine
from coordinator.store.data_directory import DataDirectory
from coordinator.store.disk import FsyncPolicy
from tests.coordinator.store.appender import SETTINGS, append_until_killed
from tests.coordinator.store.directories import committed_offsets
from tests.kafka.wait import wait_until
from tests.support.long import cases

ROUNDS = cases("KOHORT_KILL_ROUNDS", 4, many=500)
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.coordinator.store.appender"])
LONGEST_S = 0.4  # the longest time that a process runs after its first append


@dataclass(slots=True)
class Story:
    offsets: dict[tuple[str, int], int | None] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    begun: list[list[str]] = field(default_factory=list)
    """The changes not acknowledged when the process was killed: they may be there, or not."""
    acknowledged: int = 0

    def hear(self, text: str) -> None:
        for line in text.splitlines():
            if line == "done":
                self.acknowledged += 1
                self._make_true()
            else:
                self.begun.append(line.split())

    def check(self, data: DataDirectory, engine: Engine) -> None:
        """Compare with the content that a restart found, and continue from it."""
        sure, offsets = dict(self.offsets), committed_offsets(engine)
        sure_topics, found_topics = dict(self.topics), _sizes(data)
        self._make_true()
        for key in {*sure, *self.offsets, *offsets}:
            assert offsets.get(key) in (sure.get(key), self.offsets.get(key)), key
        assert found_topics in (sure_topics, self.topics)
        self.offsets, self.topics = dict(offsets), found_topics

    def _make_true(self) -> None:
        for words in self.begun:
            match words:
                case ["value", group, partition, offset]:
                    self.offsets[group, int(partition)] = int(offset)
                case ["deleted", group, partition]:
                    self.offsets[group, int(partition)] = None
                case ["topic", name, partitions]:
                    self.topics[name] = int(partitions)
                case ["gone", name]:
                    self.topics.pop(name, None)
        self.begun = []


def test_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    chance = random.Random(1)
    story = Story()
    for number in range(ROUNDS):
        story.hear(_run_and_kill(tmp_path, number, chance))
        data = DataDirectory.open(tmp_path / "data", SETTINGS)
        engine = Engine()
        data.recover(engine)
        story.check(data, engine)
        if chance.random() < 0.2:  # otherwise no compaction would ever finish
            while data.compact(int(time.time() * 1000)):
                pass
            data.close()
        else:
            data.abandon()
    assert story.acknowledged > 5 * ROUNDS


def _run_and_kill(path: Path, seed: int, chance: random.Random) -> str:
    said = path / "said"
    said.write_bytes(b"")
    args = (path / "data", seed, chance.choice(list(FsyncPolicy)), said)
    process = PROCESSES.Process(target=append_until_killed, args=args)
    process.start()
    wait_until(lambda: said.stat().st_size or not process.is_alive(), "it begins to append", every_s=0.002)
    time.sleep(chance.random() * LONGEST_S)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    return said.read_text()


def _sizes(data: DataDirectory) -> dict[str, int]:
    return {topic.name: topic.partitions for topic in data.topics.found}
