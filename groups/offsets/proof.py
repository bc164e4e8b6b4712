"""The position of the first unread record in a copy of a partition, proved by the records around it.

Theory of operation. A source window contains the last records that a group has read and the first that it has not; a
target window contains the records of the copy around the time of the first unread record. Two records are the same if
key, value, headers (the copy may have more) and time agree; times that a broker set are not compared. A *cut* in the
target is right if the record before it is the last read record and the record after it the first unread record. If
several cuts fit, the cut with most agreeing records around it is used; if several have most, none is proved.

Compaction, retention and transactions remove records from one side only. A cut is then still proved if the record
before it has been read, the record after it has not, and a gap in the offsets explains the records between them.
An offset that is not proved never skips a record that is known to be unread.

`plan_cluster_copy` makes the proved offsets the commits of a group of another cluster.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from groups.model import Group, GroupType, Problem, TopicPartition, commit_of, partition_name
from groups.offsets.model import GroupChange, OffsetChange, Positions
from groups.offsets.plan import refusals
from wire.log.log_records import RecordDigest, RecordWindow

Matches = Sequence[frozenset[int]]  # per record of the target, the indices of the same ones in the source


class ProofVerdict(Enum):
    """Whether the offset in the target is proved to correspond to the source's, or why not."""

    PROVED = "proved"
    SEVERAL = "several match"  # records repeat, so that several offsets may be right
    BEHIND = "target is behind"  # the copy ends before the last record that the group has read
    MISSING = "records missing"  # Unread records are not in the copy
    SAME_TIME = "same time only"
    DIFFERS = "differs"
    EMPTY = "target empty"
    NOTHING = "nothing to compare"  # the source has no record around the offset any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    verdict: ProofVerdict
    offset: int
    records: int = 0  # the number of agreeing records on both sides of the offset, without a gap
    twice: int | None = None  # the number of records that would be read a second time; None: not known
    skipped: int | None = None  # the number of unread records that would never be read; None: not known
    remark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLog:
    """The copy's log: its start, its end, and the first offset at or after the key record's time (-1: none)."""

    earliest: int
    end: int
    at_time: int


def key_record(source: RecordWindow) -> RecordDigest | None:
    """The record by whose time the target is searched: the first unread record, else the last read one."""
    return (*source.after[:1], *source.before[-1:], None)[0]


def prove(
    source: RecordWindow, target: RecordWindow, log: TargetLog, *, offset: int, is_whole: bool = True
) -> Proof:
    """Find `offset` in the target, whose window is around `key_record`'s time; `is_whole`: the source's has no gaps."""
    key = key_record(source)
    records = (*target.before, *target.after)
    if not records and target.from_start and target.to_end:
        if key is not None:
            return Proof(verdict=ProofVerdict.EMPTY, offset=log.end)
        if offset == 0:
            return Proof(
                verdict=ProofVerdict.PROVED, offset=log.end, twice=0, skipped=0, remark="both logs are empty"
            )
        return Proof(verdict=ProofVerdict.NOTHING, offset=log.end, remark="neither log has a record")
    if key is None:
        remark = "the source has no record there; starts at the earliest record of the target"
        return Proof(verdict=ProofVerdict.NOTHING, offset=log.earliest, skipped=0, remark=remark)
    matches = _matches(source, records)
    if offset == 0 and target.from_start and 0 in matches[0]:
        agreeing = sum(index in indices for index, indices in enumerate(matches[: len(source.after)]))
        return Proof(
            verdict=ProofVerdict.PROVED, offset=records[0].offset, records=agreeing, twice=0, skipped=0
        )
    return (
        _by_neighbors(source, target, matches, log)
        or _by_sides(source, target, matches, log, is_whole=is_whole)
        or _by_time(key, target, log)
    )


