"""`kohort rehearse` on files: what it prints, exit statuses, plans that are not of the group."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from migration.gate.notes import Notes, fingerprint, notes_to_data
from migration.plan_file import plan_from_data
from tests.cli.command import Answer, Kohort
from tests.support.golden import assert_recorded

COOPERATIVE = "billing --to cooperative --client java:3.7.0"
WITH_BRIDGE = "search-indexer --to consumer --client librdkafka:2.16.0"


@dataclass(frozen=True)
class Rehearsal:
    """Of the plan in a file, on the embedded sample."""

    kohort: Kohort
    sample: Path
    directory: Path

    @property
    def plan(self) -> Path:
        return self.directory / "PLAN.yaml"

    def written(self, question: str = COOPERATIVE) -> Rehearsal:
        self.plan.write_text(
            self.kohort.quick(f"plan {question} --output yaml --embedded", self.sample).stdout
        )
        return self

    def change(self, change: Callable[[dict[str, Any]], object]) -> None:
        data = yaml.safe_load(self.plan.read_text())
        change(data)
        self.plan.write_text(json.dumps(data))

    def __call__(self, options: str = "") -> Answer:
        answer = self.kohort.quick(f"rehearse {self.plan} {options} --embedded", self.sample)
        assert not answer.traceback, answer.stderr
        return answer

    def document(self, options: str = "") -> dict[str, Any]:
        return self(f"{options} --output json").document

    def file(self, name: str, text: str) -> Path:
        file = self.directory / name
        file.write_text(text)
        return file


@pytest.fixture
def unwritten(kohort: Kohort, sample: Path, tmp_path: Path) -> Rehearsal:
    return Rehearsal(kohort, sample, tmp_path)


@pytest.fixture
def rehearse(unwritten: Rehearsal) -> Rehearsal:
    """Of a plan of the sample's billing."""
    return unwritten.written()


def swap(plan: dict[str, Any]) -> None:
    """Somebody starts the members with the list of the second bounce in the first."""
    plan["steps"][0].update(course=plan["steps"][1]["course"])


CRASH = "kohort: 1\nevents:\n  - {at: 1.2+10, coordinator: crash, for: 60}\n"
KILL = "{at: 1.1+33, restart: consumer-billing-1@10.0.0.191, kill: true, after: 20}"
QUICK = "heartbeat.interval.ms=500\n"
RUNS: dict[str, tuple[str, str, str, Callable[[dict[str, Any]], object] | None]] = {
    "a safe plan": (COOPERATIVE, "--seeds 3", "", None),
    "a safe plan, as data": (COOPERATIVE, "--seeds 3 --output json", "", None),
    "a bridge leader": (WITH_BRIDGE, "--seeds 3 --svg {directory}/bridge.svg", "", None),
    "back from the middle": (COOPERATIVE, "--stop-at 2.1", "", None),
    "an unsafe plan": (COOPERATIVE, "--mistakes --svg {directory}/unsafe.svg", "", swap),
    "an unsafe plan, as data": (COOPERATIVE, "--client-config java={file} --output json", QUICK, swap),
    "mistakes": (COOPERATIVE, "--mistakes", "", None),
    "mistakes, as data": (COOPERATIVE, "--mistakes --output json", "", None),
    "a round too early may be that of the next step": (WITH_BRIDGE, "--mistakes", "", None),
    "a crash of the coordinator": (COOPERATIVE, "--faults {file}", CRASH, None),
    "unsafe with faults": (COOPERATIVE, "--faults {file}", f"kohort: 1\nevents:\n  - {KILL}\n", None),
    "the settings of a configuration file": (COOPERATIVE, "--client-config {file}", QUICK, None),
    "as migrate": (COOPERATIVE, "--as-migrate --seeds 6", "", None),
    "as migrate, as data": (COOPERATIVE, "--as-migrate --seeds 3 --story --output json", "", None),
    "brokers that do not convert": (
        "billing --to consumer", "--set group.consumer.migration.policy=disabled", "", None,
    ),
    "brokers that do not convert, as data": (
        "billing --to consumer", "--set group.consumer.migration.policy=disabled --output json", "", None,
    ),
}  # fmt: skip
"""A plan, options, the text of a file, and a change of the plan."""


