"""The groups that the list shows: as the command line names, matches or filters them."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from cli.errors import UsageError
from cli.options import SelectionOptions
from cli.selection import source_of
from cli.sources.source import Source
from cli.verbs.top.choice import GroupsToShow, opened_group
from cli.verbs.top.options import TopOptions, option_words
from tests.cli.verbs.top.driving import AT_MS, Driven, drive, many_groups, saved

ALL = [f"group-{number:04}" for number in range(8)]


@pytest.mark.parametrize(
    ("options", "shown", "opened"),
    [
        ({}, ALL, None),
        ({"all_groups": True}, ALL, None),
        ({"groups": ["group-0003"]}, ALL, "group-0003"),
        ({"groups": ["group-0003", "group-0003"]}, ALL, "group-0003"),
        ({"groups": ["group-0003"], "types": ["consumer"]}, [], None),
        ({"groups": ["group-0003", "group-0001"]}, ["group-0001", "group-0003"], None),
        ({"match": "[67]$"}, ["group-0006", "group-0007"], None),
        ({"states": ["Empty"]}, ["group-0003", "group-0007"], None),
        ({"types": ["classic,share"], "match": "[0-3]$"}, ["group-0001", "group-0003"], None),
        ({"topics": ["topic-2,topic-5"]}, ["group-0002", "group-0005"], None),
        ({"topics": ["no-topic"]}, [], None),
        ({"protocols": ["range"]}, ["group-0004"], None),
    ],
)
def test_the_list_has_the_groups_that_are_chosen(
    tmp_path: Path, options: dict[str, Any], shown: list[str], opened: str | None
) -> None:
    groups, topics = many_groups(8)
    groups["group-0004"] = {"type": "classic", "protocol": "range"}
    choice = GroupsToShow(SelectionOptions(**options))
    for _ in range(2):
        read = choice.read(source_of(saved(tmp_path, groups, topics=topics)))
        assert ([group.id for group in read.items], read.problems) == (shown, ())
    assert opened_group(SelectionOptions(**options)) == opened


def test_a_group_appears_when_it_passes_and_is_missed_when_named(tmp_path: Path) -> None:
    named, empty = (
        GroupsToShow(SelectionOptions(groups=["a", "b"])),
        GroupsToShow(SelectionOptions(states=["Empty"])),
    )
    source = source_of(saved(tmp_path, {"a": {"type": "consumer", "state": "Stable"}}))
    assert [problem.subject for problem in named.read(source).problems] == ["b"]
    assert empty.read(source).items == ()
    source = source_of(saved(tmp_path, {name: {"type": "consumer", "state": "Empty"} for name in "ab"}))
    assert named.read(source).problems == ()
    assert len(named.read(source).items) == len(empty.read(source).items) == 2


def test_readers_of_a_topic_are_found_again_on_request_and_in_another_source(tmp_path: Path) -> None:
    def described(*names: str) -> Source:
        groups = {name: {"type": "consumer", "offsets": {"t": {"0": {"offset": 1}}}} for name in names}
        return source_of(saved(tmp_path, groups))

    choice, source = GroupsToShow(SelectionOptions(topics=["t"])), described("a")

    def names(source: Source) -> list[str]:
        return [group.id for group in choice.read(source).items]

    assert names(source) == ["a"]
    with patch.object(source, "describe", side_effect=AssertionError("described again")):
        assert names(source) == ["a"]
        choice.forget()
        with pytest.raises(AssertionError, match="described again"):
            names(source)
    assert names(described("a", "b")) == ["a", "b"]
    assert names(described("b")) == ["b"]


def test_groups_are_named_or_matched_and_filters_checked_at_once() -> None:
    for options in (
        SelectionOptions(groups=["a"], match="b"),
        SelectionOptions(states=["no"]),
        SelectionOptions(match="("),
    ):
        with pytest.raises(UsageError):
            GroupsToShow(options)


def test_a_selection_is_written_as_words() -> None:
    options = SelectionOptions(groups=["-a", "b"], match="x y", types=["share"], topics=["t", "u"])
    words = ["--match", "x y", "--type", "share", "--topic", "t", "--topic", "u", "--", "-a", "b"]
    assert option_words(options) == words


def test_the_head_says_what_limits_the_list_and_keeps_the_time(tmp_path: Path) -> None:
    groups, topics = many_groups(3)
    source, long = (
        saved(tmp_path, groups, topics=topics),
        "^(group-0000|group-0002|and-others-of-which-there-are-none)$",
    )

    def head(selection: SelectionOptions) -> str:
        async def course(driven: Driven) -> str:
            await driven.read()
            return driven.lines[0]

        return drive(course, source, TopOptions(every=3600.0, selection=selection), at_ms=AT_MS)

    named = head(SelectionOptions(groups=["group-0000", "elsewhere", "group-0001"]))
    assert "2 groups" in named
    assert "no group elsewhere" in named
    matched = head(SelectionOptions(match=long, types=["consumer"]))
    assert "2 groups" in matched
    assert "--match" in matched
    assert "consumer" in matched
    assert "03:07" in named
    assert "03:07" in matched
