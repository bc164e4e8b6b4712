"""Records the metrics of real Java consumers at the end of stories: `python -m tests.kafka.story_metrics`."""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from coordinator.simulation.scenario import Variant
from tests.coordinator.simulation.recordings import Course
from tests.coordinator.simulation.story_metrics import Metrics, MetricsRecording
from tests.kafka.coordinator import ensure_archive, running_broker
from tests.kafka.jars import fetch, kafka_version
from tests.kafka.java_host import JavaHost
from tests.kafka.story_player import StoryPlayer, warm_up

NO_REBALANCE = -1  # last-rebalance-seconds-ago before the first
WINDOWS_MS = {
    "crash": 2_000,
    "scale-out-and-in": 4_000,
}  # Stories that end after several such windows, played twice
PLAYED = {
    "assigned-throws": "eager consumer",
    "both-bounces": "as-written",
    "crash": "cooperative",
    "downgrade-cooperative": "as-written",
    "enforce-rebalance-follower": "cooperative consumer",
    "freeze": "eager consumer",
    "lost-throws": "eager consumer",
    "pause": "cooperative consumer",
    # Under the consumer protocol client and broker end it after 8 s, and which is first is chance.
    "revoked-slow": "eager cooperative",
    "revoked-throws": "eager consumer",
    "rolling-bounce": "cooperative",
    "same-instance": "consumer",
    "scale-out-and-in": "eager cooperative consumer",
    "silent-while-rebalancing": "consumer",
    "static-leader-returns": "eager cooperative consumer",
    "static-restart": "eager",
    "topic-growth": "eager consumer",
    "upgrade-eager": "as-written",
}


class MetricsPlayer(StoryPlayer):
    """Plays a story and asks its consumers for their metrics at the end."""

    metrics: dict[str, Metrics]

    def _course(self) -> Course:
        running = {
            name: process for name, those in self.processes.items() for process in those if process.runs
        }
        for process in running.values():
            process.act("metrics")
        self.metrics = {}
        for name, process in running.items():
            process.wait("metrics")
            said = next(event.reason for event in process.snapshot() if event.kind == "metrics")
            self.metrics[name] = {
                metric: None if value == "NaN" else value
                for metric, value in json.loads(said or "{}").items()
            }
        return super()._course()


def asked_plays(stories: Sequence[str]) -> Iterator[MetricsRecording]:
    for story, variants in PLAYED.items():
        if stories and story not in stories:
            continue
        for variant in map(Variant, variants.split()):
            for window_ms in dict.fromkeys((None, WINDOWS_MS.get(story))):
                yield MetricsRecording(
                    story=story,
                    variant=variant,
                    window_ms=window_ms,
                    version=kafka_version(),
                    ids={},
                    members={},
                )


def main(arguments: Sequence[str]) -> None:
    jars = fetch()
    ensure_archive(jars)
    shared = JavaHost(jars)
    try:
        with (
            tempfile.TemporaryDirectory() as directory,
            running_broker(jars, Path(directory)) as broker,
            ThreadPoolExecutor(6) as pool,
        ):

            def record(play: MetricsRecording) -> str:
                player = MetricsPlayer(broker, shared, jars, play.scenario)
                ids = player.play().first_ids
                replace(play, ids=ids, members=player.metrics).write()
                return play.path.stem

            warm_up(lambda scenario: StoryPlayer(broker, shared, jars, scenario).play())
            began = time.monotonic()
            for name in pool.map(record, list(asked_plays(arguments))):
                print(f"{time.monotonic() - began:6.0f} s  {name}", flush=True)
    finally:
        shared.crash()


if __name__ == "__main__":
    main(sys.argv[1:])
