"""Records around a group's committed offset, and sentences about what is there instead of a record."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from cli.errors import CommandError
from cli.output import notice
from cli.selection import with_close_names
from cli.sources.live_answers import READING_RECORDS, problem_of
from cli.sources.permissions import cause_of, ending, with_missing_operations
from cli.sources.source import Source
from cli.sources.wire_source import records_of
from cli.verbs.offsets.facts import PartitionCounts
from cli.verbs.peek.options import PeekOptions
from groups.counts import counted
from groups.model import (
    Group,
    OpenTransaction,
    Problem,
    TopicPartition,
    commit_of,
    partition_name,
)
from groups.offsets.model import TopicScope
from groups.transactions import how_to_end, pending_text, producer_of
from wire.client.offsets import EARLIEST, LAST_STABLE, LATEST, offsets_at
from wire.client.records_around import (
    BatchedRecord,
    RecordsAround,
    RecordsRequest,
    TransactionEnd,
    records_around,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeekedRecords:
    """What was read around `offset`. `committed`: the group's offset; None if there is none. `opened`: the partition's
    open transactions, first ones first; None if they are not known, or no reader waits for one."""

    group: str
    partition: TopicPartition
    options: PeekOptions
    offset: int
    committed: int | None
    log_start: int
    last_stable: int
    log_end: int
    around: RecordsAround
    opened: tuple[OpenTransaction, ...] | None
    problems: tuple[Problem, ...]

    @property
    def records(self) -> tuple[BatchedRecord, ...]:
        return (*self.around.before, *self.around.after)

    @property
    def next_record(self) -> BatchedRecord | None:
        """The record that the group reads next; None if reading did not start there."""
        return self.around.after[0] if self.around.after and self.offset == self.committed else None

    def transaction_of(self, stored: BatchedRecord) -> str | None:
        """`committed`, `aborted`, `open`, or `ended` if only that is known. None: no transaction, or not known."""
        if stored.transaction is not TransactionEnd.UNDECIDED:
            return stored.transaction and stored.transaction.value
        if self.opened is None:
            return None
        is_open = any(
            one.producer_id == stored.batch.producer_id and one.start_offset <= stored.record.offset
            for one in self.opened
        )
        return "open" if is_open else "ended"

    def remarks(self) -> Iterator[str]:
        """What is there instead of the requested records from the offset on."""
        around, where = self.around, partition_name(self.partition)
        first = around.after[0].record.offset if around.after else None
        if around.aborted:
            skipped = counted(around.aborted, "record")
            yield f"{where}: {skipped} of aborted transactions after {self.offset} skipped; --uncommitted shows them"
        elif first is not None and first > self.offset >= self.log_start:
            yield (
                f"{where}: there is no record at {self.offset}, which compaction removed or which is the end of a "
                f"transaction; the next one is at {first}"
            )
        if around.limit_at is not None and around.limit_at < self.log_end:
            yield f"{where}: reading ended at its limit; --offset {around.limit_at} continues"
        elif self.problems or len(around.after) >= self.options.records:
            return
        elif around.waits_at is not None and not self.options.uncommitted:
            yield f"{where}: {self._waiting(around.waits_at)}. --uncommitted shows the records that follow"
        elif self.offset == self.committed == self.log_end:
            yield f"{where}: {self.group} has read everything: its committed offset {self.offset} is the log end"
        else:
            yield f"{where}: no more records: the log ends at {self.log_end}"

    def _waiting(self, offset: int) -> str:
        """Why consumers of committed records wait at an offset."""
        text = f"consumers with isolation.level=read_committed wait at {offset} for the end of an open transaction"
        if not self.opened:
            return text
        how = how_to_end(self.partition, self.opened[0]).removesuffix(".")
        return f"{text}, that of {producer_of(self.opened[0])}. {how}"


def read_records(source: Source, name: str, partition: TopicPartition, options: PeekOptions) -> PeekedRecords:
    """Raises CommandError: the group, the partition or an offset to start at does not exist, or cannot be read."""
    client, where = records_of(source, "to show; use a live cluster"), partition_name(partition)
    group = _described(source, name)
    commit = commit_of(group.offsets, partition)
    committed = None if commit is None else commit.position
    if group.pending is not None and partition in group.pending.places:
        notice(f"{name}: {pending_text(group.pending, time.time_ns() // 1_000_000)}")
    counts = PartitionCounts(source)
    _, missing = counts.of([TopicScope(partition[0], (partition[1],))])
    for problem in (*counts.problems, *missing):
        raise ending(problem)
    offset = committed if options.offset is None else options.offset
    if offset is None:
        raise CommandError(f"{name}: no offset is committed for {where}; --offset N shows a record there")
    answers = offsets_at(client, [partition], [EARLIEST, LAST_STABLE, LATEST])
    for failure in answers.failed.values():
        raise ending(problem_of(where, failure))
    start, stable, end = answers.found[partition]
    problems = [Problem(subject=where, message=why) for why in _outside(offset, start, end)]
    around = RecordsAround()
    if offset <= end:
        request = RecordsRequest(
            offset=max(offset, start),
            before=options.back,
            after=options.records,
            skips_aborted=not options.uncommitted,
            skips_undecided=not options.uncommitted,
        )
        read = records_around(client, {partition: request})
        around = read.found.get(partition, around)
        failed = read.failed.get(partition) or around.failure
        if failed is not None:
            why = with_missing_operations(failed.name, failed.message, READING_RECORDS)
            problems.append(Problem(subject=where, message=why, cause=cause_of(failed.name)))
        if not read.found:
            raise ending(problems[-1])
    waits = around.waits_at is not None
    opened = source.open_transactions([partition]).by_partition.get(partition) if waits else None
    return PeekedRecords(
        group=name,
        partition=partition,
        options=options,
        offset=offset,
        committed=committed,
        log_start=start,
        last_stable=stable,
        log_end=end,
        around=around,
        opened=opened,
        problems=tuple(problems),
    )


def _described(source: Source, name: str) -> Group:
    read = source.describe([name], offsets=True)
    if not read.items:
        raise ending(with_close_names(source, read.problems)[0])
    for problem in read.problems:
        notice(f"{problem.subject}: {problem.message}")
    return read.items[0]


def _outside(offset: int, start: int, end: int) -> Iterator[str]:
    """Why there is no record at an offset outside of the log."""
    then = "A consumer that starts there follows auto.offset.reset."
    if offset < start:
        yield f"offset {offset} is below the log start: its record was deleted, as were all before {start}. {then}"
    if offset > end:
        why = "the topic was deleted and created again, or its log was truncated"
        yield f"offset {offset} is above the log end, {end}: {why}. {then}"
