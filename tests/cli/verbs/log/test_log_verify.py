"""`kohort log verify`: what is right is counted, and everything that is wrong is found and placed."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.command import Answer, Kohort
from tests.cli.coordinator_log import PARTITION, START_MS, commit, pairs, save_log, small_log
from tests.coordinator.store.logs import Written
from tests.coordinator.store.real_log import RealLog
from wire.log.indexes import write_indexes
from wire.log.segments import read_segment

FIRST, SECOND = "00000000000000000000.log", "00000000000000000600.log"


def _clean_log(directory: Path) -> Path:
    """Two segments of six hundred commits, with the indexes that belong to them."""
    log = Written()
    for number in range(120):
        if number == 60:
            log.roll()
        offsets = (commit("group", "topic", partition, number) for partition in range(10))
        log.batch(pairs(*offsets), timestamp=START_MS + 1000 * number)
    save_log(log, directory)
    for path in (directory / PARTITION).glob("*.log"):
        write_indexes(read_segment(path))
    return directory


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return _clean_log(tmp_path)


def _verify(kohort: Kohort, *args: str | Path, output: str = "json") -> Answer:
    answer = kohort.quick("log verify", *args, "--output", output)
    assert not answer.traceback, answer.stderr
    return answer


def _problems(kohort: Kohort, directory: Path) -> list[str]:
    answer = _verify(kohort, directory)
    assert answer.stderr == ""
    problems = [problem for partition in answer.document["partitions"] for problem in partition["problems"]]
    assert answer.status == (1 if problems else 0)
    root = f"{directory / PARTITION}"
    return [f"{fault['subject'].removeprefix(root).lstrip('/')}: {fault['message']}" for fault in problems]


# All is well


def test_a_clean_log(kohort: Kohort, directory: Path) -> None:
    answer = _verify(kohort, directory).succeeded(stderr="")
    (partition,) = answer.document["partitions"]
    assert partition == {
        "directory": str(directory / PARTITION), "segments": 2, "batches": 120, "records": 1200,
        "control_records": 0, "keys": [{"type": 1, "name": "OffsetCommit", "records": 1200}],
        "first_offset": 0, "last_offset": 1199, "first_timestamp": START_MS,
        "last_timestamp": START_MS + 119_000, "problems": [],
    }  # fmt: skip
    assert yaml.safe_load(_verify(kohort, directory, output="yaml").stdout) == answer.document


def test_the_table_names_partitions_and_types(kohort: Kohort, directory: Path) -> None:
    partitions, types = _verify(kohort, directory, output="table").stdout.split("\n\n")
    assert partitions.splitlines()[1].split() == [
        str(directory / PARTITION), "0", "2", "120", "1200", "0", "0", "1199",
        "2026-01-01T00:00:00.000Z", "2026-01-01T00:01:59.000Z",
    ]  # fmt: skip
    assert types.splitlines()[1].split() == ["1", "OffsetCommit", "1200"]


def test_an_empty_partition_is_well(kohort: Kohort, tmp_path: Path) -> None:
    (tmp_path / PARTITION).mkdir()
    (tmp_path / PARTITION / FIRST).write_bytes(b"")
    (partition,) = _verify(kohort, tmp_path).document["partitions"]
    assert (partition["records"], partition["first_offset"], partition["problems"]) == (0, None, [])


@pytest.mark.kafka
def test_a_real_log_is_well(kohort: Kohort, real_log: RealLog) -> None:
    answer = _verify(kohort, real_log.data).succeeded(stderr="")
    partitions = answer.document["partitions"]
    assert [partition["directory"].rpartition("-")[2] for partition in partitions] == list("01234")
    assert sum(partition["control_records"] for partition in partitions) > 2
    assert {key["name"] for partition in partitions for key in partition["keys"]} > {
        "OffsetCommit",
        "ShareGroupMetadata",
    }
    shown = kohort.quick("log dump", real_log.data, "--output", "ndjson").stdout.count("\n")
    assert sum(partition["records"] for partition in partitions) == shown


@pytest.mark.kafka
def test_a_compacted_log_is_well(kohort: Kohort, compacted_log: Path) -> None:
    assert _verify(kohort, compacted_log).succeeded().document["errors"] == []


# Something is wrong


def test_unknown_types_and_broken_records_are_problems(kohort: Kohort, tmp_path: Path) -> None:
    problems = _problems(kohort, save_log(small_log(), tmp_path))
    assert [problem.partition(":")[0] for problem in problems] == ["00000000000000000007.log, offset 13", ""]
    assert problems[1] == ": 1 records of the unknown type 99"


def test_many_broken_records_are_counted(kohort: Kohort, tmp_path: Path) -> None:
    log = Written()
    log.batch([(b"\0\1", b"") for _ in range(25)])
    problems = _problems(kohort, save_log(log, tmp_path))
    assert len(problems) == 11
    assert problems[-1] == ": 15 more records cannot be read"


Damage = Callable[[Path], object]  # what is done to a file


def _flip(position: int) -> Damage:
    return _changed(lambda data: data.__setitem__(position, data[position] ^ 1))


def _cut(size: int) -> Damage:
    return _changed(lambda data: data.__delitem__(slice(size, None)))


def _put(entry: int, layout: str, *numbers: int) -> Damage:
    return _changed(lambda data: struct.pack_into(layout, data, entry * struct.calcsize(layout), *numbers))


def _changed(change: Callable[[bytearray], object]) -> Damage:
    def damage(file: Path) -> None:
        data = bytearray(file.read_bytes())
        change(data)
        file.write_bytes(data)

    return damage


def _transaction(version: int, offset: int) -> Damage:
    return lambda file: file.write_bytes(struct.pack(">hqqqq", version, 1, 2, offset, 1))


BATCH = 571  # Bytes of each batch
INDEX, TIME_INDEX, TRANSACTIONS = (FIRST.replace("log", name) for name in ("index", "timeindex", "txnindex"))
OFFSET, TIME = ">ii", ">qi"  # the entries of both indexes

DAMAGE: dict[str, tuple[str, Damage, list[str]]] = {
    "a flipped bit": (FIRST, _flip(5000), [f", byte {8 * BATCH}: the batch's checksum is "]),
    "an offset that comes twice": (
        FIRST, _flip(7 * BATCH + 7),
        [f", byte {8 * BATCH}: the base offset 80 is not above the last offset of the batch before"],
    ),
    "a torn tail": (
        SECOND, _cut(10_000),
        [
            f", byte {17 * BATCH}: torn tail: a batch of {BATCH} bytes, of which only {10_000 - 17 * BATCH} exist",
            "00000000000000000600.index, byte 16: no batch begins at position ",
            "00000000000000000600.timeindex, byte 24: offset ",
        ],
    ),
    "a torn tail in the middle of the log": (
        FIRST, _cut(60 * BATCH - 1),
        [
            f", byte {59 * BATCH}: the log continues in another segment",
            f", byte {59 * BATCH}: torn tail: ",
            f"{TIME_INDEX}, byte 84: offset 599 is in no batch",
        ],
    ),
    "a segment that begins too early": (
        SECOND, lambda file: file.rename(file.with_name("00000000000000000590.log")),
        ["00000000000000000590.log: starts at offset 590, but the previous segment ends at 599"],
    ),
    "a segment whose name is too high": (
        SECOND, lambda file: file.rename(file.with_name("00000000000000000610.log")),
        ["00000000000000000610.log, byte 0: the offset 600 is below the one in the file's name"],
    ),
    "a wrong position": (INDEX, _put(1, OFFSET, 149, 9000), [", byte 8: no batch begins at position 9000"]),
    "an offset before its position": (
        INDEX, _put(1, OFFSET, 20, 16 * BATCH), [", byte 8: offset 20 is before the batch at 9136"]
    ),
    "an offset behind the segment": (
        INDEX, _put(0, OFFSET, 999, 8 * BATCH), [", byte 0: offset 999 is after the last one, 599"]
    ),
    "an index that is cut off": (INDEX, _cut(13), [", byte 8: 13 bytes are not a whole number of entries of 8"]),
    "a wrong time": (
        TIME_INDEX, _put(0, TIME, START_MS + 7001, 79), [", byte 0: the batch with offset 79 has the timestamp "]
    ),
    "a time of no offset": (TIME_INDEX, _put(0, TIME, START_MS, 5000), [", byte 0: offset 5000 is in no batch"]),
    "a transaction of the future": (
        TRANSACTIONS, _transaction(0, 7000), [", byte 0: offset 7000 is not in the segment"]
    ),
    "a transaction of another version": (TRANSACTIONS, _transaction(9, 7), [", byte 0: version 9; 0 is known"]),
    "no topic id": (
        "partition.metadata", lambda file: file.write_text("version: 0\ntopic_id: nonsense"),
        [", byte 11: 'nonsense' is not a topic id"],
    ),
    "no leader epochs": (
        "leader-epoch-checkpoint", lambda file: file.write_text("0\n1\nx y\n"), [", byte 4: "]
    ),
}  # fmt: skip
"""A file, what is done to it, and how each problem begins; without a name it is in that file."""


@pytest.mark.parametrize(("name", "damage", "reported"), DAMAGE.values(), ids=DAMAGE.keys())
def test_what_is_wrong_is_placed(
    kohort: Kohort, directory: Path, name: str, damage: Damage, reported: list[str]
) -> None:
    damage(directory / PARTITION / name)
    starts = [f"{name}{start}" if start.startswith(",") else start for start in reported]
    problems = _problems(kohort, directory)
    assert [problem[: len(start)] for problem, start in zip(problems, starts, strict=True)] == starts


def test_reserved_space_in_indexes_is_well(kohort: Kohort, directory: Path) -> None:
    for suffix, size in ((".index", 80), (".timeindex", 120), (".txnindex", 340)):
        with (directory / PARTITION / SECOND).with_suffix(suffix).open("ab") as stream:
            stream.write(bytes(size))
    assert _problems(kohort, directory) == []


def test_damage_and_a_directory_that_is_not_a_log(kohort: Kohort, directory: Path, tmp_path: Path) -> None:
    nowhere = _verify(kohort, directory, tmp_path / "nowhere")
    nowhere.assert_refused("nowhere cannot be read: No such file or directory", status=3)
    file = directory / PARTITION / FIRST
    file.unlink()
    file.mkdir()
    _flip(70)(directory / PARTITION / SECOND)
    answer = _verify(kohort, directory)
    assert answer.status == 3
    assert answer.document["errors"] == [{"subject": str(file), "message": "cannot be read: Is a directory"}]
