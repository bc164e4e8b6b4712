"""`kohort rehearse` on files: what it prints, exit statuses, plans that are not of the group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from migration.gate.notes import Notes, fingerprint, notes_to_data
from migration.plan_file import plan_from_data
from tests.cli.command import Answer, Kohort
from tests.cli.schemas import faults

SOURCE = "--embedded"


@pytest.fixture
def plan(kohort: Kohort, sample: Path, tmp_path: Path) -> Path:
    """A plan of the sample's billing."""
    return _written(kohort, sample, tmp_path, "billing")


def _written(
    kohort: Kohort, sample: Path, directory: Path, group: str, to: str = "cooperative --client java:3.7.0"
) -> Path:
    question = f"plan {group} --to {to} --output yaml --embedded"
    file = directory / f"{group}.yaml"
    file.write_text(kohort.quick(question, sample).succeeded().stdout)
    return file


def _rehearse(kohort: Kohort, plan: Path, sample: Path, *options: str) -> Answer:
    answer = kohort.quick("rehearse", str(plan), SOURCE, str(sample), *options)
    assert not answer.traceback, answer.stderr
    return answer


def test_a_safe_plan(kohort: Kohort, plan: Path, sample: Path) -> None:
    document = _rehearse(kohort, plan, sample, "--seeds", "3", "--output", "json").succeeded().document
    assert (document["safe"], document["seeds"], document["unsafe"]) == (True, 3, [])
    places = [(each["step"], each["round"]) for each in document["rounds"]]
    assert places == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert [(each["step"], each["round"]) for each in document["back"]] == places
    assert all(each["arrived"] for each in document["back"])
    assert document["computed"][0]["rehearsed"]["rebalances"] == 6
    for each in document["rounds"]:
        assert all(each["worst"][name] >= each[name] for name in ("rebalances", "moved", "gate_open_after_s"))


