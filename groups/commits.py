"""The committed offsets of a topic's partitions in columns: a group has a hundred, and a cluster millions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import gt
from typing import NamedTuple, TypeAlias

from groups.model import NOTHING_COMMITTED, CommittedOffset, Offsets, TopicPartition

Numbers: TypeAlias = Sequence[int | None]


class CommittedColumns(NamedTuple):
    """The commits of some partitions, in their order; None where there is none, or where it is not known."""

    positions: Numbers
    lags: Numbers
    leader_epochs: Numbers
    metadata: Sequence[str | None]
    timestamps: Numbers


class TopicCommits(Mapping[int, CommittedOffset]):
    """TopicCommits by ascending partition, as brokers answer them: an object is made when it is asked for. Equal to a
    dictionary of these. An offset may be -1; epochs are at least -1."""

    __slots__ = ("_at", "_epochs", "_metadata", "_numbers", "_offsets")

    def __init__(
        self, numbers: Sequence[int], offsets: Sequence[int], epochs: Sequence[int], metadata: Sequence[str]
    ) -> None:
        if any(map(gt, numbers, numbers[1:])):  # Brokers answer in the order of a Java map
            order = sorted(range(len(numbers)), key=numbers.__getitem__)
            numbers, offsets, epochs = ([column[at] for at in order] for column in (numbers, offsets, epochs))
            metadata = [metadata[at] for at in order]
        self._numbers, self._offsets, self._epochs, self._metadata = numbers, offsets, epochs, metadata
        self._at: dict[int, int] | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __getitem__(self, number: int) -> CommittedOffset:
        if self._at is None:
            self._at = {of: at for at, of in enumerate(self._numbers)}
        at = self._at[number]
        epoch = self._epochs[at]
        return CommittedOffset(
            offset=self._offsets[at],
            leader_epoch=None if epoch < 0 else epoch,
            metadata=self._metadata[at],
        )

    def __repr__(self) -> str:
        return repr(dict(self))

    def columns(self) -> CommittedColumns:
        """All commits, in the order of the mapping."""
        unknown = (None,) * len(self)
        return CommittedColumns(
            positions=[None if offset == NOTHING_COMMITTED else offset for offset in self._offsets],
            lags=unknown,
            leader_epochs=[None if epoch < 0 else epoch for epoch in self._epochs],
            metadata=self._metadata,
            timestamps=unknown,
        )


def unreadable(offsets: Offsets) -> set[TopicPartition]:
    """The partitions whose committed offsets could not be read."""
    return {
        (topic, number)
        for topic, commits in offsets.items()
        if not isinstance(commits, TopicCommits)
        for number, commit in commits.items()
        if commit.offset is None
    }


_NOTHING = CommittedOffset(offset=None)


def commit_columns(committed: Mapping[int, CommittedOffset], numbers: Sequence[int]) -> CommittedColumns:
    """The commits of some partitions in columns."""
    if isinstance(committed, TopicCommits) and [*committed] == [*numbers]:
        return committed.columns()
    commits = [committed.get(number, _NOTHING) for number in numbers]
    return CommittedColumns(
        positions=[commit.position for commit in commits],
        lags=[commit.lag for commit in commits],
        leader_epochs=[commit.leader_epoch for commit in commits],
        metadata=[commit.metadata for commit in commits],
        timestamps=[commit.timestamp for commit in commits],
    )
