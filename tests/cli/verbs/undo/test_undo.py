"""`kohort undo`: every changing command is executed and undone, and the cluster is as before, in every respect."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from cli.journal.entry import ChangedItem, ItemKind
from cli.sources.wire_source import WireSource
from groups.listing import GroupType
from tests.cli.changes.cluster_state import state_of
from tests.cli.command import Answer
from tests.cli.journal.entries import entry_of, write_journal
from tests.cli.offset_rig import OffsetRig
from tests.cli.sources.live_source import live_source
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics, delete_records, delete_topic
from tests.kafka.wait import wait_until
from tests.support.long import IS_LONG
from wire.client.offsets import NewOffset, commit_offsets

SETTING, OTHER = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
GIVEN = ("--execute", "--yes")


@dataclass(frozen=True, kw_only=True)
class UndoRig:
    """A broker whose groups begin with a prefix, and a journal."""

    rig: OffsetRig
    source: WireSource
    topic: str
    prefix: str
    directory: Path

    def commit(self, group: str, offsets: Mapping[int, int], topic: str = "") -> str:
        """Commit with a leader epoch and metadata; the group's id."""
        name = f"{self.prefix}-{group}"
        commits = {
            (topic or self.topic, number): NewOffset(offset=offset, leader_epoch=0, metadata=f"of {number}")
            for number, offset in offsets.items()
        }
        (outcome,) = commit_offsets(self.source.client, {name: commits}).found.values()
        assert not any(outcome.values()), outcome
        return name

    def dump(self) -> object:
        """Everything that Kohort can change: groups, their offsets and settings, and features."""
        return state_of(self.source, self.prefix, configured=[f"{self.prefix}-a", f"{self.prefix}-b"])

    def run(self, line: str, *more: str | Path) -> Answer:
        words = line.format(a=f"{self.prefix}-a", b=f"{self.prefix}-b", topic=self.topic)
        return self.rig.ours(words, *more, "--journal", self.directory)

    def file(self, text: str) -> Path:
        path = self.directory.parent / "file"
        path.write_text(text.format(a=f"{self.prefix}-a", b=f"{self.prefix}-b", topic=self.topic))
        return path


def undo_of(answer: Answer) -> str:
    last = answer.succeeded().stderr.splitlines()[-1]
    named = re.match(r"Undo: kohort undo ([0-9A-F]{8}) --journal ", last)
    assert named is not None, answer.stderr
    return named[1]


@pytest.fixture
def undo(rig: OffsetRig, tmp_path: Path) -> Iterator[UndoRig]:
    with live_source(rig.broker) as source:
        directory = tmp_path / "journal"
        directory.mkdir()
        yield UndoRig(
            rig=rig, source=source, topic=rig.topic([20, 20, 20]), prefix=fresh_name("undo"), directory=directory
        )  # fmt: skip


APPLIED = {
    "kohort": 1,
    "groups": {
        "A": {"settings": {SETTING: 46000, OTHER: None}, "offsets": {"T": {"0": 7, "1": "none"}}},
        "B": {"delete": True},
    },
}
CHANGES: Mapping[str, str] = {
    "reset": "offsets reset {a} --topic {topic} --to-offset 7",
    "reset that only drops metadata": "offsets reset {a} --topic {topic}:0 --to-current",
    "reset that creates a group": "offsets reset {a}-new --topic {topic}:0,2 --to-latest",
    "import": "offsets import FILE {a}",
    "clone": "offsets clone {a} {b}",
    "clone that creates a group": "offsets clone {a} {a}-copy",
    "deletion of offsets": "offsets delete {a} --topic {topic}:0",
    "deletion": "delete {a} {b}",
    "apply": "apply FILE",
    "config set": f"config set {{a}} {SETTING}=46000 {OTHER}=6000",
    "config unset": f"config unset {{a}} {SETTING}",
    "features": "features set group.version=0 --downgrade",
}


