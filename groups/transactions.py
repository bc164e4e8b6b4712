"""Open transactions in words: whose they are, and how to end them."""

from groups.counts import first_names
from groups.model import OpenTransaction, PendingOffsets, partition_name
from groups.times import duration_text, format_moment


def producer_of(transaction: OpenTransaction) -> str:
    if transaction.transactional_id is None:
        return f"producer {transaction.producer_id}, whose transaction no coordinator knows"
    return f"the producer {transaction.transactional_id}"


def how_to_end(where: tuple[str, int], transaction: OpenTransaction) -> str:
    topic, partition = where
    abort = (
        f"`kafka-transactions.sh abort --topic {topic} --partition {partition} "
        f"--start-offset {transaction.start_offset}`. This loses what was written in it"
    )
    if transaction.transactional_id is None:
        return f"Abort it: {abort}."
    return (
        f"Check the application of {transaction.transactional_id}: it must end the transaction; a restart aborts it. "
        f"If the application no longer exists: {abort}."
    )


def pending_text(pending: PendingOffsets, now_ms: int | None = None) -> str:
    """A sentence about offsets in open transactions; empty if there are none. Without a time, it has no durations."""
    partitions = list(map(partition_name, sorted(pending.places)))
    if not partitions:
        return ""
    names = first_names(partitions)
    subject = (
        f"The {'offset' if len(partitions) == 1 else 'offsets'} of {names} {_is(len(partitions))} pending in "
    )
    wait = f"consumers that get {'this partition' if len(partitions) == 1 else 'these partitions'} wait for its end"
    transactions = _transactions(pending)
    if not transactions:
        why = f" ({pending.problem})" if pending.problem else ""
        return f"{subject}an open transaction; {wait}. Its producer is not known{why}."
    since = ", ".join(
        f"{producer_of(transaction)} ({_open_since(transaction, now_ms)})"
        for _, transaction in transactions[:3]
    )
    if len(transactions) == 1:
        return f"{subject}an open transaction of {since}; {wait} (UNSTABLE_OFFSET_COMMIT)."
    more = f" and {len(transactions) - 3} more" if len(transactions) > 3 else ""
    several = f"one or more of {len(transactions)} open transactions, of {since}{more}"
    return f"{subject}{several}; {wait} (UNSTABLE_OFFSET_COMMIT)."


def pending_remedy(pending: PendingOffsets) -> str:
    transactions = _transactions(pending)
    if not transactions:
        return (
            "End the transaction in its application, or abort it, which loses what was written in it: "
            "kafka-transactions.sh list, describe, abort."
        )
    partition, first = transactions[0]
    return how_to_end(partition, first)


def oldest(pending: PendingOffsets) -> OpenTransaction | None:
    """The transaction that has been open for the longest time; None if none is known."""
    transactions = (transaction for _, transaction in _transactions(pending))
    return min(transactions, key=lambda transaction: transaction.since_ms, default=None)


def _transactions(pending: PendingOffsets) -> list[tuple[tuple[str, int], OpenTransaction]]:
    return [(place, one) for place, listed in pending.transactions.items() for one in listed]


def _open_since(transaction: OpenTransaction, now_ms: int | None) -> str:
    if now_ms is None:
        return f"open since {format_moment(transaction.since_ms)}"
    return f"open for {duration_text(max(now_ms - transaction.since_ms, 0))}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