def merged(window: RecordWindow, others: Iterable[RecordWindow], offset: int) -> RecordWindow:
    """One window around the offset with the records of all windows; records between the windows may be missing."""
    several = (window, *others)
    records = {record.offset: record for one in several for record in (*one.before, *one.after)}
    ordered = [records[position] for position in sorted(records)]
    return RecordWindow(
        before=tuple(record for record in ordered if record.offset < offset),
        after=tuple(record for record in ordered if record.offset >= offset),
        from_start=any(one.from_start for one in several),
        to_end=any(one.to_end for one in several),
    )


def near_time(target: RecordWindow, log: TargetLog) -> tuple[RecordDigest | None, RecordDigest | None]:
    """The records of the copy immediately before, and at or after, the offset `at_time`."""
    records = (*target.before, *target.after)
    earlier = [record for record in records if log.at_time < 0 or record.offset < log.at_time]
    later = records[len(earlier) :]
    return (earlier[-1] if earlier else None), (later[0] if later else None)


def same(original: RecordDigest, copy: RecordDigest) -> bool:
    """Whether `copy` may be a copy of a record; it must have all headers of the original, in the same order."""
    timed = not original.is_append_time and not copy.is_append_time
    if timed and original.timestamp_ms != copy.timestamp_ms:
        return False
    rest, content = iter(copy.headers), (copy.key, copy.value)
    return (original.key, original.value) == content and all(header in rest for header in original.headers)


