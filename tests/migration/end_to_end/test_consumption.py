"""The checker finds what is wrong in made-up journals, and nothing in a clean one."""

import pytest

from tests.migration.end_to_end.consumption import (
    Interleaving,
    Overlap,
    interleavings,
    lost,
    outside,
    overlaps,
    repeated,
    stays,
    without_owner_s,
)
from tests.migration.end_to_end.journal import Journal, parse

P = ("t", 0)


def journal(member: str, *lines: str) -> Journal:
    """A journal of lines `AT KIND [OFFSET]`, of partition 0 of t."""
    full = []
    for line in lines:
        at, kind, *offset = line.split()
        full.append(f"{at} {kind} t 0 {offset[0] if offset else '-'}")
    return Journal(member=member, entries=tuple(parse(full)))


HANDED_OVER = (
    journal("a", "10 assigned", "11 record 0", "12 record 1", "13 revoked"),
    journal("b", "14 assigned", "15 record 2", "16 revoked"),
)
THERE_AND_BACK = (
    journal("a", "10 assigned", "11 record 0", "13 revoked", "20 assigned", "21 record 2", "22 revoked"),
    journal("b", "14 assigned", "15 record 1", "16 revoked"),
)
BOTH_AT_ONCE = (
    journal("a", "10 assigned", "11 record 0", "14 record 1", "16 revoked"),
    journal("b", "12 assigned", "13 record 1", "15 record 2", "20 revoked"),
)


@pytest.mark.parametrize("journals", [HANDED_OVER, THERE_AND_BACK])
def test_clean_hand_over(journals: tuple[Journal, ...]) -> None:
    assert overlaps(journals) == []
    assert outside(journals) == []
    assert interleavings(journals) == []
    assert repeated(journals) == []
    assert lost({P: range(3)}, journals) == []


def test_overlap_is_found_by_the_listeners_alone() -> None:
    assert overlaps(BOTH_AT_ONCE) == [Overlap(partition=P, members=("a", "b"), overlap_ns=4)]
    assert overlaps(BOTH_AT_ONCE[::-1]) == overlaps(BOTH_AT_ONCE)


@pytest.mark.parametrize(
    ("first", "second", "overlaps_ns"),
    [
        (("10 assigned", "30 revoked"), ("12 assigned", "14 revoked", "20 assigned", "21 revoked"), [2, 1]),
        (("10 assigned",), ("12 assigned", "14 revoked"), [2]),
    ],
    ids=["within a longer stay", "after one that never let go"],
)
def test_stays_that_overlap(first: tuple[str, ...], second: tuple[str, ...], overlaps_ns: list[int]) -> None:
    assert [one.overlap_ns for one in overlaps([journal("a", *first), journal("b", *second)])] == overlaps_ns


def test_interleaving_is_found_by_the_records_alone() -> None:
    lying = (
        journal("a", "10 assigned", "11 record 0", "12 revoked", "13 assigned", "14 record 1"),
        journal("b", "12 assigned", "13 record 1", "13 revoked"),
    )
    for journals in (BOTH_AT_ONCE, lying):
        assert interleavings(journals) == [Interleaving(partition=P, members=("a", "b"), offset=1)]


def test_repetition_after_a_crash_is_no_interleaving() -> None:
    journals = (
        journal("a", "10 assigned", "11 record 0", "12 record 1"),
        journal("b", "30 assigned", "31 record 1", "32 record 2"),
    )
    assert interleavings(journals) == []
    assert repeated(journals) == [(P, 1, ("a", "b"))]


def test_record_outside_of_a_stay() -> None:
    late = journal("a", "10 assigned", "12 revoked", "13 record 5")
    assert [(member, entry.offset) for member, entry in outside([late])] == [("a", 5)]
    assert outside([journal("a", "10 assigned"), journal("b", "11 record 0")])


def test_lost_records_are_named() -> None:
    assert lost({P: range(5), ("u", 1): [7]}, HANDED_OVER) == [("t", 0, 3), ("t", 0, 4), ("u", 1, 7)]


def test_repeated_names_the_readers_in_order_of_time() -> None:
    again = journal("c", "40 assigned", "41 record 0", "42 record 1", "43 record 1")
    assert repeated([again, *HANDED_OVER]) == [(P, 0, ("a", "c")), (P, 1, ("a", "c", "c"))]


@pytest.mark.parametrize("lines", [("10 assigned", "11 assigned"), ("10 revoked",), ("10 lost",)])
def test_listener_that_contradicts_itself(lines: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"twice|did not hold"):
        stays([journal("a", *lines)])


def test_time_without_owner() -> None:
    second = 10**9
    journals = [
        journal("a", f"{1 * second} assigned", f"{3 * second} revoked"),
        journal("b", f"{4 * second} assigned", f"{9 * second} revoked"),
    ]
    assert without_owner_s(journals, 2 * second, 8 * second) == 1.0
    assert without_owner_s(journals, 0, 10 * second) == 3.0
    assert without_owner_s(BOTH_AT_ONCE, 10, 20) == 0.0


@pytest.mark.parametrize(
    "line", ["", "1 record t 0", "x record t 0 1", "1 eaten t 0 1", "1 record t 0 -", "1 assigned t 0 4"]
)
def test_line_that_is_invalid(line: str) -> None:
    with pytest.raises(ValueError):
        list(parse([line]))
