"""Groups that are gone between the list and the question about each: only one that was named is missed."""

from pathlib import Path

import pytest

from cli.sources import saved as saved_source
from cli.sources.saved import SavedSource
from cli.sources.source import ReadResult
from groups.model import GroupListing, GroupState, GroupType
from tests.cli.command import Kohort

SNAPSHOT = """
kohort: 1
topics: {orders: {partitions: 1, end_offsets: {0: 9}}}
groups: {stays: {type: classic, protocol_type: consumer, state: Empty, offsets: {orders: {0: {offset: 5}}}}}
"""
GONE = GroupListing(
    id="gone", type=GroupType.CLASSIC, state=GroupState.EMPTY, protocol_type="consumer", members=0
)


class Late(SavedSource):
    """Lists a group that is gone when it is asked about."""

    def list_groups(self) -> ReadResult[GroupListing]:
        listed = super().list_groups()
        return ReadResult(items=(*listed.items, GONE), problems=listed.problems)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "saved.yaml"
    file.write_text(SNAPSHOT)
    monkeypatch.setattr(saved_source, "SavedSource", Late)
    return file


@pytest.mark.parametrize(
    "line",
    [
        *("describe", "dry-run", "delete", "snapshot", "plan --to consumer --client java:4.1.0"),
        *("offsets export", "offsets reset --all-topics --to-current", "offsets delete --topic orders"),
    ],
)
def test_a_group_that_is_gone_since_it_was_listed(kohort: Kohort, saved: Path, line: str) -> None:
    for selection in ("--all-groups", "--match s|g"):
        answer = kohort.quick(f"{line} {selection}", "--snapshot", saved).succeeded()
        text = answer.stdout + answer.stderr
        assert ("gone" in text, "stays" in text) == (False, True), answer
    named = kohort.quick(f"{line} stays gone", "--snapshot", saved)
    assert "gone" in named.stdout + named.stderr
