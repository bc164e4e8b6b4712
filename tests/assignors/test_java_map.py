"""A HashMap into which keys come and from which they go, by example and operation by operation beside Java."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from uuid import UUID

import pytest

from assignors.java.hash_map import JavaMap, presized_capacity, spread, uuid_hashes, uuid_sort_key
from tests.assignors.ids import id_hashed
from tests.kafka.oracle import Oracle

Operation = tuple[str, UUID]


def replayed(capacity: int, operations: Iterable[Operation], keys: list[UUID]) -> list[UUID]:
    """The keys as our map gives them back after the operations."""
    index = {key: i for i, key in enumerate(keys)}
    spreads: list[int] = spread(uuid_hashes(keys)).tolist()
    table = JavaMap(spreads, presized_capacity(capacity), [uuid_sort_key(key) for key in keys])
    for name, key in operations:
        getattr(table, name)(index[key])
    assert table.size == len(list(table))
    return [keys[i] for i in table]


def test_a_computed_key_comes_first_in_its_bin_and_a_put_one_last() -> None:
    a, b, c = keys = [UUID(int=number) for number in (1, 17, 33)]
    operations = [("put", b), ("put", c), ("compute_if_absent", a)]
    assert replayed(16, operations, keys) == [a, b, c]
    assert replayed(16, reversed(operations), keys) == [a, c, b]


def test_asking_for_a_key_that_is_there_makes_a_full_array_longer() -> None:
    # The thirteenth key of an array of 16: a put doubles it at once, a computed one leaves that to the next call.
    keys = [UUID(int=number) for number in (16, *range(12))]
    computed = [("compute_if_absent", key) for key in keys]
    assert replayed(16, computed, keys)[:2] == [keys[1], keys[0]]
    assert replayed(16, [*computed, ("compute_if_absent", keys[0])], keys)[-1] == keys[0]
    assert replayed(16, [("put", key) for key in keys], keys)[-1] == keys[0]


def test_an_array_keeps_its_length_when_keys_go() -> None:
    keys = [UUID(int=number) for number in (16, *range(12))]
    operations = [("put", key) for key in keys] + [("remove", key) for key in keys[2:]]
    assert replayed(16, operations, keys) == [keys[1], keys[0]]


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
