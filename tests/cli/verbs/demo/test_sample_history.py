"""The days before the sample fleet: each group's story leads to the group that the sample has."""

from __future__ import annotations

from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path

import pytest

from cli.verbs.demo.stories import DAY_MS, DAYS, LAST_MS, STORIES, play
from coordinator.engine.records import (
    ClassicGroupRecord,
    ClassicGroupValue,
    ConsumerGroupRecord,
    OffsetRecord,
    Record,
)
from coordinator.engine.topics import TopicImage, TopicInfo
from groups.snapshot import Snapshot, read_snapshot
from tests.cli.command import Kohort

NOW_MS = 1_780_000_000_000


@pytest.fixture(scope="module")
def fleet() -> Snapshot:
    with as_file(files("cli.verbs.demo").joinpath("sample.yaml")) as file:
        return read_snapshot(file)


@pytest.fixture(scope="module")
def topics(fleet: Snapshot) -> TopicImage:
    known = [
        TopicInfo(name=each.name, id=each.id, partitions=each.partitions)
        for each in fleet.topics.values()
        if each.id is not None
    ]
    return TopicImage.of(known, version=1)


def written(fleet: Snapshot, topics: TopicImage, group: str) -> list[tuple[int, Record]]:
    told = play(fleet.groups[group], STORIES[group], topics, NOW_MS)
    return [(at_ms, record) for at_ms, records in told for record in records]


@pytest.mark.parametrize("group", STORIES)
def test_a_story_ends_one_rebalance_before_the_sample(
    fleet: Snapshot, topics: TopicImage, group: str
) -> None:
    epochs = [
        record.value.generation if isinstance(record.value, ClassicGroupValue) else record.value.epoch
        for _, record in written(fleet, topics, group)
        if isinstance(record, ClassicGroupRecord | ConsumerGroupRecord) and record.value is not None
    ]
    now = fleet.groups[group]
    expected = now.group_epoch if now.generation is None else now.generation
    assert expected is not None
    # No hole: a conversion begins at the generation that the group had.
    assert sorted(set(epochs)) == list(range(STORIES[group].first_epoch, expected))
    assert epochs == sorted(epochs)


@pytest.mark.parametrize("group", STORIES)
def test_a_story_is_told_in_order_and_the_same_each_time(
    fleet: Snapshot, topics: TopicImage, group: str
) -> None:
    told = written(fleet, topics, group)
    times = [at_ms for at_ms, _ in told]
    assert times == sorted(times)
    assert times[0] == NOW_MS - DAYS * DAY_MS
    assert times[-1] < NOW_MS - LAST_MS + 2 * 60_000
    assert told == written(fleet, topics, group)


@pytest.mark.parametrize(("group", "resets"), [("nightly-report", 1), ("legacy-etl", 1), ("billing", 0)])
def test_offsets_go_back_where_somebody_set_them_back(
    fleet: Snapshot, topics: TopicImage, group: str, resets: int
) -> None:
    committed = [
        record.value.offset
        for _, record in written(fleet, topics, group)
        if isinstance(record, OffsetRecord) and record.value is not None and record.partition == 0
        if record.topic == min(fleet.groups[group].offsets or {})
    ]
    back = sum(after < before for before, after in pairwise(committed))
    assert back == resets


def test_the_days_before_can_be_looked_at(kohort: Kohort, sample: Path) -> None:
    """The log is read as any broker's."""
    now = kohort.quick("describe checkout --log-dir", sample, "--output", "json").document["groups"][0]
    before = kohort.quick(f"describe checkout --log-dir {sample} --as-of -2d --output json").document[
        "groups"
    ][0]
    assert (now["type"], now["group_epoch"]) == ("consumer", 31)
    assert (before["type"], before["generation"], len(before["members"])) == ("classic", 27, 3)
    assert now["members"] != before["members"]
