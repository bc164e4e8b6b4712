"""Changes by the stand-ins have entries in the journal, and can be undone."""

from pathlib import Path

import pytest

from cli.journal.entry import EntryStatus, ItemKind
from cli.journal.reader import read_journal
from tests.cli.command import Kohort
from tests.cli.dropin.harness import PAIRS, Case, run_here
from tests.cli.offset_rig import OffsetRig
from tests.kafka.members import fresh_name

CHANGES = [
    Case(line="--reset-offsets --group {group} --topic {topic} --to-latest --execute"),
    Case(line="--delete-offsets --group {group} --topic {topic}:0"),
    Case(line="--delete --group {group}"),
    Case(line="--reset-offsets --group {new} --topic {topic} --to-latest --execute"),
    pytest.param(
        Case(
            line="--reset-offsets --group {new} --topic {topic} --to-latest --execute", program="share-groups"
        ),
        marks=pytest.mark.kafka,
    ),
    Case(line="--application-id {group} --input-topics {topic}", program="streams-application-reset"),
]


@pytest.mark.parametrize("case", CHANGES, ids=str)
def test_a_change_has_an_entry_and_can_be_undone(
    case: Case, rig: OffsetRig, kohort: Kohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOHORT_JOURNAL", str(tmp_path))
    topic = rig.topic([6, 6])
    group, new = rig.group({(topic, 0): 3, (topic, 1): 4}), fresh_name("new")
    names = {"group": group, "topic": topic, "new": new}
    answer = run_here(case.arguments(names, rig.broker), case.pair)
    assert (answer.status, answer.stderr) == (0, ""), answer
    ((entry, end),) = read_journal(tmp_path)[0]
    assert end is not None
    assert end.status is EntryStatus.DONE
    assert {item.topic for item in entry.items if item.kind is ItemKind.OFFSET} == {topic}
    kohort.quick(f"undo -b {rig.broker.bootstrap} --execute --yes").succeeded()
    assert rig.committed(group) == {(topic, 0): 3, (topic, 1): 4}
    listed = kohort.quick(f"list -b {rig.broker.bootstrap} --output json").document["groups"]
    assert new not in [one["group"] for one in listed]


def test_nothing_is_changed_without_an_entry(
    rig: OffsetRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KOHORT_JOURNAL", str(tmp_path / "file"))
    group = rig.group({(topic := rig.topic([6]), 0): 3})
    case = Case(line="--delete --group {group}")
    answer = run_here(case.arguments({"group": group}, rig.broker), PAIRS["consumer-groups"])
    assert answer.status == 3
    assert "nothing was changed. Set KOHORT_JOURNAL to a writable directory, or to off" in answer.stdout
    assert rig.committed(group) == {(topic, 0): 3}
    monkeypatch.setenv("KOHORT_JOURNAL", "off")
    assert run_here(case.arguments({"group": group}, rig.broker)).status == 0
