"""`kohort peek` on a broker: the record at the committed offset, and what is said if there is none."""

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.cli.command import Answer, Kohort
from tests.cli.offset_rig import FIRST_MS, OffsetRig
from tests.kafka.members import fresh_name
from tests.kafka.topics import delete_topic
from tests.kafka.wait import wait_until
from wire.client import transport
from wire.messages.framing import FrameReader

JSON = b'{"id": 1, "total": 12.50}' + b" " * 200
BINARY = b"\0\xff\n\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A topic with, in partition 0, records 0 to 2, 3 aborted (4: its end), 5 committed (6),
    7 in an open transaction, and 8 in one that has ended (9); in partition 1 records 2 to 4."""

    rig: OffsetRig
    topic: str
    group: str
    opener: str

    def peek(self, line: str = "", *, partition: int = 0, output: str = "json") -> Answer:
        return self.rig.ours(f"peek {self.group} {self.topic}:{partition} {line}", output=output)

    def at(self, offset: int) -> str:
        return f"{self.topic}-0 at {offset}"


def transaction(producer: Producer, topic: str, value: bytes, *, commit: bool | None) -> None:
    producer.begin_transaction()
    producer.produce(topic, value, partition=0)
    assert producer.flush(30) == 0
    if commit is not None:
        (producer.commit_transaction if commit else producer.abort_transaction)(30)


def producer_of(rig: OffsetRig, **settings: str) -> Producer:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return Producer({"bootstrap.servers": rig.broker.bootstrap, "log_level": 0, **named})


def made(rig: OffsetRig) -> Iterator[Scene]:
    topic = rig.topic([0, 5, 0], deleted={1: 2})
    producer = producer_of(rig, compression_type="gzip", linger_ms="200")
    for number, value in enumerate((JSON, BINARY, None)):
        producer.produce(
            topic,
            value,
            key=f"key-{number}",
            partition=0,
            timestamp=FIRST_MS + number,
            headers=[("h", b"\xff")],
        )
    assert producer.flush(30) == 0
    opener = fresh_name("opener")
    ended, opened = (producer_of(rig, transactional_id=name) for name in (fresh_name("writer"), opener))
    for writer in (ended, opened):
        writer.init_transactions(30)
    transaction(ended, topic, b"aborted", commit=False)
    transaction(ended, topic, b"committed", commit=True)
    transaction(opened, topic, b"opened", commit=None)
    transaction(ended, topic, b"after", commit=True)
    group = rig.group({(topic, 0): 1, (topic, 1): 3})
    scene = Scene(rig=rig, topic=topic, group=group, opener=opener)
    wait_until(lambda: scene.peek().document["log_end"] == 10, "the last end is written")
    yield scene
    opened.abort_transaction(30)


@pytest.fixture(scope="module")
def scene(session_rig: OffsetRig) -> Iterator[Scene]:
    yield from made(session_rig)


def records(answer: Answer) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = answer.document["records"]
    return rows


def states(answer: Answer) -> list[tuple[int, str | None, bool]]:
    return [(row["offset"], row["transaction"], row["committed"]) for row in records(answer)]


def test_the_next_record_as_a_document(scene: Scene) -> None:
    answer = scene.peek().succeeded(stderr="")
    assert {key: answer.document[key] for key in ("group", "offset", "committed", "log_start", "last_stable")} == {
        "group": scene.group, "offset": 1, "committed": 1, "log_start": 0, "last_stable": 7,
    }  # fmt: skip
    (row,) = records(answer)
    batch = row["batch"]
    assert batch["base_offset"] <= 1 <= batch["last_offset"]
    assert batch["records"] == batch["last_offset"] - batch["base_offset"] + 1
    assert records(scene.peek("--offset 0"))[0]["batch"]["compression"] == "gzip"
    assert b64decode(row["value"]) == BINARY
    assert (row["value_encoding"], row["value_size"]) == ("base64", 4)
    assert (row["key"], row["key_encoding"], row["key_size"]) == ("key-1", "utf-8", 5)
    assert (row["timestamp"], row["timestamp_type"]) == (FIRST_MS + 1, "CreateTime")
    assert [header["value"] for header in row["headers"]] == ["/w=="]
    assert row["transactional"] is False


def test_aborted_records_are_skipped_and_reading_ends_at_an_open_transaction(scene: Scene) -> None:
    answer = scene.peek("--records 9 --back 5").succeeded()
    assert states(answer) == [(0, None, True), (1, None, False), (2, None, False), (5, "committed", False)]
    assert answer.document["aborted_skipped"] == 1
    assert "1 record of aborted transactions after 1 skipped; --uncommitted shows them" in answer.stderr
    assert (
        f"wait at 7 for the end of an open transaction, that of the producer {scene.opener}" in answer.stderr
    )
    everything = scene.peek("--records 9 --offset 3 --uncommitted").succeeded()
    assert states(everything) == [
        (3, "aborted", False), (5, "committed", False), (7, "open", False), (8, "ended", False),
    ]  # fmt: skip
    assert everything.stderr == f"kohort: {scene.topic}-0: no more records: the log ends at 10\n"
    assert states(scene.peek("--records 2 --offset 7 --uncommitted"))[0] == (7, "open", False)


def test_screens_for_people(scene: Scene) -> None:
    screen = scene.peek("--offset 0 --records 3", output="table").succeeded().stdout
    first, second, third = screen.split(f"{scene.topic}-0 at ")[1:]
    assert first.splitlines()[:2] == [
        "0",
        "timestamp  2026-01-01T00:00:00.000Z (CreateTime)",
    ]
    assert first.endswith('value, 225 bytes, JSON:\n    {\n      "id": 1,\n      "total": 12.50\n    }\n\n')
    assert "header     h: ff\nkey        key-1 (5 bytes, text)\n" in second
    assert second.endswith("    000000  00 ff 0a 00                                      ....\n\n")
    assert third.endswith("value      null\n")
    assert all(len(line) <= 80 for line in screen.splitlines())
    assert scene.peek(output="table").stdout.startswith(f"{scene.at(1)}: the next record of {scene.group}\n")
    cut = scene.peek("--offset 0 --limit 9 --as text", output="table").stdout
    assert 'value, the first 9 of 225 bytes, text:\n    {"id": 1,\n' in cut
    rows = scene.peek("--records 9 --as hex", output="csv").rows
    assert [(row["OFFSET"], row["VALUE"], row["TRANSACTION"]) for row in rows] == [
        ("1", "00ff0a00", ""), ("2", "", ""), ("5", b"committed".hex(), "committed"),
    ]  # fmt: skip


def test_raw_bytes_are_those_of_the_producer(scene: Scene, tmp_path: Path) -> None:
    value, key = tmp_path / "value", tmp_path / "key"
    answer = scene.peek(f"--raw {value} --raw-key {key} --limit 1", output="table").succeeded()
    assert (value.read_bytes(), key.read_bytes(), answer.stdout) == (BINARY, b"key-1", "")
    assert f"{scene.at(1)}: value written to {value}, 4 bytes" in answer.stderr
    ask = f"peek {scene.group} {scene.topic}:0 --raw-key - -b"
    assert scene.rig.kohort(ask, scene.rig.broker.bootstrap).succeeded().stdout == "key-1"
    value.unlink()
    for line, status, reason in (
        ("--offset 2", 3, f"{scene.at(2)}: the record has no value, so {value} was not written"),
        ("--offset 10", 3, "no more records: the log ends at 10"),
        ("--offset 7", 3, "wait at 7"),
        ("--back 1", 2, "write one record"),
    ):
        scene.peek(f"{line} --raw {value}").assert_refused(reason, status=status)
        assert not value.exists()
    scene.peek(f"--raw {tmp_path}").assert_refused(f"{tmp_path}: cannot be written", status=3)


def test_offsets_without_a_record(scene: Scene) -> None:
    gap = scene.peek("--offset 4").succeeded()
    assert states(gap) == [(5, "committed", False)]
    assert (
        "there is no record at 4, which compaction removed or which is the end of a transaction" in gap.stderr
    )
    beyond = scene.peek("--offset 11 --back 3")
    beyond.assert_said(3, f"{scene.topic}-0: offset 11 is above the log end, 10")
    assert records(beyond) == []
    group = scene.rig.group({(scene.topic, 0): 10, (scene.topic, 1): 1})
    answer = scene.rig.ours(f"peek {group} {scene.topic}:0").succeeded()
    assert f"{group} has read everything: its committed offset 10 is the log end" in answer.stderr
    lost = scene.rig.ours(f"peek {group} {scene.topic}:1")
    lost.assert_said(
        3, f"{scene.topic}-1: offset 1 is below the log start: its record was deleted, as were all before 2"
    )
    assert [row["offset"] for row in records(lost)] == [2]


def test_subjects_that_do_not_exist(scene: Scene) -> None:
    rig, topic, group = scene.rig, scene.topic, scene.group
    gone = rig.topic([1])
    old = rig.group({(gone, 0): 1})
    delete_topic(rig.broker, gone)
    for line, reason in (
        (
            f"{group} {topic}:2",
            f"{group}: no offset is committed for {topic}-2; --offset N shows a record there",
        ),
        (f"{group} {topic}:9", f"{topic}-9: no such partition; {topic} has 3, 0 to 2"),
        (f"{group} {topic}x:0", f"{topic}x: no such topic; did you mean {topic}?"),
        (f"{group}x {topic}:0", f"{group}x: no such group; did you mean {group}?"),
        (f"{old} {gone}:0", f"{gone}: no such topic"),
    ):
        rig.ours(f"peek {line}").assert_refused(reason, status=3)
    for word in (topic, f"{topic}:0,1", f"{topic}:0,other:1", f"{topic}:x", ":0", "a/b:0"):
        rig.ours(f"peek {group} {word}").assert_refused(repr(word))


def test_a_source_without_records(kohort: Kohort, sample: Path) -> None:
    kohort.quick("peek billing invoices:0 --embedded", sample).assert_refused("has no records to show")


def test_nothing_joins_and_nothing_is_committed(scene: Scene) -> None:
    before = scene.rig.committed(scene.group)
    scene.peek("--records 9 --back 9 --uncommitted").succeeded()
    assert scene.rig.committed(scene.group) == before
    (listed,) = scene.rig.ours(f"list --match ^{scene.group}$").document["groups"]
    assert (listed["state"], listed["members"]) == ("Empty", 0)


@pytest.mark.kafka
def test_a_real_broker_gives_the_same(kafka_rig: OffsetRig) -> None:
    for scene in made(kafka_rig):
        test_the_next_record_as_a_document(scene)
        test_aborted_records_are_skipped_and_reading_ends_at_an_open_transaction(scene)
        test_offsets_without_a_record(scene)


def test_a_record_that_is_too_long_to_read_is_cut(
    session_rig: OffsetRig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(transport, "FrameReader", partial(FrameReader, max_bytes=100_000))
    topic = session_rig.topic([0])
    producer = producer_of(session_rig, linger_ms="0")
    for value in (b"first", b"x" * 300_000, b"then"):
        producer.produce(topic, value, key=b"key")
        assert producer.flush(30) == 0
    ask = f"peek {session_rig.group({(topic, 0): 1})} {topic}:0"
    rows = records(session_rig.ours(f"{ask} --back 1 --records 2 --limit 70000").succeeded())
    assert [(row["offset"], row["value_size"]) for row in rows] == [(0, 5), (1, 300_000), (2, 4)]
    assert rows[1]["key"] == "key"
    assert 60_000 < len(rows[1]["value"]) < 70_000
    screen = session_rig.ours(ask, output="table").succeeded().stdout
    assert "value, the first 4,096 of 300,000 bytes, text:\n" in screen
    raw = session_rig.ours(f"{ask} --raw {tmp_path / 'raw'}")
    raw.assert_refused("the value has 300,000 bytes, more than are read at once", status=3)
