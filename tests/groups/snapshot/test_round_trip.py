"""Whatever a snapshot holds, it reads back as it was written, in YAML and in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings

from groups.model import CommittedOffset, Group, GroupState, GroupType, Member, MemberProtocol, Topic
from groups.snapshot import (
    Snapshot,
    parse_snapshot,
    read_snapshot,
    snapshot_text,
    snapshot_tree,
    write_snapshot,
)
from tests.groups.snapshot.values import LONG, LOOKS_LIKE_SOMETHING_ELSE, snapshots

FILE = Path("snapshot")


@pytest.mark.parametrize("as_json", [False, True], ids=["yaml", "json"])
@given(snapshot=snapshots)
@settings(max_examples=100)
def test_what_is_written_is_what_is_read(as_json: bool, snapshot: Snapshot) -> None:
    text = snapshot_text(snapshot, as_json=as_json)
    assert parse_snapshot(FILE, text) == snapshot
    assert snapshot_text(parse_snapshot(FILE, text), as_json=as_json) == text


@given(snapshot=snapshots)
@settings(max_examples=100)
def test_any_yaml_reader_reads_the_same(snapshot: Snapshot) -> None:
    assert yaml.safe_load(snapshot_text(snapshot)) == snapshot_tree(snapshot)


@given(snapshot=snapshots)
@settings(max_examples=50)
def test_any_json_reader_reads_the_same(snapshot: Snapshot) -> None:
    # JSON has no numbers for keys.
    wanted = json.loads(json.dumps(snapshot_tree(snapshot)))
    assert json.loads(snapshot_text(snapshot, as_json=True)) == wanted


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@pytest.mark.parametrize("text", [*LOOKS_LIKE_SOMETHING_ELSE, *LONG], ids=lambda text: ascii(text)[:20])
def test_a_strange_name_survives_a_file(tmp_path: Path, suffix: str, text: str) -> None:
    file = tmp_path / f"snapshot{suffix}"
    snapshot = Snapshot(
        topics={text: Topic(name=text, partitions=1)},
        groups={
            text: Group(
                id=text,
                type=GroupType.SHARE,
                state=GroupState.EMPTY,
                members=(Member(id=text, owned={text: (0,)}, protocols=(text, text)),),
                offsets={text: {0: CommittedOffset(offset=1, metadata=text)}},
            )
        },
    )
    write_snapshot(snapshot, file)
    assert read_snapshot(file) == snapshot
    if suffix == ".yaml":
        assert yaml.safe_load(file.read_text(encoding="utf-8")) == snapshot_tree(snapshot)
    before = file.read_bytes()
    write_snapshot(read_snapshot(file), file)
    assert file.read_bytes() == before


def test_a_members_protocol_stays_unknown(tmp_path: Path) -> None:
    # Where a file written by hand leaves the protocol out, the usual one of the group's type is meant.
    member = Member(id="a", protocol=None)
    group = Group(id="g", type=GroupType.CONSUMER, state=GroupState.STABLE, members=(member,))
    write_snapshot(Snapshot(groups={"g": group}), tmp_path / "s.yaml")
    assert read_snapshot(tmp_path / "s.yaml").groups["g"].members == (member,)
    by_hand = parse_snapshot(FILE, "{kohort: 1, groups: {g: {type: consumer, members: [{id: a}]}}}")
    assert by_hand.groups["g"].members[0].protocol is MemberProtocol.CONSUMER
