"""What a real broker makes of compacted logs in the orders that a simulation plays: see `earlier_brokers`."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.faults import FailCoordinator
from coordinator.simulation.compacted_log import CannotBeLoaded
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.scenario_file import shipped_scenario
from coordinator.simulation.world import World
from coordinator.store.data_directory import DataDirectory, StorageSettings
from tests.coordinator.simulation.test_compacted_log import every_compaction, restored
from tests.coordinator.store.real_log import OFFSETS_TOPIC
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask
from tests.support.long import LONG
from wire.errors import ErrorCode

pytestmark = [pytest.mark.kafka, LONG]

ONE_PARTITION = {"offsets.topic.num.partitions": "1"}
LOADED = "Finished loading of metadata from __consumer_offsets-0"
KEPT = "partition.metadata"
FAILED = "Failed to load metadata from __consumer_offsets-0"


def _log(name: str) -> Sequence[Record]:
    """The first compacted log of a shipped scenario that its brokers cannot load."""
    scenario = shipped_scenario(name)
    world = World(scenario, 1, with_story=False)
    first = min(event.at for event in scenario.events if isinstance(event, FailCoordinator))
    world.schedule.play(int(first * 1000) - 1, 1_000_000)
    (lack,) = scenario.without
    return next(log for log in every_compaction(world.log, world.ends) if _fails(log, lack))


def _fails(log: Sequence[Record], lack: str) -> bool:
    try:
        restored(log, lack)
    except CannotBeLoaded:
        return True
    return False


def _loaded(jars: Path, scratch: Path, log: Sequence[Record]) -> tuple[str, ErrorCode]:
    """What a broker writes down when it has loaded the log or has not, and how it answers for the group then."""
    broker = Broker(jars, scratch, ONE_PARTITION)
    try:
        broker.start()
        wait_for_coordinator(broker)
        broker.stop()
        _write(broker.data / f"{OFFSETS_TOPIC}-0", scratch / "ours", log)
        broker.start()

        def last_line() -> str:
            lines = broker.log.read_text(errors="replace").splitlines()
            return next((line for line in lines if LOADED in line or FAILED in line), "")

        line = wait_until(last_line, "the log is loaded, or is not")
        (group,) = ask(broker.port, "DescribeGroups", 5, groups=[GROUP]).groups
        return line, ErrorCode(group.error_code)
    finally:
        broker.crash()


def _write(theirs: Path, ours: Path, log: Sequence[Record]) -> None:
    """Put the log in the place of a broker's that is stopped."""
    data = DataDirectory.open(ours, StorageSettings(partitions=1))
    data.recover(Engine())
    data.append(log, 1_700_000_000_000)
    data.close()
    for path in theirs.iterdir():
        if path.name != KEPT:
            path.unlink()
    for path in (ours / theirs.name).iterdir():
        if path.name != KEPT:
            shutil.copy(path, theirs / path.name)


def test_a_broker_loads_a_group_whose_offsets_precede_it(kafka_jars: Path, tmp_path: Path) -> None:
    line, error = _loaded(kafka_jars, tmp_path, _log("offsets-before-group"))
    assert LOADED in line
    # Of a consumer group, which is not described so.
    assert error is ErrorCode.NONE or error is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_broker_fails_where_a_consumer_group_follows_a_classic_one(
    kafka_jars: Path, tmp_path: Path
) -> None:
    """KAFKA-21117: mended where this fails."""
    line, error = _loaded(kafka_jars, tmp_path, _log("compacted-while-loading"))
    assert FAILED in line
    assert "is not a consumer group" in (tmp_path / "broker.log").read_text(errors="replace")
    assert error is ErrorCode.NOT_COORDINATOR
