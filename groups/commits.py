"""The committed offsets of a topic's partitions in columns: a group has a hundred, and a cluster millions."""

from __future__ import annotations

from bisect import bisect_left
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
    """Commits by ascending partition, as brokers answer them: an object is made when it is asked for. Equal to a
    dictionary of these. An offset may be -1; epochs are at least -1. `timed` has those of whose records more is known,
    with the same offsets."""

    __slots__ = ("_epochs", "_metadata", "numbers", "offsets", "timed")

    def __init__(
        self,
        numbers: Sequence[int],
        offsets: Sequence[int],
        epochs: Sequence[int],
        metadata: Sequence[str],
        timed: Mapping[int, CommittedOffset] | None = None,
    ) -> None:
        if any(map(gt, numbers, numbers[1:])):  # Brokers answer in the order of a Java map
            order = sorted(range(len(numbers)), key=numbers.__getitem__)
            numbers, offsets, epochs = ([column[at] for at in order] for column in (numbers, offsets, epochs))
            metadata = [metadata[at] for at in order]
        self.numbers, self.offsets, self._epochs, self._metadata = numbers, offsets, epochs, metadata
        self.timed = timed or {}

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers)

    def __getitem__(self, number: int) -> CommittedOffset:
        if number in self.timed:
            return self.timed[number]
        at = bisect_left(self.numbers, number)
        if at == len(self) or self.numbers[at] != number:
            raise KeyError(number)
        epoch = self._epochs[at]
        return CommittedOffset(
            offset=self.offsets[at],
            leader_epoch=None if epoch < 0 else epoch,
            metadata=self._metadata[at],
        )

    def __repr__(self) -> str:
        return repr(dict(self))

    def with_times(self, timed: Mapping[int, CommittedOffset]) -> TopicCommits:
        return TopicCommits(self.numbers, self.offsets, self._epochs, self._metadata, {**self.timed, **timed})

    def columns(self) -> CommittedColumns:
        """All commits, in the order of the mapping."""
        unknown, timed = (None,) * len(self), self.timed
        return CommittedColumns(
            positions=[None if offset == NOTHING_COMMITTED else offset for offset in self.offsets],
            lags=unknown,
            leader_epochs=[None if epoch < 0 else epoch for epoch in self._epochs],
            metadata=self._metadata,
            timestamps=[timed[number].timestamp if number in timed else None for number in self.numbers]
            if timed
            else unknown,
        )

    def only(self, numbers: Sequence[int]) -> TopicCommits | None:
        """The commits of ascending partitions; None if it does not have all of them."""
        own = self.numbers
        if [*own] == [*numbers]:
            return self
        order = [at for number in numbers if (at := bisect_left(own, number)) < len(own)]
        if [own[at] for at in order] != [*numbers]:
            return None
        offsets, epochs = ([column[at] for at in order] for column in (self.offsets, self._epochs))
        picked = TopicCommits(numbers, offsets, epochs, [self._metadata[at] for at in order], self.timed)
        return picked if [*picked] == [*numbers] else None


def unreadable(offsets: Offsets) -> list[TopicPartition]:
    """The partitions whose committed offsets could not be read."""
    return [
        (topic, number)
        for topic, commits in offsets.items()
        if not isinstance(commits, TopicCommits)
        for number, commit in commits.items()
        if commit.offset is None
    ]


def timed_commits(offsets: Offsets | None) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
    """The commits of which more may be known than a broker answers: times, topic ids."""
    return (
        ((topic, number), commit)
        for topic, commits in (offsets or {}).items()
        for number, commit in (commits.timed if isinstance(commits, TopicCommits) else commits).items()
    )


def known_offsets(commits: Mapping[int, CommittedOffset]) -> tuple[Sequence[int], Sequence[int]]:
    """The partitions whose committed offsets could be read, and these."""
    if isinstance(commits, TopicCommits):
        return commits.numbers, commits.offsets
    known = {number: commit.offset for number, commit in commits.items() if commit.offset is not None}
    return [*known], [*known.values()]


def with_times(offsets: Offsets, timed: Offsets) -> Offsets:
    """The offsets, with more that is known of some of them."""
    known = dict(offsets)
    for topic, partitions in timed.items():
        commits = known.get(topic, {})
        known[topic] = (
            commits.with_times(partitions) if isinstance(commits, TopicCommits) else {**commits, **partitions}
        )
    return known


_NOTHING = CommittedOffset(offset=None)


def commit_columns(committed: Mapping[int, CommittedOffset], numbers: Sequence[int]) -> CommittedColumns:
    """The commits of some partitions in columns."""
    only = committed.only(numbers) if isinstance(committed, TopicCommits) else None
    if only is not None:
        return only.columns()
    commits = [committed.get(number, _NOTHING) for number in numbers]
    return CommittedColumns(
        positions=[commit.position for commit in commits],
        lags=[commit.lag for commit in commits],
        leader_epochs=[commit.leader_epoch for commit in commits],
        metadata=[commit.metadata for commit in commits],
        timestamps=[commit.timestamp for commit in commits],
    )
