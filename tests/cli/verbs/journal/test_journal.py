"""`kohort journal`, and what changes write into it."""

import json
from pathlib import Path

import pytest

from cli.journal.entry import ChangedItem, EntryStatus, ItemKind, ItemOutcome
from cli.journal.reader import Journaled, read_journal
from tests.cli.command import Kohort
from tests.cli.journal.entries import edited, end_of, entry_of, offset_of, write_journal
from tests.cli.offset_rig import OffsetRig
from tests.kafka.members import fresh_name
from tests.support.golden import assert_recorded

OFF = {"KOHORT_JOURNAL": "off"}
DONE, FAILED = ItemOutcome.DONE, ItemOutcome.FAILED


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    return session_rig.topic([20, 20])


def only_entry(directory: Path) -> Journaled:
    entries, problems = read_journal(directory)
    assert problems == []
    (one,) = entries
    return one


@pytest.mark.kafka
def test_a_change_has_an_entry_with_what_it_replaced(rig: OffsetRig, tmp_path: Path) -> None:
    topic = rig.topic([20, 20])
    group = rig.group({(topic, 0): 3})
    line = f"offsets reset {group} --topic {topic} --to-latest --execute --yes --journal"
    done = rig.ours(line, tmp_path).succeeded()
    entry, end = only_entry(tmp_path)
    undo = f"Undo: kohort undo {entry.id} --journal {tmp_path} -b {rig.broker.bootstrap}\n"
    assert done.stderr == f"kohort: set 2 offsets of {group}\n{undo}"
    assert end is not None
    assert (entry.verb, entry.context, entry.agent) == ("offsets reset", None, None)
    assert entry.servers == rig.broker.bootstrap
    assert [(item.target, item.before, item.after, item.metadata) for item in entry.items] == [
        (f"{topic}-0", 3, 20, ""), (f"{topic}-1", None, 20, None),
    ]  # fmt: skip
    assert all(item.topic_id is not None for item in entry.items)
    assert entry.at < end.ended
    document = rig.kohort.quick("journal", entry.id[:4], "--journal", tmp_path, "--output", "json").document
    (shown,) = document["entries"]
    assert (shown["cluster"], shown["changes"]["done"]) == (entry.cluster, 2)


