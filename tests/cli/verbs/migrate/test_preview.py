"""`kohort migrate` without `--execute`: all that it would do, and what it refuses; nothing is written."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from groups.model import Cluster, Group, Topic
from groups.snapshot import Snapshot, write_snapshot
from groups.yaml_files import yaml_lines
from migration.execution.stops import StopRule
from migration.gate.notes import fingerprint
from migration.model import Destination, Plan
from migration.plan_file import plan_to_data
from tests.cli.command import Answer, Kohort
from tests.migration.gate.groups import CLUSTER, EACH, TOPIC, classic, plan_for
from tests.support.golden import assert_recorded

BEFORE = classic(1, 1, 1)
PLAN = plan_for(BEFORE, Destination.COOPERATIVE)
BEGAN = {"event": "hook-began", "step": 1, "members": ["x"], "name": "m1"}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


class Scene:
    """A plan file, a snapshot as the cluster, and a restart command."""

    def __init__(self, kohort: Kohort, directory: Path) -> None:
        self.kohort, self.directory = kohort, directory
        self.plan, self.source = directory / "PLAN.yaml", directory / "now.yaml"
        self.hook = directory / "restart.sh"
        self.hook.write_text("#!/bin/sh\n")
        self.hook.chmod(0o755)
        self.write(PLAN)
        self.see(BEFORE)

    def write(self, plan: Plan, file: Path | None = None) -> None:
        document = {"kohort": 1, "command": "plan", **plan_to_data(plan), "errors": []}
        (file or self.plan).write_text("".join(yaml_lines(document)))

    def see(self, group: Group | None, *, cluster: Cluster = CLUSTER, partitions: int = 3 * EACH) -> None:
        topics = {TOPIC: Topic(name=TOPIC, partitions=partitions)}
        groups = {group.id: group} if group else {}
        write_snapshot(Snapshot(cluster=cluster, topics=topics, groups=groups), self.source)

    def log(self, *events: Mapping[str, object], more: str = "") -> None:
        """The log of a former run."""
        of_each = {"kohort": 1, "command": "migrate", "at": "2026-03-01T12:00:00Z", "group": PLAN.group}
        lines = [json.dumps({**of_each, "plan": fingerprint(PLAN), **event}) for event in events]
        directory = self.directory / "PLAN.yaml.run"
        directory.mkdir(exist_ok=True)
        (directory / "events.jsonl").write_text("".join(f"{line}\n" for line in lines) + more)

    def migrate(self, *options: str | Path, restart: str | None = None) -> Answer:
        command = ("--restart", restart or str(self.hook), "--snapshot", self.source)
        answer = self.kohort.quick("migrate", self.plan, *command, *options)
        assert not answer.traceback, answer.stderr
        return answer

    def shown(self, *options: str | Path) -> str:
        text = self.migrate(*options).succeeded().stdout
        return MOMENT.sub("2026-03-01T12:00:00Z", text.replace(str(self.directory), "DIR"))


@pytest.fixture
def scene(kohort: Kohort, tmp_path: Path) -> Scene:
    return Scene(kohort, tmp_path)


def test_the_preview_shows_everything_and_writes_nothing(scene: Scene) -> None:
    before = sorted(scene.directory.iterdir())
    assert_recorded("migrate/preview.txt", {"a plan of two bounces": scene.shown()})
    assert sorted(scene.directory.iterdir()) == before


def test_the_document_of_the_preview(scene: Scene) -> None:
    (plan,) = scene.migrate("--output", "json", "--tolerance", "3").document["plans"]
    assert (plan["state"], plan["step"], plan["found"], plan["stopped"]) == ("waiting", 0, [], None)
    assert plan["limits"]["tolerance"] == 3
    of_steps = [[(one["round"], one["state"]) for one in step["restarts"]] for step in plan["steps"]]
    assert of_steps == [[(round_, "to do") for round_ in (1, 2, 3)]] * 2
    names = [f"org.apache.kafka.clients.consumer.{one}Assignor" for one in ("CooperativeSticky", "Range")]
    lines = plan["steps"][0]["restarts"][0]["change"]["set"]
    assert lines == {"partition.assignment.strategy": ",".join(names)}
    assert all(step["rehearsed"] and step["most_without_owner_s"] for step in plan["steps"])


def test_a_former_run_is_found_and_continued(scene: Scene) -> None:
    began = {**BEGAN, "members": [BEFORE.members[0].id]}
    stop = {"event": "stopped", "message": "The gate does not open.", "rule": "gate"}
    scene.log({"event": "run-began"}, began, stop, more='{"cut off')
    found = scene.migrate("--output", "json").document["plans"][0]["found"]
    assert any("stopped: The gate does not open." in line for line in found)
    assert not any("cannot be read" in line for line in found)
    scene.log({"event": "run-began"}, began, more='{"cut off\n[]\n' + json.dumps({"event": 1}) + "\n")
    (damaged, *_) = scene.migrate("--output", "json").document["plans"][0]["found"]
    assert damaged.startswith("3 lines of the log cannot be read")


def other_steps(plan: Plan) -> Plan:
    first, *rest = plan.steps
    return replace(plan, steps=(replace(first, config=("session.timeout.ms=1",)), *rest))


def test_a_plan_that_changed_since_its_run_began_is_refused(scene: Scene) -> None:
    scene.log({"event": "run-began"}, BEGAN)
    scene.write(PLAN, scene.directory / "PLAN.yaml.run" / "plan.yaml")
    scene.write(other_steps(PLAN))
    scene.migrate().assert_refused("its steps have changed since its run began", "plan.yaml")


MISTAKES: dict[str, tuple[Callable[[Scene], object], str, int]] = {
    "another-group": (lambda scene: scene.see(replace(BEFORE, id="other")), "there is no group payments", 3),
    "another-cluster": (lambda scene: scene.see(BEFORE, cluster=Cluster(id="other")), "cluster", 2),
    "stale": (lambda scene: scene.see(BEFORE, partitions=1), "Make a new plan", 2),
    "no-steps": (lambda scene: scene.write(replace(PLAN, steps=())), "nothing to do", 2),
    "no-baseline": (lambda scene: scene.write(replace(PLAN, baseline=None)), "make a new plan", 2),
    "no-plan": (lambda scene: scene.plan.write_text("groups: {}\n"), "this is not a plan", 2),
    "no-file": (lambda scene: scene.plan.unlink(), "PLAN.yaml", 3),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_plan_that_does_not_fit_is_refused(scene: Scene, mistake: str) -> None:
    make, reason, status = MISTAKES[mistake]
    make(scene)
    scene.migrate().assert_refused(reason, status=status)


def test_a_restart_command_that_cannot_run_is_refused(scene: Scene) -> None:
    scene.migrate(restart="./no-such-command").assert_refused("does not exist")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--execute --yes", "--execute needs a live cluster"),
        ("--yes", "--yes confirms --execute"),
        ("--tolerance 0.5", "0.5"),
        ("--gate-timeout 0", "is out of range"),
        ("--on-stop retry", "retry"),
    ],
)
def test_options_that_cannot_be_are_refused(scene: Scene, options: str, reason: str) -> None:
    scene.migrate(*options.split()).assert_said(2, reason)


def test_two_plans_for_one_group_are_refused(scene: Scene) -> None:
    other = scene.directory / "OTHER.yaml"
    scene.write(PLAN, other)
    scene.migrate(other).assert_refused("are both plans for the group")
    empty = scene.directory / "empty"
    empty.mkdir()
    scene.migrate(empty).assert_refused("contains no plans")


def test_the_preview_names_every_rule_that_stops_a_run(scene: Scene) -> None:
    shown = scene.shown()
    assert [rule.value for rule in StopRule if f"\n{rule.value} " not in shown] == ["back"]
