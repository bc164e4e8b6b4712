"""Racks of partitions that are yet to be made."""

from __future__ import annotations

from assignors.model import Undetermined
from groups.model import Topic
from groups.topic_spec import PLACED_LATER, topic_specs


def test_where_all_partitions_are_in_all_racks_a_new_one_will_be_too() -> None:
    notes: list[Undetermined] = []
    (spec,) = topic_specs([Topic(name="t", partitions=3, racks={0: ("a", "b"), 1: ("b", "a")})], notes)
    assert spec.racks == (("a", "b"), ("b", "a"), ("a", "b"))
    assert notes == []


def test_elsewhere_a_new_one_is_taken_to_stand_like_those_before_it_and_that_is_said() -> None:
    notes: list[Undetermined] = []
    (spec,) = topic_specs([Topic(name="t", partitions=4, racks={0: ("a",), 1: ("b",)})], notes)
    assert spec.racks == (("a",), ("b",), ("a",), ("b",))
    assert notes == [Undetermined(subject=f"t-{number}", why=PLACED_LATER) for number in (2, 3)]


def test_a_partition_without_replicas_in_a_known_rack_is_not_a_new_one() -> None:
    notes: list[Undetermined] = []
    (spec,) = topic_specs([Topic(name="t", partitions=2, racks={0: ("a",), 1: ()})], notes)
    assert (spec.racks, notes) == ((("a",), ()), [])


def test_unknown_racks_stay_unknown() -> None:
    (spec,) = topic_specs([Topic(name="t", partitions=2)], [])
    assert spec.racks is None
