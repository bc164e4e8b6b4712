"""`kohort gate` on files: exit statuses, notes, stale plans, waiting, hostile plan files."""

import json
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from cli.verbs.gate.command import DEFAULT_WAIT_S, with_default
from groups.model import Cluster, Group, Topic
from groups.snapshot import Snapshot, write_snapshot
from groups.yaml_files import yaml_lines
from migration.gate.notes import fingerprint
from migration.model import Destination
from migration.plan_file import plan_to_data
from tests.cli.command import Answer, Kohort
from tests.migration.gate.groups import CLUSTER, EACH, TOPIC, classic, plan_for
from tests.support.golden import assert_recorded
from tests.support.signals import wait_until_asleep

BEFORE = classic(1, 1, 1)
ONCE = classic(2, 2, 2, protocol="cooperative-sticky")
TWICE = classic(3, 3, 3, protocol="cooperative-sticky")
PLAN = plan_for(BEFORE, Destination.COOPERATIVE)
FORMATS = ("table", "json", "yaml", "csv", "markdown", "html")


class Scene:
    """A plan file, and a snapshot as the cluster."""

    def __init__(self, kohort: Kohort, directory: Path) -> None:
        self.kohort = kohort
        self.plan, self.source = directory / "PLAN.yaml", directory / "now.yaml"
        self.notes = directory / "PLAN.yaml.gates"
        self.plan.write_text(
            "".join(yaml_lines({"kohort": 1, "command": "plan", **plan_to_data(PLAN), "errors": []}))
        )

    def see(self, group: Group | None, *, cluster: Cluster = CLUSTER, partitions: int = 3 * EACH) -> None:
        topics = {TOPIC: Topic(name=TOPIC, partitions=partitions)}
        groups = {group.id: group} if group else {}
        write_snapshot(Snapshot(cluster=cluster, topics=topics, groups=groups), self.source)

    def gate(self, step: int | str | None, *options: str) -> Answer:
        of_step = () if step is None else ("--step", f"{step}")
        answer = self.kohort.quick("gate", self.plan, *of_step, "--snapshot", self.source, *options)
        assert not answer.traceback, answer.stderr
        return answer


@pytest.fixture
def scene(kohort: Kohort, tmp_path: Path) -> Scene:
    stage = Scene(kohort, tmp_path)
    stage.see(BEFORE)
    return stage


AGAIN = classic(4, 4, 4, protocol="cooperative-sticky")
MORE_PARTITIONS = partial(Scene.see, group=BEFORE, partitions=12)
ANOTHER_CLUSTER = partial(Scene.see, group=BEFORE, cluster=Cluster(id="other"))
SCRIPTS: dict[str, tuple[Group | Callable[[Scene], None] | str | None, ...]] = {
    "the whole way": (BEFORE, "0", "1", "1 --round 1", ONCE, "1", "2", TWICE, "second-bounce"),
    "as data": (
        BEFORE, "1 --output json", "1 --round 1 --output json", ONCE, "1 --output json",
        classic(2, 2, 1), "2 --output json", MORE_PARTITIONS, "1 --output json",
    ),
    "off plan, and waiting cannot change that": (ONCE, "1", classic(2, 2, 1), "2 --wait"),
    "a stale plan": (MORE_PARTITIONS, "1", "1 --accept-changes", ANOTHER_CLUSTER, "1 --accept-changes"),
    "a group that is gone": (None, "1"),
    "without notes the next gate is unknown, and waiting cannot change that": (
        ONCE, "1 --no-notes", TWICE, "2 --wait 60",
    ),
    "notes follow the group until the next step has begun": (ONCE, "1", TWICE, "1", "2", AGAIN, "1", "2"),
    "a way back does not count for the steps after it": (
        ONCE, "1", "2", classic(3, 2, 3), "2", AGAIN, "2", "1", "2",
    ),
}  # fmt: skip
"""Groups as they are seen, and questions."""


