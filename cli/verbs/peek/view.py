"""The document of `kohort peek`: a row per record, and for people all that is known of each."""

from base64 import b64encode
from collections.abc import Iterator

from cli.render.cells import Cell
from cli.render.document import Block, Code, Document, Heading, Table, Text, columns
from cli.verbs.log.writers import TIMESTAMP_TYPES
from cli.verbs.peek.form import ShownAs, in_line, shown_bytes, utf8
from cli.verbs.peek.options import PeekOptions
from cli.verbs.peek.reading import PeekedRecords
from groups.counts import counted
from groups.model import partition_name
from groups.times import format_moment
from wire.client.records_around import StoredRecord
from wire.log.batch_header import NO_PRODUCER_ID, NO_TIMESTAMP, Batch

_MOST_IN_LINE = 60


def peek_document(peeked: PeekedRecords, options: PeekOptions) -> Document:
    topic, number = peeked.partition
    table = Table(
        columns=columns(
            *("#OFFSET", "TIMESTAMP", "#KEY-SIZE", "KEY", "#VALUE-SIZE", "VALUE", "HEADERS"),
            *("#BASE-OFFSET", "#LAST-OFFSET", "#SIZE", "CODEC", "PRODUCER", "TRANSACTION"),
        ),
        rows=[list(_row(peeked, stored, options)) for stored in peeked.records],
    )
    return Document(
        command="peek",
        data={
            "group": peeked.group,
            "topic": topic,
            "partition": number,
            "offset": peeked.offset,
            "committed": peeked.committed,
            "log_start": peeked.log.start,
            "last_stable": peeked.log.stable,
            "log_end": peeked.log.end,
            "aborted_skipped": peeked.around.aborted,
            "records": [_record_data(peeked, stored, options) for stored in peeked.records],
        },
        blocks=[table],
        text=[block for stored in peeked.records for block in _card(peeked, stored, options)],
        errors=peeked.problems,
        remarks=tuple(peeked.remarks(options.records)),
    )


def _row(peeked: PeekedRecords, stored: StoredRecord, options: PeekOptions) -> Iterator[Cell]:
    record, batch = stored.record, stored.batch
    yield from (record.offset, _time(stored))
    for data in (record.key, record.value):
        yield None if data is None else len(data)
        yield None if data is None else in_line(data[: options.limit], options.form)
    yield ", ".join(_headers(stored, options)) or None
    yield from (batch.base_offset, batch.last_offset, batch.size, _codec(batch))
    yield from (_producer(stored), peeked.transaction_of(stored))


def _card(peeked: PeekedRecords, stored: StoredRecord, options: PeekOptions) -> Iterator[Block]:
    """All that is known of a record; short keys and values are in its table, others below."""
    record, batch, committed = stored.record, stored.batch, peeked.committed
    title = f"{partition_name(peeked.partition)} at {record.offset}"
    if committed is not None:
        place = "before" if record.offset < committed else "after"
        is_next = (
            peeked.around.after and record is peeked.around.after[0].record and peeked.offset == committed
        )
        title += f": the next record of {peeked.group}" if is_next else f", {place} the committed offset"
    yield Heading(title)
    counts = f"{counted(batch.count, 'record')}, {counted(batch.size, 'byte')}, compression {_codec(batch)}"
    facts: list[tuple[Cell, Cell]] = [
        ("timestamp", f"{_time(stored) or 'none'} ({TIMESTAMP_TYPES[batch.log_append_time]})"),
        ("batch", f"{batch.base_offset} to {batch.last_offset}: {counts}"),
    ]
    if batch.producer_id != NO_PRODUCER_ID:
        facts.append(("producer", _producer(stored)))
    if batch.is_transactional:
        facts.append(("transaction", peeked.transaction_of(stored)))
    facts += [("header", header) for header in _headers(stored, options)]
    below: list[Block] = []
    for name, data in (("key", record.key), ("value", record.value)):
        kept = (data or b"")[: options.limit]
        shown = shown_bytes(kept, options.form, is_cut=len(kept) < len(data or b""))
        if data is None:
            facts.append((name, "null"))
        elif not data:
            facts.append((name, "empty"))
        elif len(shown.lines) == 1 and len(shown.lines[0]) <= _MOST_IN_LINE and len(kept) == len(data):
            facts.append((name, f"{shown.lines[0]} ({counted(len(data), 'byte')}, {shown.kind})"))
        else:
            size = counted(len(data), "byte")
            size = size if len(kept) == len(data) else f"the first {len(kept):,} of {size}"
            below += [Text(f"{name}, {size}, {shown.kind}:"), Code(shown.lines, language="text")]
    yield Table(columns=columns("NAME", "VALUE"), rows=facts, header=False)
    yield from below


def _record_data(peeked: PeekedRecords, stored: StoredRecord, options: PeekOptions) -> dict[str, object]:
    record, batch = stored.record, stored.batch
    has_producer = batch.producer_id != NO_PRODUCER_ID
    return {
        "topic": peeked.partition[0],
        "partition": peeked.partition[1],
        "offset": record.offset,
        "timestamp": None if record.timestamp == NO_TIMESTAMP else record.timestamp,
        "timestamp_type": TIMESTAMP_TYPES[batch.log_append_time],
        **_part_data("key", record.key, options),
        **_part_data("value", record.value, options),
        "headers": [{"name": name, **_part_data("value", value, options)} for name, value in record.headers],
        "committed": None if peeked.committed is None else record.offset < peeked.committed,
        "producer_id": batch.producer_id if has_producer else None,
        "producer_epoch": batch.producer_epoch if has_producer else None,
        "sequence": record.sequence if has_producer and record.sequence >= 0 else None,
        "transactional": batch.is_transactional,
        "transaction": peeked.transaction_of(stored),
        "batch": {
            "base_offset": batch.base_offset,
            "last_offset": batch.last_offset,
            "records": batch.count,
            "size": batch.size,
            "compression": _codec(batch),
            "leader_epoch": batch.leader_epoch,
        },
    }


def _part_data(name: str, data: bytes | None, options: PeekOptions) -> dict[str, object]:
    """The first bytes of a key or value, in an encoding that can be undone, and its size."""
    kept, text, encoding = (data or b"")[: options.limit], None, "utf-8"
    if data is not None:
        text = None if options.form is ShownAs.HEX else utf8(kept, is_cut=len(kept) < len(data))
        if text is None:
            is_hex = options.form is ShownAs.HEX
            encoding, text = ("hex", kept.hex()) if is_hex else ("base64", b64encode(kept).decode())
    return {
        name: text,
        f"{name}_encoding": None if data is None else encoding,
        f"{name}_size": None if data is None else len(data),
    }


def _headers(stored: StoredRecord, options: PeekOptions) -> list[str]:
    return [
        f"{name}: {'null' if value is None else in_line(value[: options.limit], options.form)}"
        for name, value in stored.record.headers
    ]


def _time(stored: StoredRecord) -> str | None:
    timestamp = stored.record.timestamp
    return None if timestamp == NO_TIMESTAMP else format_moment(timestamp)


def _codec(batch: Batch) -> str:
    return batch.codec.name.lower()


def _producer(stored: StoredRecord) -> str | None:
    batch = stored.batch
    if batch.producer_id == NO_PRODUCER_ID:
        return None
    return f"{batch.producer_id}, epoch {batch.producer_epoch}, sequence {stored.record.sequence}"
