"""A real broker starts on an existing directory."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from coordinator.store.producers import Producers
from tests.coordinator.store.real_log import OFFSETS_TOPIC, SETTINGS, RealLog, copy_directory
from tests.coordinator.store.real_log_story import ORDERS, RECORDS, TOPICS, commit
from tests.kafka.broker import Broker
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask
from wire.log.segments import read_log

REJOIN = {
    # For this long the controller assumes that a killed broker is still running.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "200",
}
COMPLAINT = re.compile(
    r" (WARN|ERROR|FATAL) (?!org\.apache\.kafka\.(controller|raft|clients|server\.BrokerLifecycleManager)"
    r"|kafka\.server\.ControllerApis)"
)
"""Warnings about logs and groups. Brokers also warn about each other on a busy machine, and about registering
before their own controller is active."""
OVERTAKEN = "because the partition is not online or is no longer the leader"
"""Harmless warnings: see `_has_loaded`."""
LOADED = re.compile(rf"Finished loading of metadata from {OFFSETS_TOPIC}-(\d+) with epoch (\d+) ")
VARIES = re.compile(r"\d+")


@contextmanager
def broker_on(
    jars: Path, data: Path, scratch: Path, settings: Mapping[str, str] | None = None
) -> Iterator[Broker]:
    """Copy `data` into `scratch`, and run a broker on it; `settings` override the settings of the real log."""
    scratch.mkdir(exist_ok=True)
    copy_directory(data, scratch / "data")
    broker = Broker(jars, scratch, {**SETTINGS, **REJOIN, **(settings or {})})
    try:
        broker.start()
        wait_until(lambda: _has_loaded(broker), "all groups are loaded")
        yield broker
    finally:
        broker.crash()


def _has_loaded(broker: Broker) -> bool:
    """Whether each partition of the coordinator is loaded by its current leader.

    A broker that restarts is still leader, and loads at once; then the controller notices the restart, and makes it
    leader again, and it loads again. In between, a list of groups is incomplete without an error.
    """
    topics = [{"topic_id": None, "name": OFFSETS_TOPIC}]
    (topic,) = ask(broker.port, "Metadata", 12, topics=topics).topics
    led = {(one.partition_index, one.leader_epoch) for one in topic.partitions if one.leader_id >= 0}
    loaded = {(int(number), int(epoch)) for number, epoch in LOADED.findall(broker.log.read_text())}
    return len(topic.partitions) == len(led) and led <= loaded


def complaints(broker: Broker) -> set[str]:
    """Its warnings since the start, without numbers."""
    lines = broker.log.read_text(errors="replace").splitlines()
    return {VARIES.sub("#", line) for line in lines if COMPLAINT.search(line) and OVERTAKEN not in line}


COMPACTING: Mapping[str, str] = {
    "log.cleaner.min.compaction.lag.ms": "0",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.delete.retention.ms": "0",
    "log.initial.task.delay.ms": "100",
    # Snappy, which Java writes in its own framing.
    "offsets.topic.compression.codec": "2",
}
COMPRESSED = "compressed"  # a group that commits before the broker is killed again


def restart_and_compact(jars: Path, log: RealLog, scratch: Path) -> Path:
    """Run a broker on a copy of the log's directory until it has compacted it, and kill it. Returns the directory."""
    partitions = _compactable(log.data)
    with broker_on(jars, log.data, scratch, COMPACTING) as broker:
        wait_until(lambda: compacted(broker.data) >= partitions, f"{partitions} are compacted")
        commit(broker, COMPRESSED, ORDERS, dict.fromkeys(range(TOPICS[ORDERS]), RECORDS))
    return broker.data


def _compactable(data: Path) -> set[str]:
    """The partitions in which a closed segment ends before the first open transaction, if there is one: a broker
    compacts no others (LogCleanerManager)."""
    directories = set()
    for directory in data.glob(f"{OFFSETS_TOPIC}-*"):
        producers = Producers()
        segments = list(read_log(directory))
        for segment in segments:
            producers.load(segment.batches)
        if any(
            later.base_offset <= producers.last_stable_offset(later.base_offset) for later in segments[1:]
        ):
            directories.add(directory.name)
    return directories


def compacted(data: Path) -> set[str]:
    _, _, *lines = (data / "cleaner-offset-checkpoint").read_text().splitlines()
    return {"-".join(line.split()[:2]) for line in lines}