@pytest.mark.kafka
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_undone_and_the_undo_too(undo: UndoRig, name: str) -> None:
    undo.commit("a", {0: 3, 1: 5})
    undo.commit("b", {0: 9, 2: 2})
    undo.rig.ours(f"config set {undo.prefix}-a {SETTING}=47000", *GIVEN, "--no-journal").succeeded()
    text = "{topic},0,7\n{topic},2,1\n\n"
    if name == "apply":
        tree = json.dumps(APPLIED).replace('"A"', f'"{undo.prefix}-a"').replace('"B"', f'"{undo.prefix}-b"')
        text = tree.replace('"T"', f'"{undo.topic}"').replace("{", "{{").replace("}", "}}")
    before = undo.dump()
    done = undo.run(CHANGES[name].replace("FILE", str(undo.file(text))), *GIVEN)
    entry = undo_of(done)
    wait_until(lambda: undo.dump() != before, "the change", timeout_s=20)
    after = undo.dump()

    shown = undo.run("undo").succeeded().document
    assert (shown["entry"]["id"], shown["executed"]) == (entry, False)
    assert {change["verdict"] for change in shown["changes"]} == {"restore"}
    undone = undo.run(f"undo {entry}", *GIVEN)
    assert {change["applied"] for change in undone.document["changes"]} == {True}
    wait_until(lambda: undo.dump() == before, "the cluster is as before", timeout_s=20)

    again = undo.run(f"undo {entry}", *GIVEN).succeeded()
    assert "nothing to restore" in again.stderr
    undo.run(f"undo {undo_of(undone)}", *GIVEN).succeeded()
    wait_until(lambda: undo.dump() == after, "the change is made again", timeout_s=20)


def changed(undo: UndoRig, line: str = "offsets reset {a} --topic {topic} --to-offset 7") -> str:
    """Group a has committed 3, 5 and 9; its offsets are changed. The entry."""
    undo.commit("a", {0: 3, 1: 5, 2: 9})
    return undo_of(undo.run(line, *GIVEN))


def offsets(undo: UndoRig) -> list[int]:
    committed = undo.rig.committed(f"{undo.prefix}-a")
    return [committed[place] for place in sorted(committed)]


def refused(undo: UndoRig, *reasons: str, more: str = "", status: int = 4) -> None:
    """The preview and the execution are refused, with a reason and the same status; nothing is changed."""
    before = undo.dump()
    for words in ((), GIVEN):
        answer = undo.run(f"undo {more}", *words)
        answer.assert_said(status, *reasons)
        assert not answer.document["executed"]
        assert {change["applied"] for change in answer.document["changes"]} == {None}
    assert undo.dump() == before


def test_a_group_with_members_is_refused(undo: UndoRig) -> None:
    changed(undo)
    with undo.rig.joined(f"{undo.prefix}-a", undo.topic) as member:
        refused(undo, f"{undo.prefix}-a: 1 active member (Stable): {member}")
    assert offsets(undo) == [7, 7, 7]


def test_expired_offsets_are_refused_and_the_rest_is_restored_partly(undo: UndoRig) -> None:
    changed(undo)
    delete_records(undo.rig.broker, {(undo.topic, 1): 6})
    gone = f"{undo.prefix}-a, {undo.topic}-1: 5 is before the earliest, 6: its records are deleted"
    refused(undo, gone, f"{undo.prefix}-a: not restored, because the rest cannot be; --partly restores")
    assert offsets(undo) == [7, 7, 7]
    answer = undo.run("undo --partly", *GIVEN)
    answer.assert_said(4, gone, f"set 2 offsets of {undo.prefix}-a", "Undo: kohort undo")
    assert [change["applied"] for change in answer.document["changes"]] == [True, False, True]
    assert offsets(undo) == [3, 7, 9]


def test_a_topic_that_was_created_again_is_refused(undo: UndoRig) -> None:
    changed(undo)
    delete_topic(undo.rig.broker, undo.topic)
    undo.commit("a", {0: 1}, undo.rig.topic([1], name=f"{undo.prefix}-other"))
    refused(undo, f"{undo.topic}-0, {undo.topic}-1, {undo.topic}-2: the topic was deleted since")
    create_topics(undo.rig.broker, {undo.topic: 3})
    refused(undo, "the topic was deleted and created again since the change: its offsets are other records")


def test_what_cannot_be_undone_is_refused(undo: UndoRig) -> None:
    undo.commit("a", {0: 3})
    with undo.rig.joined(f"{undo.prefix}-a", undo.topic):
        undo.run("members remove {a} --all", *GIVEN).succeeded()
    refused(undo, "a member joins by itself: restart its client")


def test_a_value_that_was_changed_since_is_shown_before_it_is_replaced(undo: UndoRig) -> None:
    changed(undo)
    undo.commit("a", {1: 8})
    answer = undo.run("undo").succeeded()
    rows = [(row["now"], row["restored"], row["remark"]) for row in answer.document["changes"]]
    assert rows == [(7, 3, None), (8, 5, "changed since: was 7"), (7, 9, None)]
    undo.run("undo", *GIVEN).assert_said(0, f"{undo.topic}-1: changed since: was 7, is 8; it is replaced")
    assert offsets(undo) == [3, 5, 9]