def test_a_bridge_leader(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    """Of members whose assignments carry user data."""
    plan = _written(kohort, sample, tmp_path, "search-indexer", "consumer --client librdkafka:2.16.0")
    answer = _rehearse(kohort, plan, sample, "--seeds", "3").succeeded()
    assert "search-indexer: bridge leader\nSafe: rehearsed from 3 seeds." in answer.stdout
    assert any("kohort-bridge" in line for line in answer.stdout.splitlines())
    document = _rehearse(kohort, plan, sample, "--output", "json").document
    assert [each["rehearsed"]["moved"] for each in document["computed"]] == [0, 12, 12, 12]
    assert all(each["arrived"] for each in document["back"])


def test_stopping_in_the_middle(kohort: Kohort, plan: Path, sample: Path) -> None:
    answer = _rehearse(kohort, plan, sample, "--stop-at", "2.1", "--output", "json").succeeded()
    assert [(each["step"], each["round"]) for each in answer.document["back"]] == [(2, 1)]
    refused = _rehearse(kohort, plan, sample, "--stop-at", "3.1")
    assert refused.status == 2
    assert "from 1.1 to 2.3" in refused.stderr


def test_an_unsafe_plan_is_reported_with_its_story(kohort: Kohort, plan: Path, sample: Path) -> None:
    """Somebody starts the members with the list of the second bounce in the first."""
    data = yaml.safe_load(plan.read_text())
    data["steps"][0]["course"] = data["steps"][1]["course"]
    plan.write_text(json.dumps(data))
    answer = _rehearse(kohort, plan, sample)
    assert answer.status == 1
    assert "Not safe. Seed 1: the gate of step 1, round 1, does not open" in answer.stdout
    assert "INCONSISTENT_GROUP_PROTOCOL" in answer.stdout
    (unsafe,) = _rehearse(kohort, plan, sample, "--output", "json").document["unsafe"]
    assert unsafe["replay"] == "kohort rehearse PLAN.yaml --seed 1 --story"


def test_a_plan_of_another_state(kohort: Kohort, plan: Path, sample: Path) -> None:
    data = yaml.safe_load(plan.read_text())
    data["baseline"]["partitions"] = dict.fromkeys(data["baseline"]["partitions"], 99)
    plan.write_text(json.dumps(data))
    answer = _rehearse(kohort, plan, sample)
    assert answer.status == 2
    assert "the group billing does not match this plan, or no longer does: partitions of " in answer.stderr


def test_a_plan_of_an_older_kohort(kohort: Kohort, plan: Path, sample: Path) -> None:
    data = yaml.safe_load(plan.read_text())
    for step in data["steps"]:
        del step["course"]
    plan.write_text(json.dumps(data))
    answer = _rehearse(kohort, plan, sample)
    assert answer.status == 2
    assert "make a new plan" in answer.stderr


def test_a_plan_of_a_group_that_is_gone(kohort: Kohort, plan: Path, sample: Path) -> None:
    data = yaml.safe_load(plan.read_text())
    data["group"] = "no-such-group"
    plan.write_text(json.dumps(data))
    answer = _rehearse(kohort, plan, sample)
    assert answer.status == 3
    assert "no-such-group" in answer.stderr


@pytest.mark.parametrize(
    ("group", "to", "said"),
    [
        ("legacy-etl", "consumer", "the plan is blocked"),
        ("billing", "classic", "the group already uses the target protocol"),
        ("nightly-report", "consumer", "the group has no members to rehearse with"),
    ],
)
def test_nothing_to_rehearse(
    kohort: Kohort, sample: Path, tmp_path: Path, group: str, to: str, said: str
) -> None:
    file = tmp_path / "plan.yaml"
    planned = kohort.quick(f"plan {group} --to {to} --client java:4.1.0 --output yaml --embedded", sample)
    file.write_text(planned.stdout)
    answer = _rehearse(kohort, file, sample)
    assert answer.status == 2
    assert said in answer.stderr


def test_mistakes(kohort: Kohort, plan: Path, sample: Path) -> None:
    answer = _rehearse(kohort, plan, sample, "--mistakes", "--output", "json")
    document = answer.document
    outcomes = {
        (each["mistake"], each["step"]): each["gate"]["outcome"]
        for each in document["mistakes"]
        if each["why_not"] is None
    }
    undetected = {("deploy-in-the-middle", 2)}
    assert {each for each, outcome in outcomes.items() if outcome == "opens-in-spite"} == undetected
    assert {mistake for mistake, _ in outcomes} == {
        *("bounce-skipped", "list-reversed", "next-round-too-early", "old-member-back", "wrong-jar"),
        "deploy-in-the-middle",
    }
    (missing,) = (each for each in document["mistakes"] if each["why_not"] is not None)
    assert missing == {"mistake": "successor-too-early", "why_not": "no static member is restarted"}
    # The plan is safe, and yet there is a mistake that its gates do not see.
    assert (document["safe"], answer.status) == (True, 1)


def test_the_table_of_mistakes(kohort: Kohort, plan: Path, sample: Path) -> None:
    answer = _rehearse(kohort, plan, sample, "--mistakes")
    (skipped,) = (line for line in answer.stdout.splitlines() if line.startswith("bounce-skipped"))
    assert "INCONSISTENT_GROUP_PROTOCOL at consumer-billing-1@10.0.0.187; 2 of 3 members" in skipped
    assert skipped.split()[-3:] == ["stays", "closed", "member-count"]
    assert "The gate does not detect it." in " ".join(answer.stdout.split())


def test_a_round_too_early_may_be_that_of_the_next_step(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    """Its member has been restarted before, for the bridge: it runs as planned all the same."""
    question = "plan search-indexer --to consumer --client librdkafka:2.16.0 --output yaml --embedded"
    plan = tmp_path / "PLAN.yaml"
    plan.write_text(kohort.quick(question, sample).succeeded().stdout)
    document = _rehearse(kohort, plan, sample, "--mistakes", "--output", "json").document
    outcomes = {
        each["step"]: each["gate"]["outcome"]
        for each in document["mistakes"]
        if each["mistake"] == "next-round-too-early"
    }
    assert outcomes == {2: "closed", 3: "opens-at-rest"}


def test_mistakes_are_not_made_in_the_rollback(kohort: Kohort, plan: Path, sample: Path) -> None:
    answer = _rehearse(kohort, plan, sample, "--mistakes", "--stop-at", "1.1")
    assert answer.status == 2
    assert "--mistakes" in answer.stderr


def test_no_mistakes_where_the_plan_is_not_safe(kohort: Kohort, plan: Path, sample: Path) -> None:
    data = yaml.safe_load(plan.read_text())
    data["steps"][0]["course"] = data["steps"][1]["course"]
    plan.write_text(json.dumps(data))
    answer = _rehearse(kohort, plan, sample, "--mistakes")
    assert answer.status == 1
    assert "mistakes were not played" in answer.stdout


def test_faults(kohort: Kohort, plan: Path, sample: Path, tmp_path: Path) -> None:
    faults = tmp_path / "faults.yaml"
    faults.write_text("kohort: 1\nevents:\n  - {at: 1.2+10, coordinator: crash, for: 60}\n")
    answer = _rehearse(kohort, plan, sample, "--faults", str(faults), "--output", "json").succeeded()
    assert answer.document["faults"] == str(faults)
    assert f"rehearsed with the faults of {faults}" in answer.stderr
    first, second = (each["gate_open_after_s"] for each in answer.document["rounds"][:2])
    assert first < 40 < 70 <= second


def test_an_unsafe_rehearsal_with_faults_is_played_again(
    kohort: Kohort, plan: Path, sample: Path, tmp_path: Path
) -> None:
    faults = tmp_path / "faults.yaml"
    who = "consumer-billing-1@10.0.0.191"
    faults.write_text(f"kohort: 1\nevents:\n  - {{at: 1.1+33, restart: {who}, kill: true, after: 20}}\n")
    answer = _rehearse(kohort, plan, sample, "--faults", str(faults), "--output", "json")
    assert answer.status == 1
    unsafe = answer.document["unsafe"][0]
    assert f"{who} has not rejoined" in unsafe["reason"]
    assert unsafe["replay"] == f"kohort rehearse PLAN.yaml --seed 1 --faults {faults} --story"


def test_a_file_of_faults_that_is_invalid(kohort: Kohort, plan: Path, sample: Path, tmp_path: Path) -> None:
    faults = tmp_path / "faults.yaml"
    faults.write_text("kohort: 1\nevents:\n  - at: 1.2+10\n    freeze: absent\n    for: 3\n")
    answer = _rehearse(kohort, plan, sample, "--faults", str(faults))
    assert answer.status == 2
    assert f"{faults}:4: events[0].freeze: there is no member 'absent'" in answer.stderr


def test_the_settings_of_a_configuration_file(
    kohort: Kohort, plan: Path, sample: Path, tmp_path: Path
) -> None:
    file = tmp_path / "consumer.properties"
    file.write_text("heartbeat.interval.ms=500\n")
    document = _rehearse(kohort, plan, sample, "--output", "json").succeeded().document
    answer = _rehearse(kohort, plan, sample, "--client-config", str(file), "--output", "json").succeeded()
    assert f"the settings of {file} except where the plan changes them" in answer.stderr
    usual, quick = (
        sum(each["without_owner_s"] for each in found["rounds"]) for found in (document, answer.document)
    )
    assert quick < usual
    refused = _rehearse(kohort, plan, sample, "--client-config", f"absent={file}")
    assert refused.status == 2
    assert "--client-config names 'absent', which is not a member of billing" in refused.stderr


def test_what_plays_a_seed_again_names_the_configuration(
    kohort: Kohort, plan: Path, sample: Path, tmp_path: Path
) -> None:
    data = yaml.safe_load(plan.read_text())
    data["steps"][0]["course"] = data["steps"][1]["course"]
    plan.write_text(json.dumps(data))
    file = tmp_path / "consumer.properties"
    file.write_text("heartbeat.interval.ms=500\n")
    answer = _rehearse(kohort, plan, sample, "--client-config", f"java={file}", "--output", "json")
    replay = answer.document["unsafe"][0]["replay"]
    assert replay == f"kohort rehearse PLAN.yaml --seed 1 --client-config java={file} --story"


def test_a_configuration_that_no_consumer_starts_with(
    kohort: Kohort, plan: Path, sample: Path, tmp_path: Path
) -> None:
    file = tmp_path / "consumer.properties"
    file.write_text("heartbeat.interval.ms=soon\n")
    answer = _rehearse(kohort, plan, sample, "--client-config", str(file))
    assert answer.status == 2
    assert "heartbeat.interval.ms must be a number of ms from 1 to 2147483647, not 'soon'" in answer.stderr


def test_the_picture_shows_rounds_and_members(
    kohort: Kohort, plan: Path, sample: Path, tmp_path: Path
) -> None:
    file = tmp_path / "rehearsal.svg"
    _rehearse(kohort, plan, sample, "--stop-at", "1.2", "--svg", str(file)).succeeded()
    drawn = file.read_text()
    assert "billing: owners round by round" in drawn
    assert "step 1, round 1: gate open after 35 s" in drawn
    assert "step 1, round 2: gate open after" in drawn
    assert "back to the start, in" in drawn
    assert "consumer-billing-1@10.0.0.187 owns" in drawn


def test_the_picture_is_on_the_page_too(kohort: Kohort, plan: Path, sample: Path) -> None:
    page = _rehearse(kohort, plan, sample, "--output", "html").succeeded().stdout
    assert "Owners" in page
    assert "step 2, round 3: gate open after" in page
    assert "Story of seed" not in page, "the story was not requested"


def test_the_picture_of_an_unsafe_plan_is_that_of_its_story(
    kohort: Kohort, plan: Path, sample: Path, tmp_path: Path
) -> None:
    data = yaml.safe_load(plan.read_text())
    data["steps"][0]["course"] = data["steps"][1]["course"]
    plan.write_text(json.dumps(data))
    file = tmp_path / "rehearsal.svg"
    answer = _rehearse(kohort, plan, sample, "--svg", str(file))
    assert answer.status == 1
    assert "step 1, round 1: gate stays closed" in file.read_text()


def test_what_gates_have_noted_is_shown_as_measured(kohort: Kohort, plan: Path, sample: Path) -> None:
    """The rehearsal of a plan that has been carried out, on the snapshot of before."""
    notes = Notes(plan=fingerprint(plan_from_data(yaml.safe_load(plan.read_text()))))
    notes = notes.with_opened(0, "2026-03-01T12:00:00Z", (), 17).with_opened(
        1, "2026-03-01T12:05:30Z", (), 23
    )
    notes = notes.with_opened(2, "2026-03-01T12:10:00Z", ())
    plan.with_name(f"{plan.name}.gates").write_text(json.dumps(notes_to_data(notes)))
    answer = _rehearse(kohort, plan, sample, "--output", "json").succeeded()
    assert [each["measured"] for each in answer.document["computed"]] == [
        {"rebalances": 6, "lasted_s": 330},
        {"rebalances": None, "lasted_s": 270},
    ]
    table = _rehearse(kohort, plan, sample).succeeded().stdout
    assert "Computed, rehearsed and measured, by step" in table
    assert [line.split(maxsplit=5) for line in table.splitlines() if " measured " in line] == [
        ["1", "measured", "6", "-", "-", "5 min 30 s"],
        ["2", "measured", "-", "-", "-", "4 min 30 s"],
    ]


def test_the_bridge_has_a_lane_in_the_picture(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    question = "plan search-indexer --to consumer --client librdkafka:2.16.0 --output yaml --embedded"
    plan, file = tmp_path / "PLAN.yaml", tmp_path / "rehearsal.svg"
    plan.write_text(kohort.quick(question, sample).succeeded().stdout)
    _rehearse(kohort, plan, sample, "--stop-at", "3.1", "--svg", str(file)).succeeded()
    assert "kohort-bridge runs from" in file.read_text()


def test_other_settings_than_the_group_has(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    """A plan to convert the group online, where the brokers would not do it."""
    file = tmp_path / "plan.yaml"
    line = "plan billing --to consumer --output yaml --embedded"
    file.write_text(kohort.quick(line, sample).succeeded().stdout)
    assert _rehearse(kohort, file, sample).succeeded()
    setting = "group.consumer.migration.policy=disabled"
    answer = _rehearse(kohort, file, sample, "--set", setting)
    assert answer.status == 1
    assert f"--set {setting} --story" in " ".join(answer.stdout.split())
    assert f"rehearsed with {setting}" in answer.stderr
    document = _rehearse(kohort, file, sample, "--set", setting, "--output", "json").document
    assert faults(document) == []
    assert document["settings"] == {"group.consumer.migration.policy": "disabled"}
    refused = _rehearse(kohort, file, sample, "--set", "group.consumer.migration.polcy=disabled")
    assert refused.status == 2
    assert "did you mean group.consumer.migration.policy" in refused.stderr