def _matches(source: RecordWindow, copies: Sequence[RecordDigest]) -> list[frozenset[int]]:
    originals = (*source.before, *source.after)
    alike: dict[tuple[object, ...], list[int]] = {}
    for index, original in enumerate(originals):
        content = original.key, original.value
        alike.setdefault(content, []).append(index)
        time = None if original.is_append_time else original.timestamp_ms
        alike.setdefault((*content, time), []).append(index)

    def matching(copy: RecordDigest) -> frozenset[int]:
        content = copy.key, copy.value
        timed = (*alike.get((*content, copy.timestamp_ms), ()), *alike.get((*content, None), ()))
        candidates = alike.get(content, ()) if copy.is_append_time else timed
        return frozenset(index for index in candidates if same(originals[index], copy))

    return [matching(copy) for copy in copies]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A cut in the target before the record `index`, with the numbers of agreeing records before and after it."""

    index: int
    back: int
    forth: int

    @property
    def records(self) -> int:
        return self.back + self.forth


def _by_neighbors(source: RecordWindow, copy: RecordWindow, matches: Matches, log: TargetLog) -> Proof | None:
    """The cut with the last read record immediately before it and the first unread record immediately after it."""
    read, all_read = len(source.before), not source.after and source.to_end

    def good(cut: _Cut) -> bool:
        before = cut.back or not read or (cut.index == 0 and copy.from_start)
        after = cut.forth or all_read or (cut.index == len(matches) and copy.to_end)
        return bool(before and after)

    cuts = [cut for cut in _cuts(read, matches) if good(cut)]
    if not cuts:
        return None
    most = max(cut.records for cut in cuts)
    best = [cut for cut in cuts if cut.records == most]
    cut = best[0]
    if not (
        len(best) == 1
        and _is_distinct(cut, (*source.before, *source.after), read)
        and _is_consistent(cut, matches, read)
    ):
        unread = (index for index, indices in enumerate(matches) if indices and min(indices) >= read)
        index = min(cut.index, next(unread, cut.index))
        return Proof(verdict=ProofVerdict.SEVERAL, offset=_offset_at(index, copy, log), records=cut.records)
    is_last = cut.index == len(matches)
    return Proof(
        verdict=ProofVerdict.PROVED,
        offset=_offset_at(cut.index, copy, log),
        records=cut.records,
        twice=0,
        skipped=0,
        remark="the first unread record is not in the target yet" if is_last and source.after else None,
    )


def _cuts(read: int, matches: Matches) -> Iterator[_Cut]:
    for index in range(len(matches) + 1):
        back = forth = 0
        while back < min(index, read) and read - 1 - back in matches[index - 1 - back]:
            back += 1
        while index + forth < len(matches) and read + forth in matches[index + forth]:
            forth += 1
        if back or forth:
            yield _Cut(index=index, back=back, forth=forth)


def _is_distinct(cut: _Cut, originals: Sequence[RecordDigest], read: int) -> bool:
    """Whether the agreeing records are unique: no shift by some places matches at least half of them."""
    run = range(read - cut.back, read + cut.forth)
    for shift in range(1 - len(originals), len(originals)):
        shifted = range(max(run.start, -shift), min(run.stop, len(originals) - shift))
        is_long = shift != 0 and 2 * len(shifted) >= len(run)
        if is_long and all(same(originals[index], originals[index + shift]) for index in shifted):
            return False
    return True


def _is_consistent(cut: _Cut, matches: Matches, read: int) -> bool:
    before: set[int] = set().union(*matches[: cut.index])
    after: set[int] = set().union(*matches[cut.index :])
    return all(index < read for index in before - after) and all(index >= read for index in after - before)


def _offset_at(index: int, target: RecordWindow, log: TargetLog) -> int:
    """The offset of a record in the window; after the last record, the end of the log or the next offset."""
    records = (*target.before, *target.after)
    if index < len(records):
        return records[index].offset
    return log.end if target.to_end or not records else records[-1].offset + 1


def _by_sides(
    source: RecordWindow, target: RecordWindow, matches: Matches, log: TargetLog, *, is_whole: bool
) -> Proof | None:
    """The cut between the last read and the first unread record; other records may be in one of the logs only."""
    read = len(source.before)
    known = [(index, indices) for index, indices in enumerate(matches) if indices]
    last = max((index for index, indices in known if max(indices) < read), default=None)
    first = min((index for index, indices in known if min(indices) >= read), default=None)
    if last is not None and first is not None:
        between = matches[last + 1 : first]
        if last > first or any(between):
            return None
        proof = _between(source, target, matches, last, first)
        return proof if is_whole else replace(proof, skipped=0 if proof.skipped == 0 else None)
    if last is not None and target.to_end:
        lacking = read - 1 - max(matches[last])
        ended = last == len(matches) - 1
        return Proof(
            verdict=ProofVerdict.BEHIND if ended else ProofVerdict.DIFFERS,
            offset=log.end if ended else _offset_at(last + 1, target, log),
            twice=lacking if ended and is_whole else None,
            skipped=0,
        )
    if first == 0 and target.from_start:
        return Proof(
            verdict=ProofVerdict.MISSING,
            offset=_offset_at(0, target, log),
            twice=0,
            skipped=min(matches[0]) - read if is_whole else None,
            remark="the target starts after the first unread record",
        )
    return None


def _between(source: RecordWindow, target: RecordWindow, matches: Matches, last: int, first: int) -> Proof:
    """The proof for a cut with records of one side only; a gap in the other side's offsets must explain them."""
    originals, copies = (*source.before, *source.after), (*target.before, *target.after)
    before, after = max(matches[last]), min(matches[first])
    extra, missing = first - last - 1, after - len(source.before)
    gap_in_source = originals[after].offset - originals[before].offset > after - before
    gap_in_target = copies[first].offset - copies[last].offset > first - last
    remarks = []
    if extra:
        remarks.append(f"{extra} records there are only in the target; they will be read")
    if missing:
        remarks.append("unread records of the source are not in the target")
    if not extra and not missing:
        remarks.append("records before it are in one of the two logs only")
    explained = (not extra or gap_in_source) and (not missing or gap_in_target)
    failed = ProofVerdict.MISSING if missing else ProofVerdict.DIFFERS
    return Proof(
        verdict=ProofVerdict.PROVED if explained else failed,
        offset=copies[last].offset + 1 if extra else copies[first].offset,
        records=2,
        twice=0,
        skipped=missing,
        remark="; ".join(remarks),
    )


