"""The journal of a consumer: every record, and every call of its listener.

A journal is a file of lines `AT_NS KIND TOPIC PARTITION OFFSET KEY:VALUE`: nanoseconds of the machine's monotonic
clock, which all processes share (Java's `System.nanoTime`, Python's `time.monotonic_ns`), and a kind: `record`,
`assigned`, `revoked` or `lost`. Only a record has an offset, a key and a value; for the others there is a `-`.
`assigned` is written when the listener is called, `revoked` and `lost` when nothing more is consumed and before others
may have the partition: at the end of Java's listener, and before `unassign` in librdkafka's. A stay is never shorter
here than it was.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

Partition = tuple[str, int]

KINDS = frozenset({"record", "assigned", "revoked", "lost"})
FIELDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    at_ns: int
    kind: str
    partition: Partition
    offset: int | None  # Of a record; None for what a listener was shown
    content: str = ""  # Its key, a colon, its value; empty for what a listener was shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The life of one consumer, from one start to its end."""

    member: str  # A name of this life: that of the member and how often it has been started
    entries: tuple[Entry, ...]


def read_journal(member: str, path: Path) -> Journal:
    """Read the journal at `path`; one that was never started is empty. ValueError names an invalid line."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return Journal(member=member, entries=tuple(parse(text.splitlines())))


def parse(lines: Iterable[str]) -> Iterable[Entry]:
    """The entries of `lines`; ValueError for an invalid line."""
    for line in lines:
        fields, content = line.split(" ", FIELDS), ""
        if len(fields) > FIELDS:
            content = fields.pop()
        if len(fields) != FIELDS or fields[1] not in KINDS:
            raise ValueError(f"no entry of a journal: {line!r}")
        at_ns, kind, topic, partition, offset = fields
        if (kind == "record") == (offset == "-") or (content and kind != "record"):
            raise ValueError(f"a record has an offset and content, nothing else has: {line!r}")
        yield Entry(
            at_ns=int(at_ns),
            kind=kind,
            partition=(topic, int(partition)),
            offset=int(offset) if kind == "record" else None,
            content=content,
        )


def ended(journal: Journal, at_ns: int) -> Journal:
    """The journal of a consumer that was killed: what it held at the end is lost then."""
    held: dict[Partition, None] = {}
    for entry in journal.entries:
        if entry.kind == "assigned":
            held[entry.partition] = None
        elif entry.kind != "record":
            held.pop(entry.partition, None)
    lost = (Entry(at_ns=at_ns, kind="lost", partition=partition, offset=None) for partition in held)
    return Journal(member=journal.member, entries=(*journal.entries, *lost))
