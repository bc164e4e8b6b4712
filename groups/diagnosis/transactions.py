"""Rules about open transactions, for whose end `read_committed` consumers and readers of pending offsets wait."""

from collections.abc import Iterator

from groups.counts import counted
from groups.diagnosis.case import (
    DiagnosisCase,
    Need,
    all_names,
    error,
    names,
    note,
    rule,
    waits_for_transaction,
    warning,
)
from groups.diagnosis.lag import has_offsets, is_consuming
from groups.findings import Evidence, Finding
from groups.model import OpenTransaction, PendingOffsets, TopicPartition, log_of
from groups.times import duration_text, format_moment
from groups.transactions import how_to_end, oldest, pending_remedy, pending_text, producer_of


@rule(
    "open-transaction",
    source="KIP-664, Provide tooling to detect and abort hanging transactions",
    needs=(Need.TRANSACTIONS,),
    applies=is_consuming,
)
def open_transaction(case: DiagnosisCase) -> Iterator[Finding]:
    """The oldest: an error beyond the threshold, a warning if records came all the time, else a note."""
    held = {
        partition: transactions[0]
        for partition, transactions in (case.last.transactions or {}).items()
        if transactions and waits_for_transaction(case, partition)
    }
    if not held:
        return
    partition = min(held, key=lambda candidate: (held[candidate].since_ms, candidate))
    one = held[partition]
    open_ms = case.last.at_ms - one.since_ms
    came = sum(_came(case, candidate) for candidate in held)
    level = error if open_ms >= case.thresholds.transaction_ms else warning if came else note
    producer = producer_of(one)
    produced = f"{counted(came, 'record')} {'was' if came == 1 else 'were'} produced there"
    meanwhile = f"; {produced} in {duration_text(case.seen_ms)}" if came else ""
    yield level(
        message=f"{producer[0].upper()}{producer[1:]}{',' if one.transactional_id is None else ''} has had a "
        f"transaction open for {duration_text(open_ms)}. Consumers with isolation.level=read_committed wait for its "
        f"end in {names(held)}{meanwhile}.",
        remedy=how_to_end(partition, one),
        since_ms=one.since_ms,
        evidence={"partitions": all_names(held), **_evidence(one), "produced": came},
    )


def _came(case: DiagnosisCase, partition: TopicPartition) -> int:
    """The number of records produced in all observations, if the last stable offset did not move; else 0."""
    first, last = log_of(case.first_topics, partition), log_of(case.topics, partition)
    if first.stable is None or first.stable != last.stable or first.end is None or last.end is None:
        return 0
    return max(0, last.end - first.end)


def _evidence(one: OpenTransaction) -> Evidence:
    return {
        "transactional_id": one.transactional_id,
        "producer_id": one.producer_id,
        "producer_epoch": one.producer_epoch,
        "state": one.state,
        "start_offset": one.start_offset,
        "timeout_ms": one.timeout_ms,
        "last_write": None if one.last_write_ms is None else format_moment(one.last_write_ms),
    }


@rule("pending-offsets", source="KIP-447, UNSTABLE_OFFSET_COMMIT", needs=(Need.PENDING,), applies=has_offsets)
def pending_offsets(case: DiagnosisCase) -> Iterator[Finding]:
    """An error beyond the threshold; a warning if they were pending at the first and last observation; else a note."""
    known = [group.pending for _, group in case.seen if group.pending is not None]
    pending = known[-1] if known else PendingOffsets()
    if not pending.places:
        return
    one = oldest(pending)
    since_ms = None if one is None else one.since_ms
    open_ms = 0 if since_ms is None else case.last.at_ms - since_ms
    is_same = since_ms is None or since_ms <= case.observations[0].at_ms
    stays = len(known) > 1 and is_same and bool(known[0].places & pending.places)
    level = error if open_ms >= case.thresholds.transaction_ms else warning if stays else note
    yield level(
        message=pending_text(pending, case.last.at_ms),
        remedy=pending_remedy(pending),
        since_ms=since_ms,
        evidence={"partitions": all_names(pending.places), **({} if one is None else _evidence(one))},
    )


@rule("aborted-records", source="KIP-98, Aborted transactions", applies=has_offsets)
def aborted_records(case: DiagnosisCase) -> Iterator[Finding]:
    """Lag that consumers with `read_committed` never read; brokers do not show the isolation level of consumers."""
    after = {
        partition: record
        for partition, record in case.last.next_records.items()
        if record.offset is None and record.aborted and partition not in case.pending
    }
    if not after:
        return
    count = sum(record.aborted for record in after.values())
    limited = [partition for partition, record in after.items() if record.is_unknown]
    least = "at least " if limited else ""
    if len(limited) == len(after):
        end = "Whether other records follow them is not known: the search ended at its limit."
    else:
        end = "Consumers with isolation.level=read_committed have nothing to read there." + (
            f" Not known for {names(limited)}: the search ended at its limit." if limited else ""
        )
    yield note(
        message=f"After the committed offset there {'is' if count == 1 else 'are'} only "
        f"{least}{counted(count, 'record')} of aborted transactions in {names(after)}. {end}",
        remedy="None for read_committed; lag in records includes them until the next commit. Consumers with "
        "read_uncommitted get these records: if they do not commit, they are stalled.",
        evidence={"partitions": all_names(after), "aborted": count},
    )
