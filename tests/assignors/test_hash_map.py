"""Java's hash codes and map orders against Java, and Kafka's TimelineHashMap against a slow version of it."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.java.hash_map import (
    JavaMap,
    Key,
    Order,
    copied_capacity,
    map_order,
    presized_capacity,
    spread,
    string_hashes,
    timeline_order,
    topic_partition_hashes,
    utf16,
    uuid_hashes,
    uuid_sort_key,
)
from assignors.model import Ints
from tests.assignors.groups import id_hashed
from tests.kafka.oracle import Oracle

LETTERS = "abcé€\uffff\U0001f600\U00010400"
SIZES = (0, 1, 5, 12, 13, 24, 48, 49, 100, 300)


@pytest.mark.parametrize(
    ("size", "java_17", "java_21"), [(0, 16, 16), (12, 32, 16), (13, 32, 32), (24, 64, 32), (25, 64, 64)]
)
def test_copied_sets_got_smaller_in_java_19(size: int, java_17: int, java_21: int) -> None:
    assert copied_capacity(size, java=17) == java_17
    assert copied_capacity(size, java=21) == java_21


def test_the_order_of_keys_that_java_cannot_compare_is_undetermined() -> None:
    order = map_order(np.full(70, 7, dtype=np.int64))
    assert not order.determined
    assert sorted(order.indices.tolist()) == list(range(70))


@pytest.mark.kafka
@pytest.mark.parametrize("kind", ["string", "colliding", "integer", "overfull", "uuid", "partition"])
def test_maps_iterate_as_in_java(kind: str, oracle: Oracle, oracle_seed: str) -> None:
    random = Random(f"{oracle_seed}-{kind}")
    for _ in range(60):
        asked, hashes, keys = _keys(random, kind)
        java_kind = {"colliding": "string", "overfull": "integer"}.get(kind, kind)
        capacity = random.choice((1, 3, 16, 64, 200))
        for presized, ours in ((None, 16), (capacity, presized_capacity(capacity))):
            theirs, their_hashes = oracle.order(java_kind, asked, capacity=presized)
            assert hashes.tolist() == their_hashes
            _same(map_order(hashes, capacity=ours, keys=keys), theirs, oracle_seed)


@pytest.mark.kafka
@pytest.mark.parametrize("kind", ["string", "integer", "uuid"])
def test_copied_sets_iterate_as_in_java(kind: str, oracle: Oracle, oracle_seed: str) -> None:
    random = Random(f"{oracle_seed}-copied-{kind}")
    for _ in range(30):
        asked, hashes, keys = _keys(random, kind)
        theirs, _ = oracle.order(kind, asked, copied=True)
        either = [
            map_order(hashes, capacity=copied_capacity(len(asked), java=java), keys=keys).indices.tolist()
            for java in (17, 21)
        ]
        assert theirs in either, oracle_seed


def _same(ours: Order, theirs: list[int], seed: str) -> None:
    if ours.determined:
        assert ours.indices.tolist() == theirs, f"seed {seed}"


def _keys(random: Random, kind: str) -> tuple[list[Any], Ints, Sequence[Key] | None]:
    size = random.choice(SIZES)
    if kind in ("string", "colliding"):
        strings = list(dict.fromkeys(_string(random, kind) for _ in range(size)))
        return strings, string_hashes(strings), [utf16(string) for string in strings]
    if kind in ("integer", "overfull"):
        step = 1 if kind == "integer" else random.choice((16, 64, 1024, 65537))
        numbers = [step * n + random.choice((0, 0, 1)) for n in range(-size, size)]
        numbers = list(dict.fromkeys(random.sample(numbers, size)))
        return numbers, np.array(numbers, dtype=np.int64), numbers
    if kind == "uuid":
        uuids = [_uuid(random) for _ in range(size)]
        uuids = list(dict.fromkeys(uuids))
        return [str(uuid) for uuid in uuids], uuid_hashes(uuids), [uuid_sort_key(uuid) for uuid in uuids]
    places = list(dict.fromkeys((f"t{random.randrange(9):03}", random.randrange(60)) for _ in range(size)))
    topics = string_hashes([topic for topic, _ in places])
    numbers_of = np.array([number for _, number in places], dtype=np.int64)
    return [list(partition) for partition in places], topic_partition_hashes(topics, numbers_of), None


def _string(random: Random, kind: str) -> str:
    if kind == "string":
        return "".join(random.choice(LETTERS) for _ in range(random.randint(0, 9)))
    return random.choice("pq") + "".join(random.choice(("Aa", "BB")) for _ in range(6))


def _uuid(random: Random) -> UUID:
    if random.random() < 0.5:
        return UUID(int=random.getrandbits(128))
    return UUID(int=random.randrange(1, 500) << 64 | random.randrange(3))


Operation = tuple[str, UUID]


def replayed(capacity: int, operations: Iterable[Operation], keys: list[UUID]) -> list[UUID]:
    index = {key: i for i, key in enumerate(keys)}
    spreads: list[int] = spread(uuid_hashes(keys)).tolist()
    table = JavaMap(spreads, presized_capacity(capacity), [uuid_sort_key(key) for key in keys])
    for name, key in operations:
        getattr(table, name)(index[key])
    assert table.size == len(list(table))
    return [keys[i] for i in table]


@pytest.mark.kafka
def test_a_map_of_changing_keys_iterates_as_in_java(oracle: Oracle, oracle_seed: str) -> None:
    random = Random(f"{oracle_seed}-operations")
    for number in range(400):
        capacity = random.choice((0, 1, 4, 12, 16, 60))
        step = random.choice((1, 16, 64, 1024))
        codes = [
            random.randrange(0, 1 << 16, step) + random.choice((0, 0, 0, 1))
            for _ in range(random.randint(1, 80))
        ]
        codes += random.sample(codes, random.randint(0, len(codes) // 2))
        keys = [id_hashed(random, code) for code in codes]
        operations = changes(random, keys)
        ours = replayed(capacity, operations, keys)
        theirs = oracle.operated(capacity, operations)
        assert ours == theirs, f"seed {oracle_seed}, map {number}: {capacity}, {operations}"


def changes(random: Random, keys: list[UUID]) -> list[Operation]:
    """Keys come, mostly, and then go, mostly; a put is of a key that is not there."""
    present: set[UUID] = set()
    operations = []
    for _ in range(3):
        coming = random.choice((0.3, 0.6, 0.9))
        for _ in range(random.randint(0, 2 * len(keys))):
            key = random.choice(keys)
            if random.random() < coming:
                name = "put" if key not in present and random.random() < 0.4 else "compute_if_absent"
                present.add(key)
            else:
                name = "remove"
                present.discard(key)
            operations.append((name, key))
    return operations


def put_one_by_one(ids: Sequence[str]) -> list[str]:
    slots: list[list[str]] = [[], []]
    for size, new in enumerate(ids):
        if (size + 1) * 0.75 > len(slots):
            before = [entry for slot in slots for entry in slot]
            slots = [[] for _ in range(2 * len(slots))]
            for entry in before:
                slots[find_slot(entry, len(slots))].append(entry)
        slots[find_slot(new, len(slots))].append(new)
    return [entry for slot in slots for entry in reversed(slot)]


def find_slot(id_: str, capacity: int) -> int:
    """The highest bits of the hash code times the golden ratio, as a long."""
    product = int(string_hashes([id_])[0]) * -7046029254386353131 % 2**64
    return product >> (64 - (capacity.bit_length() - 1))


@given(st.lists(st.text(max_size=4), unique=True, max_size=60))
def test_the_order_is_that_of_the_map(ids: list[str]) -> None:
    assert [ids[i] for i in timeline_order(ids)] == put_one_by_one(ids)


def test_a_converted_group_on_a_broker() -> None:
    classic = [
        "member-30671-19-16877e94-6ca3-40b8-b148-0f8677fdad5a",
        "member-30671-17-910fd224-9658-40da-b670-7a5a04e2ded6",
        "member-30671-16-76d1bfab-b996-473e-a916-6f50942c25e2",
        "member-30671-14-014b6b90-ca57-44ab-bf6f-30202f7aef8c",
        "member-30671-15-0332960e-209a-455d-b161-83e06d3ebef2",
        "member-30671-18-4c9ff6b6-52bd-4bf2-9624-ef2b6c971109",
    ]
    joiner = "rJ1tKKABTXK-uzpGdcXIvA"
    walked = [*(classic[i] for i in timeline_order(classic)), joiner]
    shown = [walked[i] for i in timeline_order(walked)]
    assert shown == [joiner, classic[2], classic[0], classic[4], classic[1], classic[3], classic[5]]
