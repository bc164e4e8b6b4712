"""Rules about open transactions, which consumers with `isolation.level=read_committed` wait for."""

from __future__ import annotations

from collections.abc import Iterator

from groups.diagnosis.case import Case, Need, Symptom, error, note, rule
from groups.diagnosis.lag import is_consuming
from groups.diagnosis.places import Place, all_names, names, waits_for_transaction
from groups.model import OpenTransaction
from groups.times import about, format_moment


@rule(
    "open-transaction",
    "an open transaction that holds the last stable offset",
    source="KIP-664, Provide tooling to detect and abort hanging transactions",
    needs=(Need.TRANSACTIONS,),
    applies=is_consuming,
)
def open_transaction(case: Case) -> Iterator[Symptom]:
    """The oldest open transaction for whose end the group's consumers wait, with no more records to read before it.

    An error if it is open for longer than the threshold, else a note: short transactions are normal.
    """
    held = {
        place: found[0]
        for place, found in (case.last.transactions or {}).items()
        if found and waits_for_transaction(case, place)
    }
    if not held:
        return
    place = min(held, key=lambda each: (_begun_ms(held[each]), each))
    one = held[place]
    begun_ms = _begun_ms(one)
    open_ms = case.last.at_ms - begun_ms
    level = note if open_ms < case.thresholds.transaction_ms else error
    whose = (
        f"Producer {one.producer_id}, whose transaction no coordinator knows,"
        if one.transactional_id is None
        else f"The producer {one.transactional_id}"
    )
    yield level(
        message=(
            f"{whose} has had a transaction open for {about(open_ms / 1000)}. Consumers with "
            f"isolation.level=read_committed wait for its end in {names(held)}."
        ),
        remedy=_remedy(place, one),
        since_ms=begun_ms,
        evidence={
            "partitions": all_names(held),
            "transactional_id": one.transactional_id,
            "producer_id": one.producer_id,
            "producer_epoch": one.producer_epoch,
            "state": one.state,
            "start_offset": one.start_offset,
            "timeout_ms": one.timeout_ms,
            "last_write": None if one.last_write_ms is None else format_moment(one.last_write_ms),
        },
    )


def _begun_ms(one: OpenTransaction) -> int:
    known = [each for each in (one.begun_ms, one.last_write_ms) if each is not None]
    return min(known, default=0)


def _remedy(place: Place, one: OpenTransaction) -> str:
    topic, partition = place
    abort = f"kafka-transactions.sh abort --topic {topic} --partition {partition} --start-offset {one.start_offset}"
    if one.transactional_id is None:
        return f"Abort it: {abort}."
    return (
        f"Check the application of {one.transactional_id}: it must end the transaction; a restart aborts it. "
        f"If the application no longer exists: {abort}."
    )