def _by_time(key: RecordDigest, target: RecordWindow, log: TargetLog) -> Proof:
    copies = (*target.before, *target.after)
    # A time that a broker set differs from the time of the same record in the other log.
    timed = not key.is_append_time and not any(copy.is_append_time for copy in copies)
    if log.at_time < 0 and timed:
        remark = "the target has no record of that time or later; this offset is its end"
        return Proof(verdict=ProofVerdict.BEHIND, offset=log.end, remark=remark)
    at_time = log.end if log.at_time < 0 else log.at_time
    there = next((copy for copy in copies if copy.offset >= at_time), None)
    alike = timed and there is not None and there.timestamp_ms == key.timestamp_ms
    remarks = [] if timed else ["brokers set the times, so the offset may differ"]
    if not target.to_end or (not timed and not target.from_start):
        remarks.append(f"not found among the {len(copies)} records that were read; --search reads more")
    return Proof(
        verdict=ProofVerdict.SAME_TIME if alike else ProofVerdict.DIFFERS,
        offset=at_time,
        remark="; ".join(remarks) or None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicNames:
    """The target's names of the source's topics: the same, or with a prefix, as MirrorMaker 2 copies them."""

    prefix: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)

    def in_target(self, partition: TopicPartition) -> TopicPartition:
        topic, number = partition
        return self.renamed.get(topic, f"{self.prefix}{topic}"), number

    def collisions(self, topics: Iterable[str]) -> list[tuple[str, str, str]]:
        """Pairs of topics that would have the same name in the target, with that name."""
        first: dict[str, str] = {}
        pairs = []
        for topic in sorted(set(topics)):
            copy, _ = self.in_target((topic, 0))
            other = first.setdefault(copy, topic)
            if other != topic:
                pairs.append((other, topic, copy))
        return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedOffset(OffsetChange):
    """A new offset in the target, with the source offset to which it corresponds."""

    source_topic: str
    source_offset: int
    time_ms: int | None  # of the source's first unread record, else its last one; None if unknown
    proof: Proof


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedOffset:
    proof: Proof
    time_ms: int | None
    lost: int = 0  # the number of unread records that are no longer in the source's log


def plan_cluster_copy(
    original: Group,
    target: Group,
    proved: Mapping[TopicPartition, ProvedOffset],
    names: TopicNames,
    positions: Positions,
    *,
    unproved: bool,
    exists: bool,
    refused: Sequence[Problem] = (),
    problems: Sequence[Problem] = (),
) -> GroupChange:
    """Plan the commits in the target; `unproved` allows offsets that are not proved, `refused` are other reasons."""
    changes: list[OffsetChange] = []
    refused = [*refusals(target), *refused]
    if target.type is GroupType.SHARE:
        message = (
            "it is a share group, which has start offsets instead of committed ones (offsets reset sets them)"
        )
        refused.append(Problem(subject=target.id, message=message))
    for source, result in proved.items():
        committed, proof = (original.offsets or {})[source[0]][source[1]], result.proof
        copy = topic, partition = names.in_target(source)
        before = commit_of(target.offsets, copy)
        lost = f"{result.lost} unread records are no longer in the source" if result.lost else None
        changes.append(
            CopiedOffset(
                topic=topic,
                partition=partition,
                before=None if before is None else before.offset,
                after=proof.offset,
                earliest=positions.earliest.get(copy),
                end=positions.end.get(copy),
                metadata=committed.metadata or "",
                remark="; ".join(filter(None, (proof.remark, lost))) or None,
                source_topic=source[0],
                source_offset=committed.offset or 0,
                time_ms=result.time_ms,
                proof=proof,
            )
        )
        if proof.verdict is not ProofVerdict.PROVED and not unproved:
            message = (
                f"the new offset is not proved ({proof.verdict.value}); --unproved sets it anyway, --topic skips the "
                "partition"
            )
            refused.append(Problem(subject=f"{target.id}, {partition_name(copy)}", message=message))
    return GroupChange(
        described=target,
        exists=exists,
        changes=tuple(changes),
        refusals=tuple(refused),
        problems=tuple(problems),
    )
