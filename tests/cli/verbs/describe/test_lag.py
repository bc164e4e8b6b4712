"""Lag as time, last commits and sums of lag, on a real broker with records of known times."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin._acl import AclOperation
from confluent_kafka.admin._resource import ResourceType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.render.document import Table
from cli.sources import offsets_topic
from cli.sources.live import LiveSource
from cli.sources.source import ReadResult
from cli.verbs.describe.offsets import OffsetsView, lag_time_remarks
from cli.verbs.describe.view import DescribeMode, describe_document
from coordinator.store.partition_files import OFFSETS_TOPIC
from groups.lag import NextRecord, PartitionLag
from groups.model import CommittedOffset, Group, GroupListing, GroupState, GroupType, Member, Topic
from tests.cli.command import Answer, Kohort
from tests.cli.offset_rig import FIRST_MS, STEP_MS, OffsetRig
from tests.cli.schemas import faults
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.tool_host import ToolHost
from tests.kafka.wait import wait_until
from tests.support.authorizer import OPEN_AUTHORIZER, allow

Place = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Topics of 20 records, one a minute, and two groups: `done` is at the end, `lagging` at 3, at the end, before a
    deleted stretch (committed 2, the log begins at 5), in an empty partition, and before the mark of a transaction."""

    rig: OffsetRig
    topic: str
    marked: str
    lagging: str
    done: str

    @property
    def both(self) -> str:
        return f"^({self.lagging}|{self.done})$"

    def describe(self, *args: str, output: str = "json") -> Answer:
        return self.rig.ours("describe", *args, output=output)


@pytest.fixture(scope="module")
def scene(session_rig: OffsetRig) -> Scene:
    rig = session_rig
    topic, marked = rig.topic([20, 20, 20, 0], deleted={2: 5}), rig.topic([0])
    transaction(rig, marked)
    lagging = rig.group({(topic, 0): 3, (topic, 1): 20, (topic, 2): 2, (topic, 3): 0, (marked, 0): 1})
    done = rig.group({(topic, 0): 20, (marked, 0): 2})
    return Scene(rig=rig, topic=topic, marked=marked, lagging=lagging, done=done)


def begun_transaction(rig: OffsetRig, name: str) -> Producer:
    producer = Producer({"bootstrap.servers": rig.broker.bootstrap, "transactional.id": name, "log_level": 0})
    producer.init_transactions(30)
    producer.begin_transaction()
    return producer


def transaction(rig: OffsetRig, topic: str) -> None:
    """One record, at offset 0, and the mark of its transaction's end at offset 1."""
    producer = begun_transaction(rig, topic)
    producer.produce(topic, b"", timestamp=FIRST_MS)
    producer.commit_transaction(30)
    # The coordinator writes the mark after it has answered.
    with rig.consumer(topic) as reader:
        partition = TopicPartition(topic, 0)
        wait_until(lambda: reader.get_watermark_offsets(partition, 30) == (0, 2), "the mark is written")


def rows_of(answer: Answer, group: str) -> dict[Place, dict[str, Any]]:
    (described,) = [entry for entry in answer.document["groups"] if entry["group"] == group]
    return {(row["topic"], row["partition"]): row for row in described["offsets"]}


def test_the_age_of_the_first_record_that_is_not_read(scene: Scene) -> None:
    before = time.time_ns() // 1_000_000
    answer = scene.describe(scene.lagging, "--lag-time")
    after = time.time_ns() // 1_000_000
    assert answer.status == 0, answer.stderr
    rows = rows_of(answer, scene.lagging)
    places = [*((scene.topic, number) for number in range(4)), (scene.marked, 0)]
    assert [rows[place]["lag"] for place in places] == [17, 0, 18, 0, 1]
    # Record 3 is the first one not read; of the deleted stretch, record 5.
    for partition, number in ((0, 3), (2, 5)):
        written_ms = FIRST_MS + number * STEP_MS
        assert before - written_ms <= rows[scene.topic, partition]["lag_ms"] <= after - written_ms
    # Nothing is left to read: not at an end, not in an empty partition, and not where only a mark is left.
    assert [rows[places[index]]["lag_ms"] for index in (1, 3, 4)] == [0, 0, 0]


