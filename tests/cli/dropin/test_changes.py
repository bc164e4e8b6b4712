"""Resets and deletions: both tools say the same and leave the same behind, but for what is listed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.dropin.main import action_of
from cli.dropin.parse import parse
from cli.errors import CommandError
from tests.cli.command import Kohort
from tests.cli.dropin.change_cases import CASES
from tests.cli.dropin.change_scene import change_scene
from tests.cli.dropin.changing import Change, Changes
from tests.cli.offset_rig import OffsetRig
from tests.cli.sources.live_source import admin_only
from tests.kafka.coordinator import running_broker
from tests.kafka.java_host import JavaHost
from tests.kafka.tool_host import ToolHost
from tests.support.long import few


@pytest.fixture(scope="module")
def changes(
    kafka_jars: Path,
    java_host: JavaHost,
    tools: ToolHost,
    kohort: Kohort,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Changes]:
    """Give the scene on a separate broker: some command lines are about all groups."""
    scratch = tmp_path_factory.mktemp("changes")
    with running_broker(kafka_jars, tmp_path_factory.mktemp("broker")) as broker:
        rig = OffsetRig(broker=broker, kohort=kohort, tools=tools)
        with change_scene(rig, kafka_jars, java_host, scratch) as scene:
            yield Changes(scene=scene, broker=broker, tools=tools, file=scratch / "offsets.csv")


@pytest.mark.parametrize("case", few(CASES), ids=str)
def test_both_tools_do_the_same(case: Change, changes: Changes) -> None:
    changes.check(case)


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("--reset-offsets --group payments --topic orders --to-latest --execute", "kohort offsets reset"),
        ("--delete-offsets --group payments --topic orders", "kafka-consumer-groups.sh"),
    ],
)
def test_where_librdkafka_alone_can_log_in_something_else_is_named(
    line: str, instead: str, changes: Changes
) -> None:
    changes.scene.lay()
    before = changes.scene.state()
    options = parse(["--bootstrap-server", changes.broker.bootstrap, *line.split()])
    with admin_only(changes.broker) as source, pytest.raises(CommandError, match=f"use {instead}"):
        action_of(options)(options, source)
    assert changes.scene.state() == before