def test_rehearsals_are_as_recorded(unwritten: Rehearsal) -> None:
    """A mistake that no gate sees is a reason for status 1, safe as the plan is; stories are left out."""
    answers = {}
    for name, (question, options, content, change) in RUNS.items():
        unwritten.written(question)
        if change is not None:
            unwritten.change(change)
        file = unwritten.file("file", content)
        with chdir(unwritten.directory):  # no path of this run in the lines
            answer = unwritten(options.format(file=file.name, directory="."))
        if "json" in options:
            said = json.dumps({**answer.document, "story": []}, indent=1)
        else:
            text, events, story = answer.stdout.partition("\nEvents of seed")
            said = text.partition("\nOwners")[0] + events
            assert not events or change is None or "INCONSISTENT_GROUP_PROTOCOL" in story
        answers[name] = f"status {answer.status}\n{said}\n{answer.stderr}"
    assert_recorded("rehearse.txt", answers)
    drawn = (unwritten.directory / "bridge.svg").read_text()
    assert "kohort-bridge runs from" in drawn
    assert "step 1, round 1: gate stays closed" in (unwritten.directory / "unsafe.svg").read_text()


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], object], int, str]] = {
    "of another state": (
        lambda plan: plan["baseline"].update(partitions=dict.fromkeys(plan["baseline"]["partitions"], 99)),
        2,
        "the group billing does not match this plan, or no longer does: partitions of ",
    ),
    "of an older Kohort": (
        lambda plan: [step.pop("course") for step in plan["steps"]], 2, "make a new plan"
    ),
    "of a group that is gone": (lambda plan: plan.update(group="no-such-group"), 3, "no-such-group"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_a_plan_that_is_not_of_the_group(rehearse: Rehearsal, kind: str) -> None:
    change, status, said = REFUSED[kind]
    rehearse.change(change)
    rehearse().assert_said(status, said)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("legacy-etl --to consumer", "the plan is blocked"),
        ("billing --to classic", "the group already uses the target protocol"),
        ("nightly-report --to consumer", "the group has no members to rehearse with"),
    ],
)
def test_nothing_to_rehearse(unwritten: Rehearsal, question: str, said: str) -> None:
    unwritten.written(f"{question} --client java:4.1.0")().assert_said(2, said)


@pytest.mark.parametrize(
    ("options", "text", "said"),
    [
        ("--stop-at 3.1", "", "from 1.1 to 2.3"),
        ("--mistakes --stop-at 1.1", "", "--mistakes"),
        ("--set group.consumer.migration.polcy=disabled", "",
         "did you mean group.consumer.migration.policy"),
        ("--client-config absent={}", "", "--client-config names 'absent', which is not a member of billing"),
        ("--client-config {}", "heartbeat.interval.ms=soon\n",
         "heartbeat.interval.ms must be a number of ms from 1 to 2147483647, not 'soon'"),
        ("--faults {}", "kohort: 1\nevents:\n  - at: 1.2+10\n    freeze: absent\n    for: 3\n",
         "file:4: events[0].freeze: there is no member 'absent'"),
    ],
)  # fmt: skip
def test_options_that_are_refused(rehearse: Rehearsal, options: str, text: str, said: str) -> None:
    rehearse(options.format(rehearse.file("file", text))).assert_said(2, said)


def test_the_picture_shows_rounds_and_members(rehearse: Rehearsal) -> None:
    file = rehearse.directory / "rehearsal.svg"
    page = rehearse(f"--stop-at 1.2 --svg {file} --output html").succeeded().stdout
    drawn = file.read_text()
    assert "billing: owners round by round" in drawn
    assert "step 1, round 1: gate open after 35 s" in drawn
    assert "back to the start, in" in drawn
    assert "consumer-billing-1@10.0.0.187 owns" in drawn
    assert "Owners" in page
    assert "step 1, round 2: gate open after" in page
    assert "Story of seed" not in page, "the story was not requested"


def test_what_gates_have_noted_is_shown_as_measured(rehearse: Rehearsal) -> None:
    """The rehearsal of a plan that has been carried out, on the snapshot of before."""
    notes = Notes(plan=fingerprint(plan_from_data(yaml.safe_load(rehearse.plan.read_text()))))
    for step, at, rebalances in ((0, "12:00:00", 17), (1, "12:05:30", 23), (2, "12:10:00", None)):
        notes = notes.with_opened(step, f"2026-03-01T{at}Z", (), rebalances)
    rehearse.file("PLAN.yaml.gates", json.dumps(notes_to_data(notes)))
    assert [row["measured"] for row in rehearse.document()["computed"]] == [
        {"rebalances": 6, "lasted_s": 330},
        {"rebalances": None, "lasted_s": 270},
    ]
    table = rehearse().succeeded().stdout
    assert "Computed, rehearsed and measured, by step" in table
    assert [line.split(maxsplit=5) for line in table.splitlines() if " measured " in line] == [
        ["1", "measured", "6", "-", "-", "5 min 30 s"],
        ["2", "measured", "-", "-", "-", "4 min 30 s"],
    ]
