"""The embedded consumer protocol against bytes that Java wrote, and against bytes that no client writes."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from wire.messages.reader import DecodeError

# Written by ConsumerProtocol.serializeSubscription and serializeAssignment of kafka-clients 4.3.1; topics "orders",
# "café", "a" (Java sorts them), user data 01 02 03, owned orders-3, a-0, orders-1, generation 7, rack "rack-a".
TOPICS = "000000030001610005636166c3a900066f726465727300000003010203"
OWNED = "00000002000161000000010000000000066f7264657273000000020000000100000003"
FULL = {
    0: "0000" + TOPICS,
    1: "0001" + TOPICS + OWNED,
    2: "0002" + TOPICS + OWNED + "00000007",
    3: "0003" + TOPICS + OWNED + "00000007" + "00067261636b2d61",
}
BARE = {
    0: "000000000000ffffffff",
    1: "000100000000ffffffff00000000",
    2: "000200000000ffffffff00000000ffffffff",
    3: "000300000000ffffffff00000000ffffffffffff",
}
ASSIGNED = "0000000200066f726465727300000002000000030000000100016100000001000000000000000109"


def full(version: int) -> EmbeddedSubscription:
    return EmbeddedSubscription(
        version=version,
        topics=("a", "café", "orders"),
        user_data=b"\1\2\3",
        owned={"a": (0,), "orders": (1, 3)} if version >= 1 else {},
        generation=7 if version >= 2 else -1,
        rack="rack-a" if version >= 3 else None,
    )


@pytest.mark.parametrize("version", FULL)
def test_reads_and_writes_what_java_writes(version: int) -> None:
    assert read_subscription(bytes.fromhex(FULL[version])) == full(version)
    assert write_subscription(full(version)).hex() == FULL[version]


@pytest.mark.parametrize("version", BARE)
def test_a_bare_subscription_has_no_user_data_owner_generation_or_rack(version: int) -> None:
    bare = EmbeddedSubscription(version=version, topics=())
    assert read_subscription(bytes.fromhex(BARE[version])) == bare
    assert write_subscription(bare).hex() == BARE[version]


@pytest.mark.parametrize("version", range(4))
def test_assignment(version: int) -> None:
    data = f"{version:04x}" + ASSIGNED
    assignment = EmbeddedAssignment(
        version=version, partitions={"orders": (3, 1), "a": (0,)}, user_data=b"\x09"
    )
    assert read_assignment(bytes.fromhex(data)) == assignment
    assert write_assignment(assignment).hex() == data
    assert read_assignment(bytes.fromhex(f"{version:04x}00000000ffffffff")) == EmbeddedAssignment(
        version=version, partitions={}
    )


def test_a_newer_version_is_read_as_the_newest_known() -> None:
    newer = bytes.fromhex("0009" + FULL[3][4:] + "deadbeef")
    subscription = read_subscription(newer)
    assert subscription.version == 9
    assert (subscription.topics, subscription.rack) == (("a", "café", "orders"), "rack-a")
    assert write_subscription(subscription).hex() == FULL[3]


def test_a_topic_sent_twice_has_the_partitions_of_both() -> None:
    once = "00066f72646572730000000100000001"
    data = bytes.fromhex("0000" + "00000002" + once + once + "ffffffff")
    assert read_assignment(data).partitions == {"orders": (1, 1)}


def test_only_short_bytes_are_remembered() -> None:
    for count, is_remembered in ((10, True), (5_000, False)):
        whole = EmbeddedAssignment(version=1, partitions={"orders": tuple(range(count))})
        data = write_assignment(whole)
        assert read_assignment(data) == read_assignment(bytes(bytearray(data))) == whole
        assert (read_assignment(data) is read_assignment(data)) is is_remembered


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "ConsumerProtocolSubscription has 0 bytes, too few for a version"),
        ("00", "ConsumerProtocolSubscription has 1 bytes, too few for a version"),
        ("ffff", "ConsumerProtocolSubscription has no version -1"),
        ("0000", "ConsumerProtocolSubscription.topics is cut off: it begins at byte 2"),
        ("00007fffffff", "topics: a length of 2147483647 does not fit the 0 bytes left at byte 6"),
        ("0000ffffffff", "ConsumerProtocolSubscription.topics at byte 2 is null"),
        ("0000000000010005", "topics[]: a length of 5 does not fit the 0 bytes left at byte 8"),
        ("000000000001000561", "topics[]: a length of 5 does not fit the 1 bytes left at byte 8"),
        ("000000000001ffff", "topics[] at byte 6 is null"),
        ("00000000000000000005", "userData: a length of 5 does not fit the 0 bytes left at byte 10"),
        ("000100000000ffffffff", "Subscription.ownedPartitions is cut off: it begins at byte 10"),
        (FULL[2][:-2], "ConsumerProtocolSubscription.generationId is cut off: it begins at byte 66"),
        (FULL[3][:-2], "rackId: a length of 6 does not fit the 5 bytes left at byte 72"),
        ("6368616e676564", "topics: a length of 1634625381 does not fit the 1 bytes left at byte 6"),
    ],
)
def test_malformed_metadata_is_reported_with_field_and_byte(data: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_subscription(bytes.fromhex(data))
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize("version", FULL)
def test_every_truncation_is_malformed(version: int) -> None:
    whole = bytes.fromhex(FULL[version])
    for length in range(len(whole)):
        with pytest.raises(DecodeError):
            read_subscription(whole[:length])


@given(st.binary(max_size=200), st.sampled_from(sorted(FULL)), st.integers(0, 100), st.integers(0, 255))
def test_any_bytes_are_read_or_malformed(data: bytes, version: int, position: int, byte: int) -> None:
    changed = bytearray.fromhex(FULL[version])
    changed[position % len(changed)] = byte
    for read in (read_subscription, read_assignment):
        for content in (data, bytes(changed)):
            with suppress(DecodeError):
                read(content)


@pytest.mark.parametrize(
    "subscription",
    [
        EmbeddedSubscription(version=-1, topics=()),
        EmbeddedSubscription(version=0, topics=("x" * 32_768,)),
        EmbeddedSubscription(version=2, topics=(), generation=2**31),
        EmbeddedSubscription(version=1, topics=(), owned={"t": (2**31,)}),
    ],
)
def test_values_that_do_not_fit_are_not_written(subscription: EmbeddedSubscription) -> None:
    with pytest.raises(ValueError):
        write_subscription(subscription)