def test_the_answers_are_as_recorded(kohort: Kohort, tmp_path: Path) -> None:
    answers = {}
    for name, script in SCRIPTS.items():
        scene = Scene(kohort, tmp_path)
        scene.notes.unlink(missing_ok=True)
        lines = []
        for line in script:
            if isinstance(line, str):
                answer = scene.gate(*line.split())
                if line.endswith("json"):
                    assert answer.document
                noted = ", with notes" if scene.notes.exists() else ""
                lines += [f"$ --step {line}: {answer.status}{noted}", answer.stdout + answer.stderr]
            else:
                line(scene) if callable(line) else scene.see(line)
        answers[name] = "\n".join(lines)
    assert_recorded("gate.txt", answers)


def test_every_format_has_the_same_status(scene: Scene) -> None:
    assert {scene.gate(1, "--output", output).status for output in FORMATS} == {1}


def test_a_snapshot_does_not_tell_that_a_group_is_gone(scene: Scene) -> None:
    """It may hold other groups alone; only of a cluster, one that is not there is gone."""
    offline = plan_for(BEFORE, Destination.COOPERATIVE, "librdkafka:2.5.0")
    scene.plan.write_text("".join(yaml_lines(plan_to_data(offline))))
    scene.see(None)
    answer = scene.gate("stop-all")
    assert answer.status == 3
    assert "it may have been deleted, or was not saved" in answer.stdout
    scene.see(classic(0, 0, 0))
    assert scene.gate("stop-all").status == 0


def test_without_step_it_judges_the_one_after_the_last_open_gate(scene: Scene) -> None:
    scene.gate(None, "--round", "1").assert_refused("--round 1: step 0 has no rounds")
    for group, step, why in (
        (BEFORE, 0, "no gate of the plan has opened yet"),
        (ONCE, 1, "the gate of step 0 opened at 20"),
        (TWICE, 2, "the gate of step 1 opened at 20"),
        (TWICE, 2, "the gate of the last step, 2, has opened already"),
    ):
        scene.see(group)
        answer = scene.gate(None, "--output", "json").succeeded()
        assert (answer.document["step"], answer.document["open"]) == (step, True)
        assert answer.stderr.startswith(f"kohort: --step {step}: {why}")
        assert f"({scene.notes})" in answer.stderr
    scene.see(classic(3, 2, 3))  # Back to step 1: later notes are removed
    assert scene.gate(None).status == 1
    assert "--step 1: " in scene.gate(None).stderr


def test_notes_contain_the_plan_and_the_members(scene: Scene) -> None:
    scene.see(ONCE)
    assert scene.gate(1).status == 0
    assert fingerprint(PLAN) in scene.notes.read_text()
    assert "m3-2" in scene.notes.read_text()


NO_NOTES = ["", "[]", "kohort: 1\nplan: other\nopened: {}", "a: [", "plan: 3", "\x00", "{" * 99]


@pytest.mark.parametrize("text", [*NO_NOTES, f"kohort: 2\nplan: {fingerprint(PLAN)}\nopened: {{}}"])
def test_notes_that_are_invalid_are_reported_and_not_used(scene: Scene, text: str) -> None:
    scene.see(TWICE)
    scene.notes.write_text(text)
    scene.gate(2).assert_said(3, "not used")


@pytest.mark.parametrize("seed", range(5))
def test_mutated_notes(scene: Scene, seed: int) -> None:
    scene.see(ONCE)
    scene.gate(1)
    whole, chance = scene.notes.read_text(), random.Random(seed)
    for _ in range(10):
        text = list(whole)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(text))
            text[at : at + chance.randint(0, 4)] = chance.choice(
                ["", "\n", " ", "[", "}", "- ", ":", "9", "*a", "&a "]
            )
        scene.notes.write_text("".join(text))
        assert scene.gate(2).status in (0, 1, 3)


def test_notes_that_cannot_be_written(scene: Scene) -> None:
    scene.see(ONCE)
    scene.notes.mkdir()
    scene.gate(1).assert_said(0, "cannot be")


# Waiting.


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["P", "--wait"], ["P", "--wait", str(DEFAULT_WAIT_S)]),
        (["--wait", "P"], ["--wait", str(DEFAULT_WAIT_S), "P"]),
        (["--wait", "60", "P"], ["--wait", "60", "P"]),
        (["--wait=60", "P"], ["--wait=60", "P"]),
        (["--wait", "--step", "1"], ["--wait", str(DEFAULT_WAIT_S), "--step", "1"]),
        (["--", "--wait"], ["--", "--wait"]),
    ],
)
def test_wait_may_stand_alone(words: list[str], read: list[str]) -> None:
    assert with_default(words) == read


