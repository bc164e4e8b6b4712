"""The document of `kohort peek`: a row per record, and for people all that is known of each."""

from collections.abc import Iterator

from cli.render.cells import Cell
from cli.render.document import Block, Code, Document, Heading, Table, Text, columns
from cli.verbs.log.writers import TIMESTAMP_TYPES
from cli.verbs.peek.form import ShownBytes
from cli.verbs.peek.options import PeekOptions
from cli.verbs.peek.reading import PeekedRecords
from groups.counts import counted
from groups.model import partition_name
from groups.times import format_moment
from wire.client.records_around import StoredRecord
from wire.log.batch_header import NO_PRODUCER_ID, NO_TIMESTAMP

_MOST_IN_LINE = 60


def peek_document(peeked: PeekedRecords, options: PeekOptions) -> Document:
    topic, number = peeked.partition
    shown = [_ShownRecord(peeked, stored, options) for stored in peeked.records]
    table = Table(
        columns=columns(
            *("#OFFSET", "TIMESTAMP", "#KEY-SIZE", "KEY", "#VALUE-SIZE", "VALUE", "HEADERS"),
            *("#BASE-OFFSET", "#LAST-OFFSET", "#SIZE", "CODEC", "PRODUCER", "TRANSACTION"),
        ),
        rows=[list(record.row()) for record in shown],
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
            "records": [record.data() for record in shown],
        },
        blocks=[table],
        text=[block for record in shown for block in record.card()],
        errors=peeked.problems,
        remarks=tuple(peeked.remarks(options.records)),
    )


class _ShownRecord:
    def __init__(self, peeked: PeekedRecords, stored: StoredRecord, options: PeekOptions) -> None:
        def shown(data: bytes | None, size: int | None = None) -> ShownBytes | None:
            return None if data is None else ShownBytes(data, options.form, limit=options.limit, size=size)

        self._peeked, self._stored = peeked, stored
        self._record, self._batch = stored.record, stored.batch
        self._key, self._value = shown(stored.record.key), shown(stored.record.value, stored.value_size)
        self._headers = [(name, shown(value)) for name, value in stored.record.headers]
        self._timestamp = None if stored.record.timestamp == NO_TIMESTAMP else stored.record.timestamp
        self._time = None if self._timestamp is None else format_moment(self._timestamp)
        self._timestamp_type = TIMESTAMP_TYPES[stored.batch.log_append_time]
        self._codec = stored.batch.codec.name.lower()
        self._transaction = peeked.transaction_of(stored)

    @property
    def _producer(self) -> str | None:
        batch = self._batch
        if batch.producer_id == NO_PRODUCER_ID:
            return None
        return f"{batch.producer_id}, epoch {batch.producer_epoch}, sequence {self._record.sequence}"

    @property
    def _header_texts(self) -> list[str]:
        return [f"{name}: {'null' if value is None else value.in_line}" for name, value in self._headers]

    def row(self) -> Iterator[Cell]:
        yield from (self._record.offset, self._time)
        for part in (self._key, self._value):
            yield from (None, None) if part is None else (part.size, part.in_line)
        yield ", ".join(self._header_texts) or None
        yield from (self._batch.base_offset, self._batch.last_offset, self._batch.size, self._codec)
        yield from (self._producer, self._transaction)

    def card(self) -> Iterator[Block]:
        """Short keys and values are in the table of facts, others below."""
        peeked, batch = self._peeked, self._batch
        title = f"{partition_name(peeked.partition)} at {self._record.offset}"
        if self._stored is peeked.next_record:
            title += f": the next record of {peeked.group}"
        yield Heading(title)
        counts = f"{counted(batch.count, 'record')}, {counted(batch.size, 'byte')}, compression {self._codec}"
        facts: list[tuple[Cell, Cell]] = [
            ("timestamp", f"{self._time or 'none'} ({self._timestamp_type})"),
            ("batch", f"{batch.base_offset} to {batch.last_offset}: {counts}"),
        ]
        if (producer := self._producer) is not None:
            facts.append(("producer", producer))
        if batch.is_transactional:
            facts.append(("transaction", self._transaction))
        facts += [("header", text) for text in self._header_texts]
        below: list[Block] = []
        for name, part in (("key", self._key), ("value", self._value)):
            if part is None or not part.size:
                facts.append((name, "null" if part is None else "empty"))
                continue
            kind, lines = part.kind_and_lines
            size = counted(part.size, "byte")
            if len(lines) == 1 and len(lines[0]) <= _MOST_IN_LINE and not part.is_cut:
                facts.append((name, f"{lines[0]} ({size}, {kind})"))
            else:
                size = f"the first {len(part.data):,} of {size}" if part.is_cut else size
                below += [Text(f"{name}, {size}, {kind}:"), Code(lines, language="text")]
        yield Table(columns=columns("NAME", "VALUE"), rows=facts, header=False)
        yield from below

    def data(self) -> dict[str, object]:
        record, batch, committed = self._record, self._batch, self._peeked.committed
        has_producer = batch.producer_id != NO_PRODUCER_ID
        return {
            "topic": self._peeked.partition[0],
            "partition": self._peeked.partition[1],
            "offset": record.offset,
            "timestamp": self._timestamp,
            "timestamp_type": self._timestamp_type,
            **_part_data("key", self._key),
            **_part_data("value", self._value),
            "headers": [{"name": name, **_part_data("value", value)} for name, value in self._headers],
            "committed": None if committed is None else record.offset < committed,
            "producer_id": batch.producer_id if has_producer else None,
            "producer_epoch": batch.producer_epoch if has_producer else None,
            "sequence": record.sequence if has_producer and record.sequence >= 0 else None,
            "transactional": batch.is_transactional,
            "transaction": self._transaction,
            "batch": {
                "base_offset": batch.base_offset,
                "last_offset": batch.last_offset,
                "records": batch.count,
                "size": batch.size,
                "compression": self._codec,
                "leader_epoch": batch.leader_epoch,
            },
        }


def _part_data(name: str, part: ShownBytes | None) -> dict[str, object]:
    encoding, text = (None, None) if part is None else part.encoded
    return {name: text, f"{name}_encoding": encoding, f"{name}_size": None if part is None else part.size}
