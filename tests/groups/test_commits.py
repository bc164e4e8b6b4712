"""Committed offsets in columns are the mapping that they stand for."""

from hypothesis import given
from hypothesis import strategies as st

from groups.commits import TopicCommits, commit_columns
from groups.model import CommittedOffset

ROWS = st.dictionaries(
    st.integers(0, 40),
    st.tuples(st.integers(-1, 2**40), st.integers(-1, 5), st.sampled_from(["", "m"])),
    max_size=30,
)


@given(ROWS, st.lists(st.integers(0, 45), unique=True))
def test_columns_are_a_mapping_by_ascending_partition(
    rows: dict[int, tuple[int, int, str]], asked: list[int]
) -> None:
    offsets, epochs, metadata = ([row[at] for row in rows.values()] for at in range(3))
    commits = TopicCommits([*rows], offsets, epochs, metadata)  # type: ignore[arg-type]
    expected = {
        number: CommittedOffset(offset=offset, leader_epoch=None if epoch < 0 else epoch, metadata=text)
        for number, (offset, epoch, text) in sorted(rows.items())
    }
    assert commits == expected
    assert [*commits.items()] == [*expected.items()]
    assert len(commits) == len(expected)
    assert repr(commits) == repr(expected)
    for numbers in (asked, sorted(rows)):
        assert [[*column] for column in commit_columns(commits, numbers)] == [
            [*column] for column in commit_columns(expected, numbers)
        ]
