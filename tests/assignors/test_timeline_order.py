"""The order of Kafka's TimelineHashMap: a slow version of the map, and what a broker showed."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from assignors.java.hash_map import string_hashes
from assignors.java.timeline_order import timeline_order


def put_one_by_one(ids: Sequence[str]) -> list[str]:
    """BaseHashTable as it is written: lists for slots, doubled and filled again when they get too full."""
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
    """Kafka 4.3.1 described six members as a classic group, then, with a seventh, as the consumer group it became.

    The new group's map is filled twice: from the old group, and from the records that the first map became.
    """
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
