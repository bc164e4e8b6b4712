"""The checker finds what is wrong in made-up journals, and nothing in a clean one."""

import pytest

from tests.migration.end_to_end.consumption import (
    interleavings,
    lost,
    outside,
    overlaps,
    repeated,
    stays,
    without_owner_s,
)
from tests.migration.end_to_end.journal import Journal, parse
from tests.support.golden import assert_recorded

JOURNALS = {
    "handed over": "10 assigned, 11 record 0, 12 record 1, 13 revoked | 14 assigned, 15 record 2, 16 revoked",
    "there and back": "10 assigned, 11 record 0, 13 revoked, 20 assigned, 21 record 2, 22 revoked"
    " | 14 assigned, 15 record 1, 16 revoked",
    "both at once": "10 assigned, 11 record 0, 14 record 1, 16 revoked"
    " | 12 assigned, 13 record 1, 15 record 2, 20 revoked",
    "within a longer stay": "10 assigned, 30 revoked | 12 assigned, 14 revoked, 20 assigned, 21 revoked",
    "after one that never let go": "10 assigned | 12 assigned, 14 revoked",
    "shown by the records alone": "10 assigned, 11 record 0, 12 revoked, 13 assigned, 14 record 1"
    " | 12 assigned, 13 record 1, 13 revoked",
    "after a crash": "10 assigned, 11 record 0, 12 record 1 | 30 assigned, 31 record 1, 32 record 2",
    "outside of a stay": "10 assigned, 12 revoked, 13 record 5",
    "of a partition of another": "10 assigned | 11 record 0",
    "twice by a third": "10 assigned, 11 record 0, 12 record 1, 13 revoked | 14 assigned, 15 record 2, 16 revoked"
    " | 40 assigned, 41 record 0, 42 record 1, 43 record 1",
    "a pause": "1 assigned, 3 revoked | 4 assigned, 9 revoked",
}


def journals(text: str) -> list[Journal]:
    """Journals of members a, b, …: entries `AT KIND [OFFSET]` of partition 0 of t."""
    made = []
    for member, entries in zip("abc", text.split(" | "), strict=False):
        words = [entry.split() for entry in entries.split(", ")]
        lines = [f"{at} {kind} t 0 {offset[0] if offset else '-'}" for at, kind, *offset in words]
        made.append(Journal(member=member, entries=tuple(parse(lines))))
    return made


def test_what_is_wrong_in_journals_is_as_recorded() -> None:
    answers = {}
    for name, text in JOURNALS.items():
        of_all = journals(text)
        assert overlaps(of_all[::-1]) == overlaps(of_all)
        assert repeated(of_all[::-1]) == repeated(of_all)
        found = {
            "overlap": [f"{'/'.join(one.members)} for {one.overlap_ns}" for one in overlaps(of_all)],
            "outside": [f"{member} {entry.offset}" for member, entry in outside(of_all)],
            "interleaved": [f"{'/'.join(one.members)} at {one.offset}" for one in interleavings(of_all)],
            "repeated": [f"{offset} by {'/'.join(members)}" for _, offset, members in repeated(of_all)],
            "lost": [str(record) for record in lost({("t", 0): range(4), ("u", 1): [7]}, of_all)],
            "without an owner": [f"{without_owner_s(of_all, 2, 20) * 1e9:g} from 2 to 20"],
        }
        answers[name] = "\n".join(f"{what}: {', '.join(them)}" for what, them in found.items() if them)
    assert_recorded("consumption.txt", answers)


@pytest.mark.parametrize("entries", ["10 assigned, 11 assigned", "10 revoked", "10 lost"])
def test_listener_that_contradicts_itself(entries: str) -> None:
    with pytest.raises(ValueError, match=r"twice|did not hold"):
        stays(journals(entries))


@pytest.mark.parametrize(
    "line", ["", "1 record t 0", "x record t 0 1", "1 eaten t 0 1", "1 record t 0 -", "1 assigned t 0 4"]
)
def test_line_that_is_invalid(line: str) -> None:
    with pytest.raises(ValueError):
        list(parse([line]))
