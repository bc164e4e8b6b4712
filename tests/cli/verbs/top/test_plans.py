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
FIRST = classic(2, 2, protocol="cooperative-sticky")


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
        await driven.wait_for("before the first step")
        assert "Not kept yet" in driven.text
        await driven.press("i")
        assert scene.files == set()
        await driven.press("W", "enter")
        assert scene.files == {scene.plan.name}
        assert f"In {scene.plan.name}" in driven.text
        await driven.press("i")
        await driven.wait_for("Open: continue with step 1")
        assert scene.files == {scene.plan.name, f"{scene.plan.name}.gates"}
        await driven.press("escape")
        await driven.wait_for("opened")

    scene.drive(course)


def test_gates_open_as_the_group_changes(scene: Scene) -> None:
    with_plan(scene)

    async def course(driven: Driven) -> None:
        await driven.read()
        await driven.press("P")
        await driven.wait_for("Open: i records it, then continue with step 1")
        scene.see(classic(2, 1))
        await driven.press("r")
        await driven.wait_for("1 of 2 members has left or rejoined")
        assert "not yet" in driven.line_of("First bounce")
        scene.see(FIRST)
        await driven.press("r")
        await driven.wait_for("Open: i records it, then continue with step 2")
        await driven.press("f")
        assert "LEVEL" in driven.lines[3]
        await driven.press("f", "enter")
        await driven.wait_for("Step 1 of 2")

    scene.drive(course)
    assert scene.files == {scene.plan.name}


def test_nothing_is_written_in_read_only(scene: Scene) -> None:
    with_plan(scene)

    async def course(driven: Driven) -> None:
        await driven.read()
        await driven.press("P")
        await driven.wait_for("before the first step")
        await driven.press("W")
        assert driven.screen == "PlanScreen"
        await driven.press("i")
        await driven.wait_for("Open: continue with step 1")

    scene.drive(course, read_only=True)
    assert scene.files == {scene.plan.name}


@pytest.mark.parametrize(
    ("text", "says"),
    [("other", "is the plan of other, not of payments"), ("", "is not a plan")],
)
def test_a_file_without_a_plan_of_the_group_is_refused(scene: Scene, text: str, says: str) -> None:
    with_plan(scene, text) if text else scene.plan.write_text("a: 1")

    async def course(driven: Driven) -> None:
        await driven.read()
        await driven.press("P")
        await driven.wait_for(says)
        await driven.press("W", "i", "u", "f", "enter")

    scene.drive(course)