def test_waiting_ends_with_the_time(scene: Scene) -> None:
    began = time.monotonic()
    assert scene.gate(1, "--wait", "1").status == 1
    assert time.monotonic() - began > 0.9


def test_waiting_ends_when_it_opens(scene: Scene) -> None:
    process = _start(scene, "--wait", "60")
    wait_until_asleep(process.pid)
    scene.see(ONCE)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (0, ""), stdout


@pytest.mark.usefixtures("handled_interrupts")
def test_interrupted_while_waiting(scene: Scene) -> None:
    process = _start(scene, "--wait", "60")
    wait_until_asleep(process.pid)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, "", "")


def test_a_cluster_that_does_not_answer_is_asked_again(scene: Scene) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        unreachable = f"-b 127.0.0.1:{taken.getsockname()[1]}"
        answer = scene.kohort.quick(
            "gate", scene.plan, *f"--step 1 --wait 5 {unreachable} --output json".split()
        )
    assert (answer.status, answer.document["open"]) == (3, None)
    assert answer.stderr.count("trying again") == 1


def _start(scene: Scene, *options: str) -> subprocess.Popen[str]:
    asked = ["gate", str(scene.plan), "--step", "1", "--snapshot", str(scene.source), *options]
    return subprocess.Popen(
        [scene.kohort.executable, *asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=scene.kohort.env,
    )  # fmt: skip


# Bad input.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--step", "3"], "--step '3': the plan's steps are 1 (first-bounce), 2 (second-bounce)"),
        (["--step", "-1"], "--step '-1'"),
        (["--step", "first"], "--step 'first'"),
        (["--step", "1", "--round", "4"], "--round 4: step 1 has rounds 1 to 3"),
        (["--step", "0", "--round", "1"], "--round 1: step 0 has no rounds"),
        (["--step", "1", "--group", "other"], "the plan is for the group payments, not for other"),
        (["--step", "1", "--wait", "5", "--as-of", "-5m"], "the past does not change"),
    ],
)
def test_questions_that_are_invalid(scene: Scene, options: list[str], said: str) -> None:
    scene.kohort.quick("gate", scene.plan, *options, "--snapshot", scene.source).assert_said(2, said)


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("", 2, "this is not a plan"),
        ("[", 3, "not YAML or JSON"),
        ("group: g\nsteps: []\nsteps: []\n", 3, "is listed twice"),
        ("group: g\nfrom: x\nto: consumer\nclients: []\nfindings: []\nsteps:\n- title: t\n  actions: 3\n", 2,
         "PLAN.yaml:8: steps[0].actions: expected a list, found '3'"),
        ("group: g\nfrom: x\nto: consumer\nclients: []\nfindings: []\nsteps: []\n", 2, "the plan has no steps"),
        ("[" * 100_000, 3, "levels deep"),
        ("a: " * 100_000, 3, "not YAML or JSON"),
        ("\x00", 3, "PLAN.yaml"),
        ("--- 1\n--- 2\n", 3, "a second YAML document"),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_files_that_are_no_plans(scene: Scene, text: str, status: int, said: str) -> None:
    scene.plan.write_text(text)
    scene.gate(1).assert_said(status, said)


def test_files_that_cannot_be_read(scene: Scene) -> None:
    scene.plan.write_bytes(b"\xff\xfe\x00")
    assert scene.gate(1).status == 3
    scene.plan.unlink()
    answer = scene.gate(1)
    assert (answer.status, "cannot be read: No such file" in answer.stderr) == (3, True)
    scene.plan.mkdir()
    assert scene.gate(1).status == 3


def test_a_plan_on_stdin_and_as_json(scene: Scene) -> None:
    scene.kohort.quick("gate - --step 1 --snapshot", scene.source).assert_said(2, "read from a file")
    scene.plan.write_text(json.dumps(plan_to_data(PLAN)))
    assert scene.gate(1).status == 1
