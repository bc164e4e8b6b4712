"""`kohort rehearse` on files: what it prints, exit statuses, plans that are not of the group."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from migration.gate.notes import Notes, fingerprint, notes_to_data
from migration.plan_file import plan_from_data
from tests.cli.command import Answer, Kohort
from tests.cli.schemas import faults

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


@pytest.fixture
def unsafe(rehearse: Rehearsal) -> Rehearsal:
    """Somebody starts the members with the list of the second bounce in the first."""
    rehearse.change(lambda plan: plan["steps"][0].update(course=plan["steps"][1]["course"]))
    return rehearse


def test_a_safe_plan(rehearse: Rehearsal) -> None:
    document = rehearse.document("--seeds 3")
    assert (document["safe"], document["seeds"], document["unsafe"]) == (True, 3, [])
    places = [(row["step"], row["round"]) for row in document["rounds"]]
    assert places == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert [(row["step"], row["round"]) for row in document["back"]] == places
    assert all(row["arrived"] for row in document["back"])
    assert document["computed"][0]["rehearsed"]["rebalances"] == 6
    for row in document["rounds"]:
        assert all(row["worst"][name] >= row[name] for name in ("rebalances", "moved", "gate_open_after_s"))


def test_a_bridge_leader(unwritten: Rehearsal) -> None:
    """Of members whose assignments carry user data; it has a lane in the picture."""
    rehearse, picture = unwritten.written(WITH_BRIDGE), unwritten.directory / "rehearsal.svg"
    answer = rehearse(f"--seeds 3 --svg {picture}").succeeded()
    assert "search-indexer: bridge leader\nSafe: rehearsed from 3 seeds." in answer.stdout
    assert any("kohort-bridge" in line for line in answer.stdout.splitlines())
    assert "kohort-bridge runs from" in picture.read_text()
    document = rehearse.document()
    assert [row["rehearsed"]["moved"] for row in document["computed"]] == [0, 12, 12, 12]
    assert all(row["arrived"] for row in document["back"])


def test_stopping_in_the_middle(rehearse: Rehearsal) -> None:
    document = rehearse.document("--stop-at 2.1")
    assert [(row["step"], row["round"]) for row in document["back"]] == [(2, 1)]


def test_an_unsafe_plan_is_reported_with_its_story(unsafe: Rehearsal) -> None:
    picture = unsafe.directory / "rehearsal.svg"
    answer = unsafe(f"--mistakes --svg {picture}")
    assert answer.status == 1
    assert "Not safe. Seed 1: the gate of step 1, round 1, does not open" in answer.stdout
    assert "INCONSISTENT_GROUP_PROTOCOL" in answer.stdout
    assert "mistakes were not played" in answer.stdout
    assert "step 1, round 1: gate stays closed" in picture.read_text()


def test_what_plays_an_unsafe_seed_again_names_files(unsafe: Rehearsal) -> None:
    config = unsafe.file("consumer.properties", "heartbeat.interval.ms=500\n")
    for options in ("", f" --client-config java={config}"):
        (row,) = unsafe.document(options)["unsafe"]
        assert row["replay"] == f"kohort rehearse PLAN.yaml --seed 1{options} --story"


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


def test_mistakes(rehearse: Rehearsal) -> None:
    answer = rehearse("--mistakes --output json")
    document = answer.document
    outcomes = {
        (row["mistake"], row["step"]): row["gate"]["outcome"]
        for row in document["mistakes"]
        if row["why_not"] is None
    }
    undetected = {("deploy-in-the-middle", 2)}
    assert {key for key, outcome in outcomes.items() if outcome == "opens-in-spite"} == undetected
    assert {mistake for mistake, _ in outcomes} == {
        *("bounce-skipped", "list-reversed", "next-round-too-early", "old-member-back", "wrong-jar"),
        "deploy-in-the-middle",
    }
    (missing,) = (row for row in document["mistakes"] if row["why_not"] is not None)
    assert missing == {"mistake": "successor-too-early", "why_not": "no static member is restarted"}
    # The plan is safe, and yet there is a mistake that its gates do not see.
    assert (document["safe"], answer.status) == (True, 1)
    table = rehearse("--mistakes").stdout
    (skipped,) = (line for line in table.splitlines() if line.startswith("bounce-skipped"))
    assert "INCONSISTENT_GROUP_PROTOCOL at consumer-billing-1@10.0.0.187; 2 of 3 members" in skipped
    assert skipped.split()[-3:] == ["stays", "closed", "member-count"]
    assert "The gate does not detect it." in " ".join(table.split())


def test_a_round_too_early_may_be_that_of_the_next_step(unwritten: Rehearsal) -> None:
    """Its member has been restarted before, for the bridge: it runs as planned all the same."""
    outcomes = {
        row["step"]: row["gate"]["outcome"]
        for row in unwritten.written(WITH_BRIDGE).document("--mistakes")["mistakes"]
        if row["mistake"] == "next-round-too-early"
    }
    assert outcomes == {2: "closed", 3: "opens-at-rest"}


def test_faults(rehearse: Rehearsal) -> None:
    file = rehearse.file("faults.yaml", "kohort: 1\nevents:\n  - {at: 1.2+10, coordinator: crash, for: 60}\n")
    answer = rehearse(f"--faults {file} --output json").succeeded()
    assert answer.document["faults"] == str(file)
    assert f"rehearsed with the faults of {file}" in answer.stderr
    first, second = (row["gate_open_after_s"] for row in answer.document["rounds"][:2])
    assert first < 40 < 70 <= second


def test_an_unsafe_rehearsal_with_faults_is_played_again(rehearse: Rehearsal) -> None:
    who = "consumer-billing-1@10.0.0.191"
    event = f"{{at: 1.1+33, restart: {who}, kill: true, after: 20}}"
    file = rehearse.file("faults.yaml", f"kohort: 1\nevents:\n  - {event}\n")
    unsafe = rehearse.document(f"--faults {file}")["unsafe"][0]
    assert f"{who} has not rejoined" in unsafe["reason"]
    assert unsafe["replay"] == f"kohort rehearse PLAN.yaml --seed 1 --faults {file} --story"


def test_the_settings_of_a_configuration_file(rehearse: Rehearsal) -> None:
    file = rehearse.file("consumer.properties", "heartbeat.interval.ms=500\n")
    answer = rehearse(f"--client-config {file} --output json").succeeded()
    assert f"the settings of {file} except where the plan changes them" in answer.stderr
    usual, quick = (
        sum(row["without_owner_s"] for row in document["rounds"])
        for document in (rehearse.document(), answer.document)
    )
    assert quick < usual


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


def test_other_settings_than_the_group_has(unwritten: Rehearsal) -> None:
    """A plan to convert the group online, where the brokers would not do it."""
    rehearse = unwritten.written("billing --to consumer")
    rehearse().succeeded()
    option = "--set group.consumer.migration.policy=disabled"
    answer = rehearse(option)
    assert answer.status == 1
    assert f"{option} --story" in " ".join(answer.stdout.split())
    assert f"rehearsed with {option.removeprefix('--set ')}" in answer.stderr
    document = rehearse.document(option)
    assert faults(document) == []
    assert document["settings"] == {"group.consumer.migration.policy": "disabled"}