def test_each_kind_of_change_has_its_items(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    group, setting = rig.group({(topic, 0): 3}), "consumer.session.timeout.ms"
    file = tmp_path / "groups.yaml"
    file.write_text(
        f"kohort: 1\ngroups: {{{group}: {{settings: {{{setting}: 46000}}, offsets: {{{topic}: {{0: 5}}}}}}}}"
    )
    lines: dict[str, list[tuple[str, str, object, object]] | None] = {
        f"config set {group} {setting}=47000": [("setting", setting, None, "47000")],
        f"config unset {group} {setting}": [("setting", setting, "47000", None)],
        f"apply {file}": [("setting", setting, None, "46000"), ("offset", f"{topic}-0", 3, 5)],
        f"offsets delete {group} --topic {topic}": [("offset", f"{topic}-0", 5, None)],
        f"offsets clone {group} {group}-2": None,
        f"delete {group}": [("group", "", "Empty", None)],
    }
    for number, (line, recorded) in enumerate(lines.items()):
        items = recorded or [("group", "", None, "Empty"), ("offset", f"{topic}-1", None, 2)]
        if recorded is None:
            rig.ours(
                f"offsets reset {group} --topic {topic}:1 --to-offset 2 --execute --yes --no-journal"
            ).succeeded()
        directory = tmp_path / str(number)
        rig.ours(line, "--execute", "--yes", "--journal", directory).succeeded()
        entry, _ = only_entry(directory)
        kinds = [(item.kind.value, item.target, item.before, item.after) for item in entry.items]
        assert kinds[: len(items)] == items, line


def test_without_an_entry_nothing_is_changed(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    group = rig.group({(topic, 0): 3})
    (tmp_path / "file").touch()
    line = f"offsets reset {group} --topic {topic}:0 --to-latest --execute --yes"
    refused = rig.ours(line, "--journal", tmp_path / "file" / "journal")
    refused.assert_refused("the journal cannot be written", "--no-journal", status=3)
    full = rig.kohort.quick(line, "-b", rig.broker.bootstrap, KOHORT_JOURNAL="/proc/none")
    full.assert_refused("nothing was changed", "--journal DIR", status=3)
    both = rig.ours(line, "--no-journal", "--journal", tmp_path)
    both.assert_refused("--journal and --no-journal cannot be used together")
    assert rig.committed(group) == {(topic, 0): 3}
    done = rig.ours(line, "--no-journal").succeeded()
    assert (done.stderr, rig.committed(group)) == (f"kohort: set 1 offset of {group}\n", {(topic, 0): 20})
    again = rig.kohort.quick(line.replace("latest", "earliest"), "-b", rig.broker.bootstrap, **OFF)
    assert "Undo" not in again.succeeded().stderr


def test_no_preview_and_no_refused_change_has_an_entry(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    group = rig.group({(topic, 0): 3})
    line = f"offsets reset {group} --topic {topic}:0 --to-latest --journal {tmp_path}"
    rig.ours(line).succeeded()
    with rig.joined(group, topic):
        assert rig.ours(f"{line} --execute --yes").status == 4
    assert [file.stat().st_size for file in tmp_path.iterdir()] in ([], [0])
    assert rig.ours(f"delete {fresh_name('none')} --execute --yes --journal {tmp_path}").status == 3
    assert read_journal(tmp_path) == ([], [])


def test_secrets_and_agents_of_a_command_line(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    group = rig.group({(topic, 0): 3})
    file = tmp_path / "client.properties"
    file.write_text("ssl.key.password=hunter2\nclient.id=x\n")
    line = f"offsets reset {group} --topic {topic}:0 --to-latest --execute --yes -b {rig.broker.bootstrap}"
    variables = {"KOHORT_JOURNAL": str(tmp_path / "journal"), "KOHORT_AGENT": "claude"}
    rig.kohort.quick(line, "--command-config", file, **variables).succeeded()
    entry, _ = only_entry(tmp_path / "journal")
    assert entry.agent == "claude"
    assert entry.command[-2:] == ("--command-config", str(file))
    assert all(b"hunter2" not in one.read_bytes() for one in (tmp_path / "journal").iterdir())


def test_the_list_and_one_entry_have_the_recorded_screens(kohort: Kohort, tmp_path: Path) -> None:
    first = entry_of(0x4F2A91C3, offset_of(0), offset_of(1, None, 7))
    second = entry_of(0x4F2A0000, offset_of(5), at="2026-11-29T04:00:00.000Z", user="dave", agent="claude")
    undo = entry_of(0xAAAA0000, at="2026-11-30T04:00:00Z", verb="undo", undoes="4F2A91C3", context=None)
    other = entry_of(
        0xBBBB0000, offset_of(group="b"), offset_of(group="c"), offset_of(group="d"), cluster="c2"
    )
    write_journal(
        tmp_path, first, end_of(first, DONE, FAILED, status=EntryStatus.FAILED), second, undo, end_of(undo), other,
        end_of(other), edited(first, kohort=9),
    )  # fmt: skip
    lines = (
        "", "--user dave", "--group b", "--since 2026-11-29T03:30:00Z", "--until 2026-11-29T03:30:00Z --output csv",
        "--cluster c2", "4f2a91", "4F2A0", "AAAA", "4F2A", "BB", "4F2A0 --user dave",
    )  # fmt: skip
    answers = {}
    for line in lines:
        answer = kohort.quick("journal", "--journal", tmp_path, *line.split(), COLUMNS="80")
        text = f"{answer.stdout}{answer.stderr}".replace(str(tmp_path), "DIR")
        answers[f"journal {line}"] = f"{text}status {answer.status}"
    assert_recorded("journal.txt", answers)
    document = kohort.quick("journal --output json --journal", tmp_path).document
    assert [one["undone_by"] for one in document["entries"]] == ["AAAA0000", None, None, None]
    assert len(document["errors"]) == 1


def test_a_source_limits_the_list_to_its_cluster(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    group = rig.group({(topic, 0): 3})
    write_journal(tmp_path, entry_of())
    rig.ours(f"delete {group} --execute --yes --journal", tmp_path).succeeded()
    document = json.loads(rig.ours("journal --journal", tmp_path, output="json").stdout)
    assert [one["target"] for one in document["entries"]] == [group]
    assert len(rig.kohort.quick("journal --output json --journal", tmp_path).document["entries"]) == 2


def test_an_unknown_change_is_compared_with_the_cluster(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    group, setting = rig.group({(topic, 0): 3}), "consumer.session.timeout.ms"
    cluster = rig.admin.describe_cluster().result().cluster_id
    offsets = [offset_of(number, None, 9, group=group, topic=topic, topic_id=None) for number in (0, 1)]
    unset = ChangedItem(kind=ItemKind.SETTING, group=group, name=setting, after="46000")
    entry = entry_of(1, *offsets, unset, cluster=cluster)
    write_journal(tmp_path, entry, other := entry_of(2, cluster="other"))
    (shown,) = rig.ours(f"journal {entry.id} --journal {tmp_path}", output="json").document["entries"]
    assert [item["now"] for item in shown["items"]] == [3, None, None]
    table = rig.ours(f"journal {entry.id} --journal {tmp_path}", output="table").succeeded().stdout
    assert "NOW is what the cluster has." in " ".join(table.split())
    assert [line.split()[-2:] for line in table.splitlines()[-3:]] == [
        ["3", "unknown"], ["none", "unknown"], ["unset", "unknown"],
    ]  # fmt: skip
    answer = rig.ours(f"journal {other.id} --journal {tmp_path}", output="table").succeeded()
    assert ("is not the cluster of 00000002" in answer.stderr, "NOW" in answer.stdout) == (True, False)
    dead = rig.kohort.quick(f"journal {entry.id} -b 127.0.0.1:1 --timeout 200ms --journal", tmp_path)
    dead.assert_said(3, "what the cluster has now is not known")


def test_a_journal_that_is_not_there(kohort: Kohort, tmp_path: Path) -> None:
    kohort.quick("journal --since 1h --until 2h").assert_refused("--since is after --until")
    kohort.quick("journal --journal", tmp_path / "none").assert_refused("no such directory", status=3)
    kohort.quick("journal", **OFF).assert_refused("turns the journal off")
    empty = kohort.quick("journal", KOHORT_JOURNAL=str(tmp_path))
    assert (empty.status, empty.stderr) == (0, f"kohort: no changes are recorded in {tmp_path}\n")
