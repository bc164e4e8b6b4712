"""The embedded protocol of Connect against bytes that Java wrote, and against bytes that no worker writes (B22)."""

import random
from contextlib import suppress

import pytest

from tests.kafka.connect import write_worker_assignment, write_worker_state
from tests.support.long import cases
from tests.wire.log.random_records import damaged
from wire.messages.connect_protocol import (
    CONNECTOR,
    ConnectAssignment,
    ConnectWorkerState,
    read_worker_assignment,
    read_worker_state,
)
from wire.messages.reader import DecodeError

CASES = cases("KOHORT_FUZZ_CASES", 2_000, many=1_000_000)

# Written by ConnectProtocol and IncrementalCooperativeConnectProtocol of connect-runtime 4.3.1: connectors "café" and
# "sink", tasks sink-1, sink-0 and other-2, revoked connector "gone" with its task 3, a delay of 5 s, offsets 7 and 9.
URL = "000e687474703a2f2f613a383038332f0000000000000007"
HEAD = "00086c65616465722d31000e687474703a2f2f6c3a383038332f0000000000000009"
TASKS = "00000003000473696e6b00000003ffffffff000000010000000000056361" + (
    "66c3a900000001ffffffff00056f746865720000000100000002"
)
REVOKED = "000000010004676f6e6500000002ffffffff0000000300001388"
ASSIGNMENTS = {
    0: "00000001" + HEAD + TASKS,
    1: "00010000" + HEAD + TASKS + REVOKED,
    2: "00020000" + HEAD + TASKS + REVOKED,
}
STATES = {0: "0000" + URL} | {
    version: f"{version:04x}{URL}00000078{ASSIGNMENTS[version]}" for version in (1, 2)
}


def assignment(version: int) -> ConnectAssignment:
    return ConnectAssignment(
        version=version,
        error=0 if version else 1,
        leader="leader-1",
        leader_url="http://l:8083/",
        config_offset=9,
        assigned={"sink": (CONNECTOR, 1, 0), "café": (CONNECTOR,), "other": (2,)},
        revoked={"gone": (CONNECTOR, 3)} if version else {},
        delay_ms=5000 if version else 0,
    )


@pytest.mark.parametrize("version", STATES)
def test_reads_and_writes_what_java_workers_write(version: int) -> None:
    allocation = assignment(version) if version else None
    state = ConnectWorkerState(version=version, url="http://a:8083/", config_offset=7, allocation=allocation)
    assert read_worker_state(bytes.fromhex(STATES[version])) == state
    assert write_worker_state(state).hex() == STATES[version]


@pytest.mark.parametrize("version", ASSIGNMENTS)
def test_reads_and_writes_what_a_java_leader_writes(version: int) -> None:
    assert read_worker_assignment(bytes.fromhex(ASSIGNMENTS[version])) == assignment(version)
    assert write_worker_assignment(assignment(version)).hex() == ASSIGNMENTS[version]


def test_a_new_worker_has_no_allocation() -> None:
    state = read_worker_state(bytes.fromhex("0002" + URL + "ffffffff"))
    assert state.allocation is None
    assert write_worker_state(state).hex() == "0002" + URL + "ffffffff"


def test_absent_lists_of_a_leader_are_empty() -> None:
    data = bytes.fromhex("00010000" + HEAD + "ffffffff" * 2 + "00000000")
    read = read_worker_assignment(data)
    assert (read.assigned, read.revoked) == ({}, {})


def test_a_newer_version_is_read_as_the_newest_known_one() -> None:
    read = read_worker_assignment(bytes.fromhex("0009" + ASSIGNMENTS[2][4:] + "beef"))
    assert (read.version, read.revoked) == (9, {"gone": (CONNECTOR, 3)})
    assert write_worker_assignment(read).hex() == ASSIGNMENTS[2]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "ConnectWorkerState has 0 bytes, too few for a version"),
        ("ffff", "ConnectWorkerState has no version -1"),
        ("0000ffff", "ConnectWorkerState.url at byte 2 is null"),
        (STATES[0][:-2], "ConnectWorkerState.configOffset is cut off: it begins at byte 18"),
        ("0001" + URL + "00000002ffff", "ConnectAssignment has no version -1"),
        ("0001" + URL + "00000004", "allocation: a length of 4 does not fit the 0 bytes left at byte 30"),
    ],
)
def test_malformed_states_are_reported_with_field_and_byte(data: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_worker_state(bytes.fromhex(data))
    assert str(caught.value).endswith(message)


def test_damaged_bytes_are_read_or_malformed() -> None:
    rng = random.Random(7)
    pool = [(read_worker_state, write_worker_state, bytes.fromhex(data)) for data in STATES.values()]
    of_leaders = [bytes.fromhex(data) for data in ASSIGNMENTS.values()]
    readable = 0
    for _ in range(CASES):
        read, write, data = rng.choice(pool)
        with suppress(DecodeError):
            state = read(damaged(rng, data))
            assert read(write(state)).url == state.url
            readable += 1
        with suppress(DecodeError):
            read_worker_assignment(damaged(rng, rng.choice(of_leaders)))
            readable += 1
    assert CASES // 10 < readable < 2 * CASES
