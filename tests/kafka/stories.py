"""Records what real consumers do in the stories of the simulation: `make stories`."""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import confluent_kafka

from coordinator.consumer.library import LIBRARIES
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.variants import with_variant
from tests.coordinator.simulation.recordings import Course, Recording, read_recording, side_by_side
from tests.coordinator.simulation.story_files import (
    JAVA,
    LIBRDKAFKA,
    can_play,
    read_story,
    story_names,
    variants_of,
    with_library,
)
from tests.kafka.broker import Broker
from tests.kafka.coordinator import ensure_archive, running_broker
from tests.kafka.jars import fetch, kafka_version
from tests.kafka.java_host import JavaHost
from tests.kafka.story_player import LateError, StoryPlayer, warm_up

ATTEMPTS = 3  # how often a story is begun that the machine was too busy for


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    story: str
    variant: Variant
    client: str

    @property
    def scenario(self) -> Scenario:
        return with_library(with_variant(read_story(self.story), self.variant), self.client)

    @property
    def empty(self) -> Recording:
        version = kafka_version() if self.client == JAVA else confluent_kafka.libversion()[0]
        return Recording(
            story=self.story,
            variant=self.variant.value,
            client=self.client,
            version=version,
            why="",
            courses=(),
        )

    def __str__(self) -> str:
        return f"{self.story}.{self.variant.value}.{self.client}"


class Recorder:
    def __init__(self, broker: Broker, shared: JavaHost, jars: Path, *, discards: bool) -> None:
        self._broker, self._shared, self._jars, self._discards = broker, shared, jars, discards
        self._recordings: dict[Play, Recording] = {}
        self._lock = threading.Lock()

    def play(self, scenario: Scenario) -> Course:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return StoryPlayer(self._broker, self._shared, self._jars, scenario).play()
            except LateError:
                if attempt == ATTEMPTS:
                    raise
        raise AssertionError

    def record(self, play: Play) -> str:
        course = self.play(play.scenario)
        with self._lock:
            return self._keep(play, course)

    def _keep(self, play: Play, course: Course) -> str:
        recording = self._recordings.get(play, play.empty)
        if not self._discards and play not in self._recordings and recording.path.exists():
            recording = read_recording(recording.path)
        is_known = course in recording.courses
        seen = recording.seen(course)
        self._recordings[play] = seen
        if self._discards or not is_known:
            seen.write()
        if is_known:
            return f"{play}: as before"
        if not recording.courses:
            return f"{play}: recorded"
        return f"{play}: ANOTHER COURSE\n{side_by_side(recording.courses[0].members, course.members)}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="stories", description=__doc__)
    parser.add_argument("stories", nargs="*", help="which (default: all)")
    parser.add_argument("--times", type=int, default=3, help="how often each is played")
    parser.add_argument("--jobs", type=int, default=12, help="how many at once")
    parser.add_argument(
        "--client",
        choices=tuple(LIBRARIES),
        help="one library (default: java and librdkafka; an older librdkafka is the one on PYTHONPATH)",
    )
    parser.add_argument("--variant", type=Variant, help="one variant (default: all)")
    parser.add_argument("--discard", action="store_true", help="discard the earlier recordings")
    asked = parser.parse_args(arguments)
    plays = [
        play
        for name in asked.stories or story_names()
        for variant in variants_of(read_story(name))
        for client in ([asked.client] if asked.client else [JAVA, LIBRDKAFKA])
        if can_play((play := Play(story=name, variant=variant, client=client)).scenario, client)
        and asked.variant in (None, variant)
    ]
    jars = fetch()
    ensure_archive(jars)
    shared = JavaHost(jars)
    failed = 0
    try:
        with (
            tempfile.TemporaryDirectory() as directory,
            running_broker(jars, Path(directory)) as broker,
            ThreadPoolExecutor(asked.jobs) as pool,
        ):
            recorder = Recorder(broker, shared, jars, discards=asked.discard)
            warm_up(recorder.play)
            began = time.monotonic()
            futures = {}
            for _ in range(asked.times):
                for play in plays:
                    futures[pool.submit(recorder.record, play)] = play
            for future, play in futures.items():
                try:
                    print(f"{time.monotonic() - began:6.0f} s  {future.result()}", flush=True)
                except Exception as error:
                    failed += 1
                    print(f"{play}: FAILED: {type(error).__name__}: {error}", flush=True)
    finally:
        shared.crash()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
