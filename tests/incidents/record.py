"""Plays the stories of a run on a broker, and keeps what they leave, as a recording.

A recording is a broker's log directory with the partitions of `__consumer_offsets` and the cluster's metadata, and when
each story began, which with `stories.yaml` is the truth."""

import json
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import confluent_kafka

from tests.incidents.player import IncidentPlayer
from tests.incidents.stories import Incident, Run, read_runs
from tests.kafka.broker import Broker
from tests.kafka.jars import kafka_version
from tests.kafka.java_host import JavaHost
from tests.kafka.story_player import LateError, StoryPlayer, warm_up

RECORDED = Path(__file__).with_name("recorded")
SETTINGS: Mapping[str, str] = {
    "group.consumer.min.session.timeout.ms": "2000",
    "log.cleaner.min.compaction.lag.ms": str(24 * 3600 * 1000),
}
ATTEMPTS = 3
KEPT = (".log", ".checkpoint", ".metadata", ".properties")
KEPT_TOPICS = ("__consumer_offsets-", "__cluster_metadata-")
RESTART_WAITS_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A story that was played, as this group, from this time on (µs since 1970)."""

    incident: Incident
    group: str
    began_us: int


def play_run(run: Run, broker: Broker, jars: Path, *, say: Callable[[str], None] = print) -> list[Played]:
    """Play the stories of a run on a broker; those for which the machine is too busy are not among the result."""
    gate = threading.Barrier(len(run.incidents) + 1) if run.restart_s is not None else None
    shared = JavaHost(jars)
    began = time.monotonic()

    def play(incident: Incident) -> Played | None:
        for attempt in range(1, ATTEMPTS + 1):
            player = IncidentPlayer(broker, shared, jars, incident, gate=gate, attempt=attempt)
            try:
                began_us = player.play_incident()
            except LateError as error:
                say(str(error))
                if gate is not None:
                    break
            else:
                say(f"{time.monotonic() - began:6.0f} s  {player.group}")
                return Played(incident=incident, group=player.group, began_us=began_us)
        return None

    try:
        warm_up(lambda scenario: StoryPlayer(broker, shared, jars, scenario).play())
        with ThreadPoolExecutor(run.at_once) as pool:
            playing = [pool.submit(play, incident) for incident in run.incidents]
            if gate is not None and run.restart_s is not None:
                gate.wait()
                time.sleep(run.restart_s)
                broker.stop(kill_after_s=RESTART_WAITS_S)
                broker.start()
            return [one for future in as_completed(playing) if (one := future.result()) is not None]
    finally:
        shared.crash()


def keep(run: str, played: Sequence[Played], data: Path) -> None:
    """Write a recording of a broker that does not run any longer."""
    RECORDED.mkdir(exist_ok=True)
    with tarfile.open(RECORDED / f"{run}.tar.xz", "w:xz") as archive:
        for file in sorted(data.rglob("*")):
            is_kept = file.parent == data or file.parent.name.startswith(KEPT_TOPICS)
            if is_kept and file.suffix in KEPT and file.stat().st_size:
                archive.add(file, file.relative_to(data), filter=_plain)
    began = {one.group: one.began_us for one in sorted(played, key=lambda one: one.group)}
    made_with = {"kafka": kafka_version(), "librdkafka": confluent_kafka.libversion()[0]}
    (RECORDED / f"{run}.json").write_text(json.dumps({**made_with, "began_us": began}, indent=1) + "\n")


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


@contextmanager
def recording(run: str) -> Iterator[tuple[Path, list[Played]]]:
    """The log directory of a recording, unpacked, and what was played."""
    incidents = {incident.group: incident for incident in read_runs()[run].incidents}
    began = json.loads((RECORDED / f"{run}.json").read_text())["began_us"]
    played = [
        # A story that was played again has a number after its name.
        Played(
            incident=incidents.get(group) or incidents[group.rpartition(".")[0]],
            group=group,
            began_us=began_us,
        )
        for group, began_us in began.items()
    ]
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(RECORDED / f"{run}.tar.xz") as archive:
            archive.extractall(unpacked, filter="data")
        yield Path(unpacked), played
