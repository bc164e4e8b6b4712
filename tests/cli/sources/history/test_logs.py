"""Histories of groups from log directories: what is readable is returned, and the rest is named."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from cli.sources.history.logs import read_log_history
from cli.sources.history.read import GroupHistoryRead
from coordinator.store.partition_files import partition_for, write_topic_id
from tests.cli.coordinator_log import START_MS, commit, pairs, small_log
from tests.coordinator.store.logs import Written
from tests.coordinator.store.test_loader_fuzz import write_log
from tests.support.long import cases
from wire.messages.record_codec import encode_key, encode_value

SINCE_MS = START_MS + 500
CASES = cases("KOHORT_FUZZ_CASES", 5_000, many=1_000_000)
ORDERS = ("orders", 0)


def saved(root: Path, log: Written, group: str = "pay", partitions: int = 4) -> Path:
    """A log directory with all partitions, of which only that of the group has records."""
    for number in range(partitions):
        log_of = log if number == partition_for(group, partitions) else Written()
        log_of.save(root / f"__consumer_offsets-{number}")
    return root / f"__consumer_offsets-{partition_for(group, partitions)}"


def read(root: Path, *groups: str, has_name: Callable[[str], bool] | None = None) -> GroupHistoryRead:
    return read_log_history([root], groups, since_ms=SINCE_MS, has_name=has_name)


def flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 0xFF
    path.write_bytes(data)


def commits(result: GroupHistoryRead, group: str) -> dict[tuple[str, int], list[int]]:
    course = result.courses[group].commits
    return {place: course.between(place, 0, 1 << 62).offsets.tolist() for place in course.places}


def problems(result: GroupHistoryRead) -> list[str]:
    return [f"{problem.subject}: {problem.message}" for problem in result.problems]


def test_a_named_group_is_read_from_the_partition_of_its_hash(tmp_path: Path) -> None:
    place = saved(tmp_path, small_log())
    result = read(tmp_path, "pay")
    assert commits(result, "pay") == {("orders", 0): [10, 11], ("orders", 1): [20]}
    assert result.courses["pay"].complete_since == SINCE_MS * 1000
    assert result.until == (START_MS + 7000) * 1000
    assert problems(result) == [
        f"{place}: the record at offset 13 was skipped: its key is not that of a commit"
    ]


def test_commits_of_aborted_transactions_are_no_progress(tmp_path: Path) -> None:
    saved(tmp_path, small_log(), "tx")
    assert commits(read(tmp_path, "tx"), "tx") == {("orders", 0): [5], ("orders", 1): [6]}


def test_groups_are_selected_by_any_test_of_their_names(tmp_path: Path) -> None:
    saved(tmp_path, small_log())
    assert set(read(tmp_path, has_name=lambda _: True).courses) == {"pay", "new", "old", "zahlungen-😀", "tx"}
    assert set(read(tmp_path, has_name=lambda name: name > "t").courses) == {"tx", "zahlungen-😀"}


def test_a_group_in_another_partition_than_its_hash_says_is_found(tmp_path: Path) -> None:
    # One of several brokers may happen to have the first partitions of the topic, and no others.
    for number in range(3):
        log = small_log() if number == (partition_for("pay", 3) + 1) % 3 else Written()
        log.save(tmp_path / f"__consumer_offsets-{number}")
    assert set(read(tmp_path, "pay").courses) == {"pay"}


def test_a_group_without_a_record_is_a_problem(tmp_path: Path) -> None:
    saved(tmp_path, Written())
    assert problems(read(tmp_path, "pay")) == [f"pay: no record of it in {tmp_path}"]


@pytest.mark.parametrize("is_last", [False, True])
def test_the_records_around_damage_are_read_and_the_damage_is_named(tmp_path: Path, is_last: bool) -> None:
    log = Written()
    for number in range(9):
        log.batch(pairs(commit("pay", *ORDERS, number)), timestamp=START_MS + 1000 * number)
        if number in (2, 5):
            log.roll()
    place = saved(tmp_path, log)
    path = sorted(place.glob("*.log"))[2 if is_last else 1]
    flip(path, path.stat().st_size // 2)
    result = read(tmp_path, "pay")
    lost = 7 if is_last else 4
    assert commits(result, "pay") == {ORDERS: [number for number in range(9) if number != lost]}
    assert result.courses["pay"].complete_since == (START_MS + 1000 * (lost + 1)) * 1000
    (problem,) = problems(result)
    assert str(path) in problem
    assert "checksum" in problem


def test_a_copy_without_damage_is_read_instead_of_a_damaged_one(tmp_path: Path) -> None:
    log = Written()
    for number in range(9):
        log.batch(pairs(commit("pay", *ORDERS, number)), timestamp=START_MS)
    for broker in ("a", "b"):
        place = saved(tmp_path / broker, log)
    path = place / f"{0:020}.log"
    flip(path, 90)
    result = read_log_history([tmp_path / "b", tmp_path / "a"], ["pay"], since_ms=SINCE_MS)
    assert commits(result, "pay") == {ORDERS: list(range(9))}
    assert problems(result) == []
    assert any(str(path) in notice for notice in result.notices)


def test_the_end_of_a_log_in_use_may_be_incomplete(tmp_path: Path) -> None:
    place = saved(tmp_path, small_log(), "tx")
    path = sorted(place.glob("*.log"))[-1]
    path.write_bytes(path.read_bytes() + path.read_bytes()[:70])
    result = read(tmp_path, "tx")
    assert problems(result) == []
    (notice,) = result.notices
    assert "torn, or being written" in notice


def test_records_of_another_type_of_group_are_named(tmp_path: Path) -> None:
    key, value = {"groupId": "pay"}, {"epoch": 1, "metadataHash": 0}
    log = Written()
    log.batch(pairs(commit("pay", *ORDERS, 1)), timestamp=START_MS)
    log.batch([(encode_key(11, key), encode_value(11, 0, value))], timestamp=START_MS + 1000)
    saved(tmp_path, log)
    result = read(tmp_path, "pay")
    assert problems(result) == []
    assert list(result.notices) == ["pay: its records as a share group are not part of its history"]


def test_partitions_of_another_cluster_are_not_read(tmp_path: Path) -> None:
    place = saved(tmp_path, small_log(), "tx")
    for directory in tmp_path.iterdir():
        write_topic_id(directory, UUID(int=2 if directory == place else 1))
    result = read(tmp_path, "tx")
    assert "is of another cluster" in problems(result)[0]
    assert problems(result)[1] == f"tx: no record of it in the readable part of {tmp_path}"


def test_any_directory_can_be_read(tmp_path: Path) -> None:
    rng = Random(14)
    courses = unread = 0
    for _ in range(CASES // 100):
        for number in range(2):
            write_log(rng, tmp_path / f"__consumer_offsets-{number}")
        names = rng.choice([(), ("a",), ("a", "b", "ab")])
        result = read_log_history([tmp_path], names, since_ms=5, has_name=None if names else lambda _: True)
        courses += len(result.courses)
        unread += any(problem.group is None for problem in result.problems)
    assert courses > CASES // 100
    assert unread > CASES // 500
