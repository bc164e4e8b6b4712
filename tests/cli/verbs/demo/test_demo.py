"""`kohort demo`: a fleet in a coordinator's own files, and nothing of anybody else's touched."""

import shutil
import subprocess
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path

import pytest

from cli.verbs.demo.action import _topics
from cli.verbs.demo.stories import DAY_MS, DAYS, LAST_MS, STORIES, play
from coordinator.engine import records as stored
from coordinator.engine.topics import TopicImage
from coordinator.store.data_directory import DataDirectory
from groups.snapshot import Snapshot, read_snapshot
from tests.cli.command import Kohort
from tests.docs.pages import ROOT, as_a_reader
from wire.log.batch_writer import encode_batch

NOW_MS = 1_780_000_000_000


def groups(kohort: Kohort, directory: Path) -> dict[str, str]:
    listed = kohort.quick("list --output json --embedded", directory).document
    assert listed["errors"] == []
    return {row["group"]: row["state"] for row in listed["groups"]}


@pytest.fixture
def directory(sample: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample, tmp_path / "demo"))


def test_the_fleet_is_there_again_after_force(kohort: Kohort, directory: Path) -> None:
    first = groups(kohort, directory)
    assert len(first) == 10
    kept = directory / "notes.txt"
    kept.write_text("mine")
    (directory / "orders-0" / "partition.metadata").unlink()
    assert kohort.quick("demo --force", directory).status == 0
    assert groups(kohort, directory) == first
    assert kept.read_text() == "mine"


def test_a_broker_keeps_its_records(kohort: Kohort, directory: Path) -> None:
    segment = directory / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(encode_batch([(b"k", b"v")], base_offset=0, timestamp=0))
    answer = kohort.quick("demo --force", directory)
    answer.assert_refused(f"{directory}/orders-0 contains records of a broker", status=3)
    assert groups(kohort, directory)["billing"] == "Stable"
    assert segment.exists()


def test_a_directory_in_use_is_unchanged(kohort: Kohort, directory: Path) -> None:
    with closing(DataDirectory.open(directory)):
        kohort.quick("demo --force", directory).assert_refused(str(directory), status=3)
        assert groups(kohort, directory)["billing"] == "Stable"


def demonstration(environment: Mapping[str, str]) -> str:
    command = ["sh", "docs/demo.sh"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_tour_leaves_the_sample_and_replaces_no_groups(tmp_path: Path) -> None:
    home = tmp_path / "home"
    kept = home / ".local/share/kohort"
    environment = {**as_a_reader(home), "KOHORT_CONTEXT": "prod"}
    first = demonstration(environment)
    assert first.count("\n") <= 58
    assert "The sample is now what commands read" in first
    files = {file: file.stat().st_mtime_ns for file in kept.rglob("*") if file.is_file()}
    second = demonstration(environment)
    assert "This tour used a copy of the sample; your groups are unchanged." in second
    assert files == {file: file.stat().st_mtime_ns for file in kept.rglob("*") if file.is_file()}


# The days before: the story of each group leads to the group that the sample has.


@cache
def fleet() -> Snapshot:
    with as_file(files("cli.verbs.demo").joinpath("sample.yaml")) as file:
        return read_snapshot(file)


def written(group: str, now_ms: int) -> list[tuple[int, stored.Record]]:
    topics = TopicImage.of(_topics(fleet()), version=1)
    simulated = play(fleet().groups[group], STORIES[group], topics, now_ms)
    assert simulated.world.violations.all == []
    return [(at_ms, record) for at_ms, records in simulated.written for record in records]


@cache
def story(group: str) -> list[tuple[int, stored.Record]]:
    return written(group, NOW_MS)


@pytest.mark.parametrize("group", STORIES)
def test_a_story_ends_before_the_sample(group: str) -> None:
    epochs = [
        record.value.generation if isinstance(record.value, stored.ClassicGroupValue) else record.value.epoch
        for _, record in story(group)
        if isinstance(record, stored.ClassicGroupRecord | stored.ConsumerGroupRecord)
        and record.value is not None
    ]
    now = fleet().groups[group]
    expected = now.group_epoch if now.generation is None else now.generation
    assert expected is not None
    # No hole: a conversion begins at the generation that the group had.
    assert sorted(set(epochs)) == list(range(STORIES[group].first_epoch, expected))
    assert epochs == sorted(epochs)


@pytest.mark.parametrize("group", STORIES)
def test_a_story_is_in_order_and_the_same_each_time(group: str) -> None:
    reported = story(group)
    times = [at_ms for at_ms, _ in reported]
    assert times == sorted(times)
    assert times[0] == NOW_MS - DAYS * DAY_MS
    assert times[-1] < NOW_MS - LAST_MS
    assert reported == written(group, NOW_MS)
    later = written(group, NOW_MS + 123_456)
    assert [at_ms + 123_456 for at_ms in times] == [at_ms for at_ms, _ in later]


@pytest.mark.parametrize(("group", "resets"), [("nightly-report", 1), ("legacy-etl", 1), ("billing", 0)])
def test_offsets_are_set_back(group: str, resets: int) -> None:
    committed = [
        record.value.offset
        for _, record in story(group)
        if isinstance(record, stored.OffsetRecord) and record.value is not None and record.partition == 0
        if record.topic == min(fleet().groups[group].offsets or {})
    ]
    assert sum(after < before for before, after in pairwise(committed)) == resets
