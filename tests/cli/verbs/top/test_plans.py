"""The screen of a plan: made or read, its gates as they open, and what it keeps."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from cli.options import SourceOptions
from cli.verbs.top.options import TopOptions
from groups.model import Group, Topic
from groups.snapshot import Snapshot, write_snapshot
from groups.yaml_files import yaml_lines
from migration.model import Destination
from migration.plan_file import plan_to_data
from tests.cli.verbs.top.driving import MIDDLE, ONCE, Driven, drive
from tests.migration.gate.groups import CLUSTER, EACH, TOPIC, classic, plan_for

BEFORE = classic(1, 1)


class Scene:
    """A snapshot as the cluster, in the working directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.plan = directory / f"{BEFORE.id}.plan.yaml"

    @property
    def files(self) -> set[str]:
        return {file.name for file in self.directory.iterdir()} - {"now.yaml"}

    def see(self, group: Group, partitions: int = 2 * EACH) -> None:
        topics = {TOPIC: Topic(name=TOPIC, partitions=partitions)}
        snapshot = Snapshot(cluster=CLUSTER, topics=topics, groups={group.id: group})
        write_snapshot(snapshot, self.directory / "now.yaml")

    def drive(
        self, course: Callable[[Driven], Coroutine[Any, Any, None]], *, read_only: bool = False
    ) -> None:
        options = TopOptions(every=ONCE.every, read_only=read_only)
        drive(course, SourceOptions(snapshot=self.directory / "now.yaml"), options, size=MIDDLE)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.chdir(tmp_path)
    scene = Scene(tmp_path)
    scene.see(BEFORE)
    return scene


def with_plan(scene: Scene, group: str = BEFORE.id) -> None:
    plan = plan_to_data(plan_for(BEFORE, Destination.COOPERATIVE))
    scene.plan.write_text("".join(yaml_lines({**plan, "group": group})))


def test_a_plan_is_made_and_kept_in_a_new_file(scene: Scene) -> None:
    async def course(driven: Driven) -> None:
        await driven.read()
        await driven.press("colon")
        await driven.type("plan --to cooperative --client java:4.1.0")
        await driven.press("enter")
        await driven.wait_for("classic (range) → cooperative")
        await driven.press("i", "f")
        assert driven.screen == "PlanScreen"
        assert scene.files == set()
        await driven.press("W", "enter")
        await driven.wait_for("Open: continue with step 1")
        assert scene.files == {scene.plan.name}
        await driven.press("i")
        await driven.wait_for(lambda: len(scene.files) == 2, "notes")
        assert scene.files == {scene.plan.name, f"{scene.plan.name}.gates"}
        await driven.press("escape")
        await driven.wait_for("--step 1: the gate of step 0 opened at")

    scene.drive(course)


def test_a_gate_opens_as_the_group_changes(scene: Scene) -> None:
    with_plan(scene)

    async def course(driven: Driven) -> None:
        await driven.read()
        await driven.press("P")
        await driven.wait_for("Open: continue with step 1")
        await driven.press("f")
        await driven.wait_for("Step 1 of 2")
        scene.see(classic(2, 2, protocol="cooperative-sticky"))
        await driven.press("escape")
        driven.app.poller.refresh()
        await driven.wait_for("Refused")

    scene.drive(course, read_only=True)
    assert scene.files == {scene.plan.name}


def test_a_plan_of_another_group_is_refused(scene: Scene) -> None:
    with_plan(scene, "other")

    async def course(driven: Driven) -> None:
        await driven.read()
        await driven.press("P")
        await driven.wait_for("the plan is for the group other, not for payments")
        await driven.press("W", "i")

    scene.drive(course)
