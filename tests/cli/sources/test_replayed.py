"""Groups out of the coordinator's records: what is known is shown as it would be live, what is not is null."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from coordinator.engine import records as log_records
from coordinator.store.directory_files import MetaProperties, write_meta_properties
from coordinator.store.partition_files import write_topic_id
from groups.snapshot import read_snapshot
from tests.cli.command import Kohort
from tests.cli.coordinator_log import START_MS, commit, pairs, save_log
from tests.coordinator.store.logs import Written
from tests.wire.log.random_records import TYPES_AND_VERSIONS, random_key, random_value
from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    write_assignment,
    write_subscription,
)
from wire.messages.record_codec import encode_key, encode_value
from wire.uuids import format_uuid

ORDERS, PAYMENTS, GONE = (UUID(int=1 << 100 | number) for number in (1, 2, 3))

Group = dict[str, Any]


def _classic_member(
    name: str, *partitions: int, user_data: bytes | None = None
) -> log_records.ClassicMemberValue:
    subscribed = EmbeddedSubscription(version=3, topics=("orders", "payments"), user_data=user_data, rack="a")
    assigned = EmbeddedAssignment(
        version=3, partitions={"orders": partitions}, user_data=b"given" if user_data else None
    )
    return log_records.ClassicMemberValue(
        member=name, instance=f"seat-{name}", client_id=f"client-{name}", host="/10.0.0.1",
        rebalance_timeout_ms=300_000, session_timeout_ms=45_000, subscription=write_subscription(subscribed),
        assignment=write_assignment(assigned),
    )  # fmt: skip


def _classic(
    group: str, *members: log_records.ClassicMemberValue, kind: str = "consumer"
) -> log_records.ClassicGroupRecord:
    value = log_records.ClassicGroupValue(
        protocol_type=kind, generation=7, protocol="sticky" if members else None,
        leader=members[0].member if members else None, state_since_ms=START_MS, members=members,
    )  # fmt: skip
    return log_records.ClassicGroupRecord(group=group, value=value)


def _consumer_member(group: str, member: str, **fields: Any) -> log_records.ConsumerMemberRecord:
    usual: dict[str, Any] = {
        "instance": None, "rack": None, "client_id": f"client-{member}", "host": "/10.0.0.2",
        "topics": ("orders",), "regex": "", "rebalance_timeout_ms": 300_000, "assignor": None,
    }  # fmt: skip
    return log_records.ConsumerMemberRecord(
        group=group, member=member, value=log_records.ConsumerMemberValue(**usual | fields)
    )


def _consumer_group(group: str) -> list[log_records.Record]:
    """Two members: one that speaks the classic protocol, and one by regex that is giving up a partition."""
    protocols = (log_records.JoinProtocol("range", b""), log_records.JoinProtocol("sticky", b""))
    classic = log_records.ClassicMemberMetadata(session_timeout_ms=45_000, protocols=protocols)
    regex = log_records.RegexValue(topics=("orders",), version=1, resolved_ms=1)
    stable, revoking = log_records.MemberState.STABLE, log_records.MemberState.UNREVOKED_PARTITIONS
    one = log_records.CurrentAssignmentValue(epoch=4, previous_epoch=3, state=stable, assigned={ORDERS: (0,)})
    two = log_records.CurrentAssignmentValue(
        epoch=3, previous_epoch=2, state=revoking, assigned={ORDERS: (2,)}, revoking={ORDERS: (1,)}
    )
    return [
        log_records.ConsumerGroupRecord(group=group, value=log_records.ConsumerGroupValue(epoch=5)),
        _consumer_member(group, "one", classic=classic, assignor=None),
        _consumer_member(group, "two", topics=(), regex="^(orders|gone)$", rack="b", instance="seat"),
        log_records.RegexRecord(group=group, regex="^(orders|gone)$", value=regex),
        log_records.TargetEpochRecord(
            group=group, value=log_records.TargetEpochValue(epoch=4, assigned_ms=START_MS)
        ),
        log_records.TargetMemberRecord(group=group, member="one", value={ORDERS: (0, 1)}),
        log_records.TargetMemberRecord(group=group, member="two", value={ORDERS: (2,), GONE: (0,)}),
        log_records.CurrentAssignmentRecord(group=group, member="one", value=one),
        log_records.CurrentAssignmentRecord(group=group, member="two", value=two),
    ]


def _save(directory: Path, *batches: Sequence[log_records.Record]) -> Path:
    log = Written()
    for number, records in enumerate(batches):
        log.batch(pairs(*records), timestamp=START_MS + 1000 * number)
    return save_log(log, directory)


def _topic(directory: Path, name: str, topic_id: UUID, partitions: int) -> None:
    for number in range(partitions):
        (directory / f"{name}-{number}").mkdir(parents=True)
        write_topic_id(directory / f"{name}-{number}", topic_id)


def _describe(kohort: Kohort, *args: str | Path) -> dict[str, Group]:
    answer = kohort.quick("describe --all-groups --output json", *args).succeeded()
    return {group["group"]: group for group in answer.document["groups"]}


def test_a_classic_group_with_what_its_members_sent(kohort: Kohort, tmp_path: Path) -> None:
    members = [_classic_member("b", 0, 2, user_data=b"sticky"), _classic_member("a", 1)]
    directory = _save(tmp_path, [_classic("old", *members)])
    group = _describe(kohort, "--log-dir", directory)["old"]
    facts = ("type", "protocol_type", "protocol", "state", "generation", "coordinator")
    assert {name: group[name] for name in facts} == {
        "type": "classic", "protocol_type": "consumer", "protocol": "sticky", "state": "Stable", "generation": 7,
        "coordinator": None,
    }  # fmt: skip
    # In the order of the record, which is the broker's.
    assert [member["id"] for member in group["members"]] == ["b", "a"]
    assert group["members"][0] == {
        "id": "b", "instance": "seat-b", "client_id": "client-b", "host": "/10.0.0.1", "rack": "a",
        "protocol": "classic", "upgraded": None, "subscription": {"topics": ["orders", "payments"], "regex": None},
        "owned": {"orders": [0, 2]}, "target": None, "epoch": None, "target_epoch": None,
    }  # fmt: skip
    file = tmp_path / "snapshot.yaml"
    assert kohort.quick("snapshot", "--log-dir", directory, "--file", file).status == 0
    (first, second) = read_snapshot(file).groups["old"].members
    assert first.user_data is not None
    assert (first.user_data.subscription, first.user_data.assignment) == (b"sticky", b"given")
    assert second.user_data is not None
    assert second.user_data.subscription == b""


def test_malformed_metadata_leave_the_member_unknown(kohort: Kohort, tmp_path: Path) -> None:
    member = log_records.ClassicMemberValue(
        member="m", instance=None, client_id="c", host="/h", rebalance_timeout_ms=1, session_timeout_ms=1,
        subscription=b"\0\1\xff", assignment=b"\0\1\xff",
    )  # fmt: skip
    directory = _save(tmp_path, [_classic("odd", member), _classic("connect", member, kind="connect")])
    answer = kohort.quick(f"describe odd connect --members --log-dir {directory} --output json")
    assert answer.status == 3
    odd, connect = answer.document["groups"]
    for group in (odd, connect):
        assert [group["members"][0][name] for name in ("subscription", "owned")] == [None, None]
    assert {error["subject"] for error in answer.document["errors"]} == {"odd, member m", "connect, member m"}


def test_a_consumer_group_with_epochs_targets_and_both_protocols(kohort: Kohort, tmp_path: Path) -> None:
    directory = _save(tmp_path, _consumer_group("new"))
    _topic(directory, "orders", ORDERS, 3)
    group = _describe(kohort, "--log-dir", directory)["new"]
    assert {name: group[name] for name in ("type", "protocol", "state", "group_epoch", "assignment_epoch")} == {
        "type": "consumer", "protocol": "uniform", "state": "Assigning", "group_epoch": 5, "assignment_epoch": 4,
    }  # fmt: skip
    one, two = sorted(group["members"], key=lambda member: str(member["id"]))
    assert (one["protocol"], one["upgraded"], one["owned"]) == ("classic", False, {"orders": [0]})
    # A member still owns what it is revoking. A topic without a known name is named by its id.
    assert two.items() >= {
        "protocol": "consumer", "upgraded": True, "instance": "seat", "rack": "b", "epoch": 3, "target_epoch": 4,
        "subscription": {"topics": [], "regex": "^(orders|gone)$"}, "owned": {"orders": [1, 2]},
        "target": {"orders": [2], format_uuid(GONE): [0]},
    }.items()  # fmt: skip
    snapshot = kohort.quick("snapshot", "--log-dir", directory)
    assert "protocols: [range, sticky]" in snapshot.stdout


@pytest.mark.parametrize(
    ("named", "taken", "said"),
    [("range", "range", ""), (None, "uniform", "kohort: g: the members name no assignor; assuming uniform")],
)
def test_the_assignor_is_what_members_name_or_the_brokers_default(
    kohort: Kohort, tmp_path: Path, named: str | None, taken: str, said: str
) -> None:
    group: list[log_records.Record] = [
        log_records.ConsumerGroupRecord(group="g", value=log_records.ConsumerGroupValue(epoch=1)),
        _consumer_member("g", "one", assignor=named),
    ]
    directory = _save(tmp_path, group)
    answer = kohort.quick("list --output csv --log-dir", directory)
    assert f"g,Consumer,consumer,{taken}," in answer.stdout
    assert answer.stderr.partition(",")[0].strip().startswith(said)
    assert bool(answer.stderr) == bool(said)
    assert _describe(kohort, "--log-dir", directory)["g"]["protocol"] == taken


def test_notices_are_about_selected_groups_only(kohort: Kohort, tmp_path: Path) -> None:
    records = [
        record
        for group in ("billing", "orders", "payments")
        for record in (
            log_records.ConsumerGroupRecord(group=group, value=log_records.ConsumerGroupValue(epoch=1)),
            _consumer_member(group, "one", assignor="range" if group == "billing" else None),
        )
    ]
    directory = _save(tmp_path, records)
    said = "the members name no assignor; assuming uniform, the default of brokers\n"
    for options, stderr in (
        ("--match bill", ""),
        ("--protocol range", ""),
        ("--protocol uniform", f"kohort: orders and 1 more group: {said}"),
        ("--match pay", f"kohort: payments: {said}"),
    ):
        answer = kohort.quick("list --output csv", *options.split(), "--log-dir", directory)
        assert (answer.status, answer.stderr) == (0, stderr)


def test_offsets_with_their_time_and_without_ends(kohort: Kohort, tmp_path: Path) -> None:
    directory = _save(tmp_path, [commit("g", "orders", 0, 10, metadata="note"), commit("g", "orders", 1, 11)])
    _topic(directory, "orders", ORDERS, 2)
    offsets = _describe(kohort, "--log-dir", directory)["g"]["offsets"]
    assert offsets[0] == {
        "topic": "orders", "partition": 0, "committed": 10, "end": None, "lag": None, "leader_epoch": 0,
        "metadata": "note", "member": None, "pending": None,
    }  # fmt: skip
    snapshot = tmp_path / "s.json"
    kohort.quick("snapshot", "--log-dir", directory, "--file", snapshot)
    stored = read_snapshot(snapshot).groups["g"].offsets
    assert stored is not None
    assert stored["orders"][1].timestamp == START_MS + 11


@pytest.mark.parametrize(
    ("as_of", "committed"),
    [
        ("2026-01-01T00:00:00Z", 0), ("2026-01-01T00:00:01.999Z", 1), ("2026-01-01T00:00:02", 2),
        ("2026-01-01T01:00:02+01:00", 2), (str(START_MS + 1000), 1), ("2027-01-01", 4),
    ],
)  # fmt: skip
def test_as_of_a_moment(kohort: Kohort, tmp_path: Path, as_of: str, committed: int) -> None:
    directory = _save(tmp_path, *([commit("g", "orders", 0, number)] for number in range(5)))
    answer = kohort.quick("describe --all-groups --output json --log-dir", directory, "--as-of", as_of)
    (group,) = answer.succeeded().document["groups"]
    assert group["offsets"][0]["committed"] == committed
    assert "+" not in as_of or "kohort: as of 2026-01-01T00:00:02.000Z\n" in answer.stderr
    before = kohort.quick("list --as-of 2025-12-31 --output json --log-dir", directory)
    assert before.succeeded().document["groups"] == []


TOPICS_FILES = {
    "kafka-topics": (
        f"Topic: orders\tTopicId: {format_uuid(ORDERS)}\tPartitionCount: 12\tReplicationFactor: 3\tConfigs: \n"
        "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: N/A\tLastKnownElr: N/A\n"
        f"Topic: gone-by\tTopicId: {format_uuid(GONE)}\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: a=b\n"
    ),
    "snapshot": (
        f"kohort: 1\ntopics:\n  orders: {{id: {format_uuid(ORDERS)}, partitions: 12}}\n"
        f"  gone-by: {{id: {format_uuid(GONE)}, partitions: 1}}\n  nameless: {{partitions: 3}}\n"
    ),
    "mapping": f"orders: {{id: {format_uuid(ORDERS)}, partitions: 12}}\ngone-by: {{partitions: 1, id: {GONE}}}\n",
    "json": f'{{"orders": {{"id": "{ORDERS}", "partitions": 12}}, "gone-by": {{"id": "{GONE}", "partitions": 1}}}}',
}


@pytest.mark.parametrize("text", TOPICS_FILES.values(), ids=TOPICS_FILES.keys())
def test_a_file_names_topics(kohort: Kohort, tmp_path: Path, text: str) -> None:
    directory = _save(tmp_path / "logs", _consumer_group("new"))
    file = tmp_path / "topics"
    file.write_text(text)
    _check_names(kohort, directory, file)
    run = kohort.quick("dry-run", "new", "--log-dir", directory, "--topics", file, "--output", "json")
    assert run.status == 0, run.stderr
    before = run.document["groups"][0]["balance"]["after"]
    assert before["least"] + before["most"] == 12


def _check_names(kohort: Kohort, directory: Path, file: Path) -> None:
    members = _describe(kohort, "--log-dir", directory, "--topics", file)["new"]["members"]
    (target,) = (member["target"] for member in members if member["id"] == "two")
    assert target == {"gone-by": [0], "orders": [2]}


def test_a_file_may_say_names_alone(kohort: Kohort, tmp_path: Path) -> None:
    directory = _save(tmp_path / "logs", _consumer_group("new"))
    _topic(directory, "orders", ORDERS, 3)
    file = tmp_path / "topics"
    file.write_text(f"gone-by: {GONE}\norders: {format_uuid(ORDERS)}\n")
    _check_names(kohort, directory, file)
    kohort.quick("dry-run new --log-dir", directory, "--topics", file).assert_said(
        3,
        "kohort: gone-by: its number of partitions is not known",
        "orders: assumed to have the partitions that",
    )


def test_directories_of_several_brokers_are_one_cluster(kohort: Kohort, tmp_path: Path) -> None:
    first = _save(tmp_path / "one", [commit("a", "orders", 0, 1)])
    second = tmp_path / "two"
    log = Written()
    log.batch(pairs(commit("b", "orders", 0, 1)))
    log.save(second / "__consumer_offsets-1")
    assert list(_describe(kohort, "--log-dir", first, "--log-dir", second)) == ["a", "b"]
    third = tmp_path / "three"
    _topic(third, "orders", ORDERS, 1)
    answer = kohort.quick("list", "--log-dir", first, "--log-dir", third)
    answer.assert_said(
        0, f"{third} contains no __consumer_offsets-N directory; it is only read for topic names"
    )


def test_directories_of_different_clusters_are_refused(kohort: Kohort, tmp_path: Path) -> None:
    for name in ("one", "two"):
        directory = _save(tmp_path / name, [commit(name, "orders", 0, 1)])
        meta = MetaProperties(cluster_id=f"cluster-{name}", node_id=1, directory_id=None)
        write_meta_properties(directory, meta)
    answer = kohort.quick("list", "--log-dir", tmp_path / "one", "--log-dir", tmp_path / "two")
    answer.assert_refused(f"{tmp_path}/one is of cluster-one and {tmp_path}/two is of cluster-two", status=3)
    alone = kohort.quick("snapshot", "--log-dir", tmp_path / "one")
    assert "cluster: {id: cluster-one}" in alone.stdout


def test_a_damaged_partition_is_named_and_the_others_are_shown(kohort: Kohort, tmp_path: Path) -> None:
    directory = _save(tmp_path, [commit("a", "orders", 0, 1)], [commit("a", "orders", 0, 2)])
    log = Written()
    log.batch(pairs(commit("b", "orders", 0, 1)))
    log.save(directory / "__consumer_offsets-1")
    file = directory / "__consumer_offsets-0" / "00000000000000000000.log"
    data = bytearray(file.read_bytes())
    data[70] ^= 1
    file.write_bytes(data)
    for command in (["list"], ["describe", "--all-groups"]):
        answer = kohort.quick(*command, "--log-dir", directory, "--output", "json")
        assert answer.status == 3
        assert [group["group"] for group in answer.document["groups"]] == ["b"]
        # A command that reads twice gets it once.
        (error,) = answer.document["errors"]
        assert error["subject"] == f"{file}, byte 0"
        assert f"kohort: {error['subject']}: {error['message']}\n" in answer.stderr
    # The group may be in the part that cannot be read: nothing is offered that would create it.
    for line in ("describe a", "offsets reset a --to-offset 5 --topic orders"):
        answer = kohort.quick(line, "--log-dir", directory)
        answer.assert_said(3, f"kohort: a: no such group in the readable part of {directory}\n")
        assert "committing offsets creates" not in answer.stderr


def test_a_torn_tail_is_said_and_nothing_is_lost(kohort: Kohort, tmp_path: Path) -> None:
    directory = _save(tmp_path, [commit("a", "orders", 0, 1)], [commit("a", "orders", 0, 2)])
    file = directory / "__consumer_offsets-0" / "00000000000000000000.log"
    file.write_bytes(file.read_bytes()[:-3])
    answer = kohort.quick("describe", "a", "--log-dir", directory, "--output", "json")
    answer.assert_said(0, f"{file}, byte ", "torn")
    assert answer.document["groups"][0]["offsets"][0]["committed"] == 1


def test_records_of_unknown_types_are_counted(kohort: Kohort, tmp_path: Path) -> None:
    log = Written()
    log.batch([*pairs(commit("g", "orders", 0, 1)), (b"\0\x63x", b""), (b"\0\x63y", b"")])
    said = "kohort: 2 records of the unknown type 99 are skipped, as a broker does\n"
    kohort.quick("list --log-dir", save_log(log, tmp_path)).succeeded(stderr=said)


def test_an_embedded_directory_without_groups_names_the_next_step(kohort: Kohort, tmp_path: Path) -> None:
    answer = kohort.quick("list --embedded", tmp_path)
    answer.assert_refused(f"{tmp_path} contains no groups; name a source", status=3)
    write_meta_properties(tmp_path, MetaProperties(cluster_id="c", node_id=1, directory_id=None))
    assert kohort.quick("list", "--embedded", tmp_path, "--output", "json").document["groups"] == []


QUESTIONS = ("list", "describe --all-groups --members --verbose", "snapshot", "dry-run --all-groups")


@pytest.mark.parametrize("seed", range(12))
def test_any_records_of_any_type_end_in_an_answer(kohort: Kohort, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    log = Written()
    for _ in range(10):
        log.batch([_any_record(chance) for _ in range(10)])
    directory = save_log(log, tmp_path)
    for question in QUESTIONS:
        answer = kohort.quick(question, "--log-dir", directory)
        assert not answer.traceback, answer.stderr
        assert answer.status in (0, 3)


def _any_record(chance: random.Random) -> tuple[bytes, bytes | None]:
    key_type, version = chance.choice(TYPES_AND_VERSIONS)
    key = random_key(chance, key_type)
    few = {name: chance.choice(["one", "two"]) for name, value in key.items() if isinstance(value, str)}
    value = encode_value(key_type, version, random_value(chance, key_type, version))
    return encode_key(key_type, {**key, **few}), None if chance.random() < 0.2 else value