def test_records_that_were_deleted_before_they_were_read(scene: Scene) -> None:
    answer = scene.describe(scene.lagging, "--verbose")
    rows = rows_of(answer.succeeded(), scene.lagging)
    assert not faults(answer.document)
    starts = {place: (row["log_start"], row["lost"]) for place, row in rows.items()}
    assert starts == {**dict.fromkeys(rows, (0, 0)), (scene.topic, 2): (5, 3)}
    table = scene.describe(scene.lagging, "--verbose", output="csv").rows
    reported = {(row["TOPIC"], row["PARTITION"]): (row["LOG-START-OFFSET"], row["REMARK"]) for row in table}
    assert reported[scene.topic, "2"] == ("5", "3 offsets before the log start: deleted unread")
    assert reported[scene.topic, "0"] == ("0", "")
    assert "REMARK" not in scene.describe(scene.done, "--verbose", output="csv").rows[0]
    assert "LOG-START-OFFSET" not in scene.describe(scene.done, output="csv").rows[0]


def test_the_commit_that_counts_is_the_one_the_broker_tells(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offsets_topic, "FIRST_WINDOW", 2)
    rig, topic = scene.rig, scene.topic
    group = rig.group({(topic, 0): 4, (topic, 1): 4})
    between = time.time_ns() // 1_000_000
    wait_until(lambda: time.time_ns() // 1_000_000 > between, "the clock advances", every_s=0.001)
    rig.group({(topic, 1): 5}, name=group)
    offset_in_transaction(rig, group, topic, 0, 9)
    answer = scene.describe(group, "--last-commit").succeeded()
    rows = rows_of(answer, group)
    assert [rows[topic, number]["committed"] for number in (0, 1)] == [4, 5]
    assert rows[topic, 0]["last_commit_ms"] <= between < rows[topic, 1]["last_commit_ms"]


def offset_in_transaction(rig: OffsetRig, group: str, topic: str, partition: int, offset: int) -> None:
    """An offset that is committed in a transaction which is then aborted."""
    producer, places = begun_transaction(rig, group), [TopicPartition(topic, partition, offset)]
    with rig.consumer(group) as consumer:
        producer.send_offsets_to_transaction(places, consumer.consumer_group_metadata(), 30)
        producer.abort_transaction(30)


def sums(totals: Mapping[str, Any]) -> tuple[int, int, int]:
    return totals["partitions"], totals["lag"], totals["lag_unknown"]


def test_only_what_lags(scene: Scene) -> None:
    answer = scene.describe("--match", scene.both, "--only-with-lag", "--totals").succeeded()
    assert [group["group"] for group in answer.document["groups"]] == [scene.lagging]
    assert {*rows_of(answer, scene.lagging)} == {(scene.topic, 0), (scene.topic, 2), (scene.marked, 0)}
    assert sums(answer.document["totals"]) == (3, 36, 0)
    assert scene.done not in answer.stderr
    nothing = scene.describe(scene.done, "--only-with-lag", output="table")
    assert (nothing.status, len(nothing.stdout.splitlines())) == (0, 1)


def test_a_partition_without_a_commit_is_counted_when_it_is_left_out(scene: Scene, members: Members) -> None:
    group = fresh_name("waiting")
    member = members.confluent(scene.rig.broker, group, [scene.topic], enable_auto_commit=False)
    member.wait_assignment({scene.topic: [0, 1, 2, 3]})
    answer = scene.describe(group, "--only-with-lag", "--lag-time")
    assert answer.document["groups"] == []
    assert "kohort: 4 partitions left out: their lag is not known" in answer.stderr
    rows = rows_of(scene.describe(group, "--lag-time", "--last-commit"), group)
    assert {row[name] for row in rows.values() for name in ("lag", "lag_ms", "last_commit_ms")} == {None}


@pytest.mark.kafka
def test_a_share_group_has_a_lag_time_and_no_commits(rig: OffsetRig, members: Members) -> None:
    group = fresh_name("shared")
    members.share(rig.broker, group, [rig.topic([3, 3])])

    def started() -> Answer | None:
        answer = rig.ours(f"describe {group} --lag-time --last-commit")
        return answer if answer.status == 0 and answer.document["groups"][0]["offsets"] else None

    answer = wait_until(started, "the share group has start offsets")
    assert f"{group}: the last commit of a share group is not known" in answer.stderr
    for row in rows_of(answer, group).values():
        assert row["last_commit_ms"] is None
        # It begins at the end: there is nothing to deliver, or the broker has not counted yet.
        assert row["lag_ms"] == row["lag"]
        assert row["lag"] in (0, None)


def test_a_group_that_is_gone_is_missed_only_when_it_was_named(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = fresh_name("gone")
    listed = LiveSource.list_groups

    def with_one_more(source: LiveSource) -> ReadResult[GroupListing]:
        read = listed(source)
        ghost = GroupListing(id=gone, type=GroupType.CONSUMER, state=GroupState.EMPTY)
        return ReadResult((*read.items, ghost), read.problems)

    monkeypatch.setattr(LiveSource, "list_groups", with_one_more)
    answer = scene.describe("--match", f"^({scene.done}|{gone})$", "--lag-time", "--last-commit", "--totals")
    assert answer.status == 0, answer.stderr
    assert [group["group"] for group in answer.document["groups"]] == [scene.done]
    scene.describe(scene.done, gone).assert_said(3, f"{gone}: no such group")


def test_missing_rights_to_read_are_named(start_broker: StartBroker, kohort: Kohort, tools: ToolHost) -> None:
    broker = start_broker(OPEN_AUTHORIZER)
    rig = OffsetRig(broker=broker, kohort=kohort, tools=tools)
    closed, free = rig.topic([3, 3]), rig.topic([3])
    group = rig.group({(closed, 0): 1, (closed, 1): 3, (free, 0): 1})
    for name in (closed, OFFSETS_TOPIC):
        allow(broker, ResourceType.TOPIC, name, AclOperation.DESCRIBE)

    def refused() -> Answer | None:
        answer = rig.ours("describe", group, "--lag-time", "--last-commit")
        return answer if answer.stderr.count("needs READ on the topic") == 2 else None

    answer = wait_until(refused, "the denial holds")
    answer.assert_said(
        3,
        f"kohort: {closed}: lag time is not known: not allowed: this needs READ on the topic",
        f"kohort: {group}: the last commit of 3 partitions is not known: ",
    )
    rows = rows_of(answer, group)
    assert (rows[closed, 0]["lag"], rows[closed, 0]["lag_ms"]) == (2, None)
    assert rows[closed, 1]["lag_ms"] == 0
    assert rows[free, 0]["lag_ms"] > 0
    assert {row["last_commit_ms"] for row in rows.values()} == {None}
    lag = rig.ours("lag", group).succeeded()
    assert f"kohort: {closed}: lag time is not known: not allowed: this needs READ on the topic" in lag.stderr
    (row,) = lag.document["groups"]
    assert (row["lag"], row["lag_unknown"], row["lag_s"] > 0) == (4, 0, True)
    for command in ("list", "delete"):
        unknown = rig.ours(command, "--match", group, "--unused-for", "1s", "--type", "classic")
        unknown.assert_said(3, "this needs READ on the topic __consumer_offsets", f"{group}: skipped")


def test_a_log_and_a_snapshot_say_what_they_do_not_know(kohort: Kohort, sample: Any, tmp_path: Any) -> None:
    answer = kohort.quick(f"describe checkout --lag-time --last-commit --embedded {sample} --output json")
    answer.assert_said(0, "lag time is not known: the log of a coordinator contains no records")
    (group,) = answer.document["groups"]
    assert all(row["lag_ms"] is None and row["last_commit_ms"] is not None for row in group["offsets"])
    file = tmp_path / "group.yaml"
    file.write_text(
        "kohort: 1\ntopics: {t: {partitions: 2, end_offsets: {0: 5, 1: 5}}}\n"
        "groups: {g: {offsets: {t: {0: {offset: 1, timestamp: 7}, 1: {offset: 5}}}}}\n"
    )
    answer = kohort.quick(f"describe g --lag-time --last-commit --snapshot {file} --output json").succeeded()
    rows = answer.document["groups"][0]["offsets"]
    columns = [[row[name] for row in rows] for name in ("lag", "lag_ms", "last_commit_ms")]
    assert columns == [[4, 0], [None, 0], [7, None]]
    assert "kohort: lag time is not known: a snapshot contains no records" in answer.stderr
    assert "kohort: g: the source does not show when offsets were committed" in answer.stderr


def test_totals_show_partitions_only_on_request(kohort: Kohort, sample: Any) -> None:
    def headings(options: str) -> list[str]:
        shown = kohort.quick(f"describe --match '^c' {options} --output csv --embedded", sample).succeeded()
        return [part.partition("\n")[0] for part in shown.stdout.split("\n\n")]

    totals = [f"{of},#PARTITIONS,LAG,#LAG-UNKNOWN" for of in ("GROUP,TOPIC", "GROUP,#TOPICS", "#GROUPS")]
    assert headings("--totals") == totals
    partitions, *rest = headings("--totals --offsets")
    assert rest == totals
    assert partitions.startswith("GROUP,TOPIC,PARTITION,CURRENT-OFFSET")
    assert "LAST-COMMIT" in headings("--totals --last-commit")[0]


def test_other_tables_have_no_lag(kohort: Kohort, sample: Any) -> None:
    for option in ("--lag-time", "--last-commit", "--totals", "--only-with-lag"):
        for mode in ("--members", "--state", "--migration"):
            answer = kohort.quick("describe checkout", mode, option, "--embedded", sample)
            answer.assert_refused(f"are about offsets; leave {mode} out")


offsets = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.dictionaries(
        st.integers(0, 4), st.builds(CommittedOffset, offset=st.none() | st.integers(-1, 9)), max_size=4
    ),
    max_size=3,
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(offsets, max_size=4), st.booleans(), st.booleans())
def test_totals_are_the_sums_of_the_rows(
    committed: list[dict[str, dict[int, CommittedOffset]]], only_with_lag: bool, lag_time: bool
) -> None:
    groups = [
        Group(id=f"g{at}", type=GroupType.CLASSIC, state=GroupState.EMPTY, offsets=by_topic)
        for at, by_topic in enumerate(committed)
    ]
    topics = {name: Topic(name=name, partitions=4, end_offsets={0: 9, 1: 0, 2: None, 3: 5}) for name in "ab"}
    records = {
        (name, number): {3: NextRecord(3, 100), 4: NextRecord(None)} for name in "ab" for number in range(4)
    }
    view = OffsetsView(lag_time=lag_time, now_ms=1_000, totals=True, only_with_lag=only_with_lag)
    document = describe_document(groups, topics, DescribeMode.OFFSETS, view=view, records=records)
    data = document.as_data()
    assert faults(data) == []
    rows = [(group["group"], row) for group in data["groups"] for row in group["offsets"]]
    assert_sums(data["totals"], [row for _, row in rows], lag_time=lag_time)
    for group in data["groups"]:
        lines = [row for name, row in rows if name == group["group"]]
        assert_sums(group["totals"], lines, lag_time=lag_time)
        for topic in group["totals"]["topics"]:
            assert_sums(topic, [row for row in lines if row["topic"] == topic["topic"]], lag_time=lag_time)
        assert {topic["topic"] for topic in group["totals"]["topics"]} == {row["topic"] for row in lines}
    if only_with_lag:
        assert all(row["lag"] for _, row in rows)


def test_a_partition_that_two_members_of_a_share_group_own_counts_once() -> None:
    group = Group(
        id="s", type=GroupType.SHARE, state=GroupState.STABLE,
        members=tuple(Member(id=name, owned={"a": (0, 1)}) for name in "xy"),
        offsets={"a": {0: CommittedOffset(offset=3, lag=6), 1: CommittedOffset(offset=5)}},
    )  # fmt: skip
    topics = {"a": Topic(name="a", partitions=2, end_offsets={0: 9, 1: None})}
    view = OffsetsView(totals=True)
    document = describe_document([group, replace(group, id="t")], topics, DescribeMode.OFFSETS, view=view)
    data = document.as_data()
    assert [len(entry["offsets"]) for entry in data["groups"]] == [4, 4]
    for totals in (data["groups"][0]["totals"], data["groups"][0]["totals"]["topics"][0]):
        assert sums(totals) == (2, 6, 1)
    assert sums(data["totals"]) == (4, 12, 2)
    tables = [block for block in document.blocks if isinstance(block, Table)]
    assert [table.rows[0][-3:] for table in tables[1:]] == [(2, 6, 1), (2, 6, 1), (4, 12, 2)]


def assert_sums(totals: Mapping[str, Any], rows: list[dict[str, Any]], *, lag_time: bool) -> None:
    lags = [row["lag"] for row in rows if row["lag"] is not None]
    assert totals["partitions"] == len(rows)
    assert totals["lag"] == (sum(max(lag, 0) for lag in lags) if lags else None)
    assert totals["lag_unknown"] == len(rows) - len(lags)
    if lag_time:
        times = [row["lag_ms"] for row in rows if row["lag_ms"] is not None]
        behind = [row["lag_ms"] for row in rows if row["lag"] and row["lag_ms"] != 0]
        # Of partitions that lag by unknown times, the zeros of the others would look like no lag.
        assert totals["max_lag_ms"] == (None if behind and not any(behind) else max(times, default=None))


def test_the_partitions_of_the_omitted_reasons_are_counted() -> None:
    unknown = [NextRecord(None, searched_to=4 + at // 10, is_unknown=True) for at in range(70)]
    rows = [
        PartitionLag("orders", at, committed=3, end=9, lag=6, next_record=one)
        for at, one in enumerate(unknown)
    ]
    *lines, last = lag_time_remarks({"billing": rows}, 0)
    assert len(lines) == 5
    assert last == "and of 20 partitions more"
