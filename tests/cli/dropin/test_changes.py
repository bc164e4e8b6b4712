"""Resets and deletions: both tools say the same and leave the same behind, but for what is listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.dropin.change_cases import CASES
from tests.cli.dropin.change_scene import change_scene
from tests.cli.dropin.changing import Change, Changes
from tests.cli.offset_rig import OffsetRig
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.java_host import JavaHost
from tests.kafka.tool_host import ToolHost

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def changes(
    kafka_jars: Path,
    java_host: JavaHost,
    tools: ToolHost,
    kohort: Kohort,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Changes]:
    """Give the scene, on a broker of its own: some command lines are about all groups."""
    scratch = tmp_path_factory.mktemp("changes")
    broker = Broker(kafka_jars, tmp_path_factory.mktemp("broker"))
    try:
        broker.start()
        wait_for_coordinator(broker)
        rig = OffsetRig(broker=broker, kohort=kohort, tools=tools)
        with change_scene(rig, kafka_jars, java_host, scratch) as scene:
            yield Changes(scene=scene, broker=broker, tools=tools, file=scratch / "offsets.csv")
    finally:
        broker.stop()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_tools_do_the_same(case: Change, changes: Changes) -> None:
    changes.check(case)
