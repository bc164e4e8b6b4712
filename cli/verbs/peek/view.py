"""The document of `kohort peek`: a row per record, and for people all that is known of each."""

from collections.abc import Iterator

from cli.render.cells import Cell
from cli.render.document import Block, Code, Document, Heading, Table, Text, columns, fields, table_of
from cli.verbs.log.writers import TIMESTAMP_TYPES
from cli.verbs.peek.form import ShownBytes
from cli.verbs.peek.reading import PeekedRecords
from groups.counts import counted
from groups.model import partition_name
from groups.times import format_moment
from wire.client.records_around import BatchedRecord
from wire.log.batch_header import NO_PRODUCER_ID, NO_TIMESTAMP

_MOST_IN_LINE = 60


def peek_document(peeked: PeekedRecords) -> Document:
    topic, number = peeked.partition
    shown = [_ShownRecord(peeked, stored) for stored in peeked.records]
    table = table_of(
        [{**record.data(), "headers": "; ".join(record.headers), "time": record.time} for record in shown],
        *(
            "#OFFSET",
            ("TIMESTAMP", "time"),
            "#KEY-SIZE",
            "KEY",
            "#VALUE-SIZE",
            "VALUE",
            "HEADERS",
            "TRANSACTION",
        ),
    )
    return Document(
        command="peek",
        data={
            "group": peeked.group,
            "topic": topic,
            "partition": number,
            **fields(peeked, "offset", "committed", "log_start", "last_stable", "log_end"),
            "aborted_skipped": peeked.around.aborted,
            "records": [record.data() for record in shown],
        },
        blocks=[table],
        text=[block for record in shown for block in record.card()],
        errors=peeked.problems,
        remarks=tuple(peeked.remarks()),
    )


class _ShownRecord:
    def __init__(self, peeked: PeekedRecords, stored: BatchedRecord) -> None:
        options = peeked.options

        def shown(data: bytes | None, size: int | None = None) -> ShownBytes | None:
            return None if data is None else ShownBytes(data, options.form, limit=options.limit, size=size)

        self._peeked, self._stored = peeked, stored
        self._record, self._batch = stored.record, stored.batch
        self._parts = {
            "key": shown(stored.record.key),
            "value": shown(stored.record.value, stored.value_size),
        }
        self._headers = [(name, shown(value)) for name, value in stored.record.headers]
        self._timestamp = None if stored.record.timestamp == NO_TIMESTAMP else stored.record.timestamp
        self._clock = TIMESTAMP_TYPES[stored.batch.log_append_time]
        self._codec = stored.batch.codec.name.lower()
        self._has_producer = stored.batch.producer_id != NO_PRODUCER_ID
        self.time = None if self._timestamp is None else format_moment(self._timestamp)
        self.headers = [
            f"{name}: {'null' if value is None else value.in_line}" for name, value in self._headers
        ]

    def card(self) -> Iterator[Block]:
        """Short keys and values are in the table of facts, others below."""
        record, batch = self._record, self._batch
        is_next = self._stored is self._peeked.next_record
        title = f"{partition_name(self._peeked.partition)} at {record.offset}"
        yield Heading(f"{title}: the next record of {self._peeked.group}" if is_next else title)
        counts = f"{counted(batch.count, 'record')}, {counted(batch.size, 'byte')}, compression {self._codec}"
        facts: list[tuple[Cell, Cell]] = [
            ("timestamp", f"{self.time or 'none'} ({self._clock})"),
            ("batch", f"{batch.base_offset} to {batch.last_offset}: {counts}"),
        ]
        if self._has_producer:
            producer = f"{batch.producer_id}, epoch {batch.producer_epoch}, sequence {record.sequence}"
            facts.append(("producer", producer))
        if batch.is_transactional:
            facts.append(("transaction", self._peeked.transaction_of(self._stored)))
        facts += [("header", text) for text in self.headers]
        below: list[Block] = []
        for name, part in self._parts.items():
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
        topic, number = self._peeked.partition
        has_sequence = self._has_producer and record.sequence >= 0
        return {
            "topic": topic,
            "partition": number,
            "offset": record.offset,
            "timestamp": self._timestamp,
            "timestamp_type": self._clock,
            **_part_data("key", self._parts["key"]),
            **_part_data("value", self._parts["value"]),
            "headers": [{"name": name, **_part_data("value", value)} for name, value in self._headers],
            "committed": None if committed is None else record.offset < committed,
            "producer_id": batch.producer_id if self._has_producer else None,
            "producer_epoch": batch.producer_epoch if self._has_producer else None,
            "sequence": record.sequence if has_sequence else None,
            "transactional": batch.is_transactional,
            "transaction": self._peeked.transaction_of(self._stored),
            "batch": {
                **fields(batch, "base_offset", "last_offset", "size", "leader_epoch"),
                "records": batch.count,
                "compression": self._codec,
            },
        }


def _part_data(name: str, part: ShownBytes | None) -> dict[str, object]:
    encoding, text = (None, None) if part is None else part.encoded
    return {name: text, f"{name}_encoding": encoding, f"{name}_size": None if part is None else part.size}
