"""Committed offsets in a snapshot, those of up to ten partitions in a text: `20: 13 26@4 39` has the offsets of the
partitions 20, 21 and 22 of a topic. That of 21 has the leader epoch 4, and none has metadata; a commit of which more is
known is a mapping."""

from array import array
from collections.abc import Callable, Mapping

from groups.commits import TopicCommits
from groups.model import CommittedOffset, PartitionOffsets
from groups.trees import INT32, Malformed, Partition, PartitionNumbers, Read, Trees, Write, shown

FEWEST = 9  # commits that fit in texts; fewer are mappings, as in the first version of the file
PER_LINE = 10
_EXPECTED = "expected offsets such as 13 or '13 26@4', where 4 is the leader epoch, or a mapping with offset"
_TREES = Trees(sparse=True)


def _writer(write_mappings: Write) -> Write:
    def write(commits: PartitionOffsets) -> object:
        texts = texts_of(commits)
        if not texts:
            return write_mappings(commits)
        numbers = sorted(commits)
        written: dict[int, object] = {}
        end = 0
        while (at := end) < len(numbers):
            first = numbers[at]
            end = min(at + PER_LINE - first % PER_LINE, len(numbers))
            while end > at + 1 and (numbers[end - 1] - first != end - 1 - at or None in texts[at:end]):
                end -= 1
            line = " ".join(filter(None, texts[at:end]))
            written[first] = line or _TREES.write(CommittedOffset, commits[first])
        return written

    return write


def texts_of(commits: PartitionOffsets) -> list[str | None]:
    """The text of each commit by partition, None if more is known of it; none at all if these would be few."""
    if len(commits) < FEWEST:
        return []
    if not isinstance(commits, TopicCommits) or commits.timed:
        texts = [_text(commits[number]) for number in sorted(commits)]
    else:
        _, _, epochs, metadata, _ = commits.columns()
        texts = [
            None if note else str(offset) if epoch is None else f"{offset}@{epoch}"
            for offset, epoch, note in zip(commits.offsets, epochs, metadata, strict=True)
        ]
    return texts if len(texts) - texts.count(None) >= FEWEST else []


def _text(commit: CommittedOffset) -> str | None:
    more = (commit.timestamp, commit.lag, commit.topic_id)
    if commit.offset is None or commit.leader_epoch == -1 or commit.metadata != "" or more != (None,) * 3:
        return None
    return str(commit.offset) if commit.leader_epoch is None else f"{commit.offset}@{commit.leader_epoch}"


def _reader(read_mappings: Read) -> Read:
    def read(value: object) -> object:
        entries = value if isinstance(value, dict) else {}
        lines = {name: line for name, line in entries.items() if type(line) in (str, int)}
        if not lines:
            return read_mappings(value)
        commits = _commits(lines)
        if len(lines) == len(entries):
            return commits
        mappings = read_mappings({name: entry for name, entry in entries.items() if name not in lines})
        _TREES.read(PartitionNumbers, [*commits, *mappings])
        return dict(sorted({**commits, **mappings}.items()))

    return read


def _commits(lines: Mapping[object, str | int]) -> TopicCommits:
    numbers: list[int] = []
    offsets, epochs = array("q"), array("i")
    for first, line in _TREES.read(Mapping[Partition, int | str], lines).items():
        try:
            words = str(line).split()
            marked = [word.partition("@") for word in words] if "@" in str(line) else ()
            given = [int(epoch) if mark else -1 for _, mark, epoch in marked]
            offsets.extend(map(int, [offset for offset, _, _ in marked] or words))
            epochs.extend(given or (-1,) * len(words))
            if not words or first + len(words) - 1 > INT32 or min(given, default=0) < -1:
                raise ValueError
        except (ValueError, OverflowError):
            raise Malformed(f"{_EXPECTED}; found {shown(line)}", str(first)) from None
        numbers.extend(range(first, first + len(words)))
    contiguous = range(numbers[0], numbers[0] + len(numbers))
    if numbers == [*contiguous]:
        return TopicCommits(contiguous, offsets, epochs, ("",) * len(numbers))
    _TREES.read(PartitionNumbers, numbers)  # refuses a number that is listed twice
    return TopicCommits(numbers, offsets, epochs, ("",) * len(numbers))


READERS: Mapping[object, Callable[[Read], Read]] = {PartitionOffsets: _reader}
WRITERS: Mapping[object, Callable[[Write], Write]] = {PartitionOffsets: _writer}