def test_an_entry_without_an_end_is_compared_with_the_cluster(undo: UndoRig) -> None:
    changed(undo)
    (file,) = undo.directory.glob("*.jsonl")
    file.write_text(file.read_text().splitlines()[0] + "\n")
    undo.commit("a", {0: 3})
    document = undo.run("undo").succeeded().document
    assert [row["verdict"] for row in document["changes"]] == ["as_before", "restore", "restore"]
    undo.commit("a", {1: 4})
    refused(undo, "whether it was changed is not known: was 5, would be 7, is 4")
    assert offsets(undo) == [3, 4, 7]
    undo.run("undo --partly", *GIVEN).assert_said(4, f"set 1 offset of {undo.prefix}-a")
    assert offsets(undo) == [3, 4, 9]


def test_an_entry_of_another_cluster_is_refused_and_skipped(undo: UndoRig) -> None:
    undo.run("undo").assert_refused(
        f"{undo.directory} has no change of the cluster {undo.source.cluster_id()} that can be undone",
        status=3,
    )
    entry = changed(undo)
    (file,) = undo.directory.glob("*.jsonl")
    theirs = (
        file.read_text().replace(undo.source.cluster_id() or "", "their-cluster").replace(entry, "00001111")
    )
    file.with_name("other-2026-11-29.jsonl").write_text(theirs)
    undo.run("undo 0000").assert_refused(
        "00001111 changed the cluster their-cluster", f"{undo.rig.broker.bootstrap} is the cluster"
    )
    assert undo.run("undo").document["entry"]["id"] == entry
    undo.run("undo", *GIVEN).succeeded()
    assert offsets(undo) == [3, 5, 9]
    undo.run("undo").assert_refused("that can be undone", status=3)


def test_only_a_live_cluster_has_changes_to_undo(undo: UndoRig, sample: Path) -> None:
    answer = undo.rig.kohort.quick("undo --embedded", sample, "--journal", undo.directory)
    answer.assert_refused("is no live cluster, so it has no changes to undo")


@pytest.mark.kafka
def test_changes_of_share_groups_are_undone_on_a_real_broker(undo: UndoRig) -> None:
    lines = (
        "offsets reset {a} --type share --topic {topic} --to-earliest",
        "offsets reset {a} --topic {topic} --to-latest",
        "offsets reset {a} --topic {b}-topic --to-latest",
        "offsets delete {a} --topic {topic}",
        "delete {a}",
    )
    undo.rig.topic([1], name=f"{undo.prefix}-b-topic")
    entries, dumps = [], [undo.dump()]
    for line in lines:
        entries.append(undo_of(undo.run(line, *GIVEN)))
        dumps.append(undo.dump())
    assert all(before != after for before, after in pairwise(dumps))
    for entry, before in zip(reversed(entries), reversed(dumps[:-1]), strict=True):
        shown = undo.run("undo").succeeded()
        assert shown.document["entry"]["id"] == entry
        undo.run("undo", *GIVEN).succeeded()
        assert undo.dump() == before, (entry, shown.document)


def test_an_edited_entry_is_refused_or_restored_whatever_it_contains(undo: UndoRig) -> None:
    chosen, group = random.Random(7).choice, undo.commit("a", {0: 3})
    texts = (None, "", "x", "a\0b", "a\nb", "é" * 300, "x" * 40_000)
    numbers = (None, 0, 3, -1, 2**31, 2**63 - 1, 2**70)
    for number in range(1000 if IS_LONG else 20):
        items = tuple(
            ChangedItem(
                kind=chosen([*ItemKind]), type=chosen([None, *GroupType]), group=chosen([group, *texts]),
                topic=chosen([undo.topic, *texts]), partition=chosen((None, 0, 1, 2**31 - 1)),
                name=chosen([SETTING, *texts]),
                before=chosen([*numbers, *texts]), after=chosen([*numbers, *texts]), leader_epoch=chosen((None, -1, 5)),
                metadata=chosen(texts),
            )
            for _ in range(2)
        )  # fmt: skip
        entry = replace(entry_of(number), cluster=undo.source.cluster_id(), items=items)
        write_journal(undo.directory, entry)
        for words in ((), GIVEN):
            answer = undo.run(f"undo {entry.id}", *words)
            answer.assert_said(answer.status)
            assert answer.status in (0, 3, 4), answer
            assert not answer.stdout or answer.document["entry"]["id"] == entry.id
