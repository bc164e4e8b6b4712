"""Groups that are gone between the list and the question about each: only one that was named is missed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app
from cli.sources import saved as saved_source
from cli.sources.saved import SavedSource
from cli.sources.source import Read
from groups.model import GroupListing, GroupState, GroupType

SNAPSHOT = """
kohort: 1
topics: {orders: {partitions: 1, end_offsets: {0: 9}}}
groups: {stays: {type: classic, protocol_type: consumer, state: Empty, offsets: {orders: {0: {offset: 5}}}}}
"""
GONE = GroupListing(
    id="gone",
    type=GroupType.CLASSIC,
    state=GroupState.EMPTY,
    protocol_type="consumer",
    protocol=None,
    members=0,
)


class Late(SavedSource):
    """Lists a group that is gone when it is asked about."""

    def list_groups(self) -> Read[GroupListing]:
        listed = super().list_groups()
        return Read(items=(*listed.items, GONE), problems=listed.problems)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A snapshot whose groups go while they are read."""
    file = tmp_path / "saved.yaml"
    file.write_text(SNAPSHOT)
    monkeypatch.setattr(saved_source, "SavedSource", Late)
    monkeypatch.setenv("KOHORT_CONFIG", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return file


COMMANDS: dict[str, list[str]] = {
    "describe": [],
    "dry-run": [],
    "plan": ["--to", "consumer", "--client", "java:4.1.0"],
    "delete": [],
    "snapshot": [],
    "offsets export": [],
    "offsets reset": ["--all-topics", "--to-current"],
    "offsets delete": ["--topic", "orders"],
}


@pytest.mark.parametrize(("command", "options"), COMMANDS.items(), ids=COMMANDS)
def test_a_group_that_is_gone_since_it_was_listed(saved: Path, command: str, options: list[str]) -> None:
    def kohort(*selection: str) -> Any:
        words = [*command.split(), *selection, "--snapshot", str(saved), *options]
        return CliRunner().invoke(app, words)

    for selection in (["--all-groups"], ["--match", "s|g"]):
        answer = kohort(*selection)
        assert "gone" not in answer.output, answer.output
        assert "stays" in answer.output
        assert answer.exit_code == 0, answer.output
    assert "gone" in kohort("stays", "gone").output


def test_a_named_group_is_an_error_in_json(saved: Path) -> None:
    words = ["describe", "stays", "gone", "--snapshot", str(saved), "--output", "json"]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 3
    assert [each["subject"] for each in json.loads(answer.stdout)["errors"]] == ["gone"]
