"""Committed offsets in a snapshot, those of up to ten partitions in a text: `20: 13 26@4 39` has the offsets of the
partitions 20, 21 and 22 of a topic. That of 21 has the leader epoch 4, and none has metadata; a commit of which more is
known is a mapping."""

from array import array
from collections.abc import Mapping, Sequence
from itertools import pairwise

from groups.commits import TopicCommits
from groups.model import CommittedOffset
from groups.trees import INT32, Malformed, Partition, Read, Trees, Write, shown

FEWEST = 9  # commits that fit in texts; fewer are mappings, as in the first version of the file
PER_LINE = 10
_EXPECTED = "expected offsets such as 13 or '13 26@4', where 4 is the leader epoch, or a mapping with offset"
_TREES = Trees(sparse=True)


def are_in_lines(commits: Mapping[int, CommittedOffset]) -> bool:
    """Whether offsets of a topic are written as texts."""
    return len(commits) >= FEWEST and _are_enough(_words(commits))


def lines_writer(write_mappings: Write) -> Write:
    """Writes the commits of a topic."""

    def write(commits: Mapping[int, CommittedOffset]) -> object:
        words: Sequence[str | None] = _words(commits) if len(commits) >= FEWEST else ()
        if not _are_enough(words):
            return write_mappings(commits)
        numbers: Sequence[int] = [*commits]
        if numbers != sorted(numbers):
            numbers, words = zip(*sorted(zip(numbers, words, strict=True)), strict=True)
        written: dict[int, object] = {}
        end = 0
        while (at := end) < len(numbers):
            first = numbers[at]
            end = min(at + PER_LINE - first % PER_LINE, len(numbers))
            while end > at + 1 and (numbers[end - 1] - first != end - 1 - at or None in words[at:end]):
                end -= 1
            text = " ".join(filter(None, words[at:end]))
            written[first] = text or _TREES.write(CommittedOffset, commits[first])
        return written

    return write


def _are_enough(words: Sequence[str | None]) -> bool:
    return len(words) - words.count(None) >= FEWEST


def _words(commits: Mapping[int, CommittedOffset]) -> list[str | None]:
    """The text of each commit; None if more is known of it."""
    if not isinstance(commits, TopicCommits) or commits.timed:
        return [_word(commit) for commit in commits.values()]
    _, offsets = commits.offsets()
    _, _, epochs, metadata, _ = commits.columns()
    return [
        None if note else str(offset) if epoch is None else f"{offset}@{epoch}"
        for offset, epoch, note in zip(offsets, epochs, metadata, strict=True)
    ]


def _word(commit: CommittedOffset) -> str | None:
    more = (commit.timestamp, commit.lag, commit.topic_id)
    if commit.offset is None or commit.leader_epoch == -1 or commit.metadata != "" or more != (None,) * 3:
        return None
    return str(commit.offset) if commit.leader_epoch is None else f"{commit.offset}@{commit.leader_epoch}"


def lines_reader(read_mappings: Read) -> Read:
    """Reads the commits of a topic."""

    def read(value: object) -> Mapping[int, CommittedOffset]:
        entries = value if isinstance(value, dict) else {}
        lines = {name: line for name, line in entries.items() if type(line) in (str, int)}
        if not lines:
            mappings: Mapping[int, CommittedOffset] = read_mappings(value)
            return mappings
        commits = _commits(lines)
        if len(lines) == len(entries):
            return commits
        mappings = read_mappings({name: entry for name, entry in entries.items() if name not in lines})
        _refuse_repeated([*commits, *mappings])
        return dict(sorted({**commits, **mappings}.items()))

    return read


def _commits(lines: Mapping[object, str | int]) -> TopicCommits:
    numbers: list[int] = []
    offsets, epochs = array("q"), array("i")
    for name, line in lines.items():
        try:
            first: int = _TREES.read(Partition, name)
            words = str(line).split()
            marked = [word.partition("@") for word in words] if "@" in str(line) else ()
            given = [int(epoch) if mark else -1 for _, mark, epoch in marked]
            offsets.extend(map(int, [offset for offset, _, _ in marked] or words))
            epochs.extend(given or (-1,) * len(words))
            if not words or first + len(words) - 1 > INT32 or min(given, default=0) < -1:
                raise ValueError
        except Malformed as error:
            raise error.below(str(name)) from None
        except (ValueError, OverflowError):
            raise Malformed(f"{_EXPECTED}; found {shown(line)}", str(name)) from None
        numbers.extend(range(first, first + len(words)))
    contiguous = range(numbers[0], numbers[0] + len(numbers))
    is_contiguous = numbers == [*contiguous]
    if not is_contiguous:
        _refuse_repeated(numbers)
    return TopicCommits(contiguous if is_contiguous else numbers, offsets, epochs, ("",) * len(numbers))


def _refuse_repeated(numbers: Sequence[int]) -> None:
    if len(set(numbers)) != len(numbers):
        twice = next(number for number, following in pairwise(sorted(numbers)) if number == following)
        raise Malformed(f"the offset of partition {twice} is listed twice; list it once")
