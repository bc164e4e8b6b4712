"""Offsets as CSV without a header (`CsvUtils` of Kafka 4.3); a file without an end of its last line may be cut."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from groups.model import TopicPartition, wrong_topic_name
from wire.files import MEBIBYTE

MOST_BYTES = 256 * MEBIBYTE  # maximum size of a file: some five million offsets
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_LARGEST_PARTITION = 2**31 - 1
_LARGEST_OFFSET = 2**63 - 1
_LINE_ENDS = ("\n", "\r")
_FIELDS = {3: "topic,partition,offset", 4: "group,topic,partition,offset"}
_HEADINGS = {
    (*group, "topic", "partition", offset)
    for group in ((), ("group",), ("groupid",), ("consumergroup",))
    for offset in ("offset", "currentoffset", "committedoffset", "newoffset")
}


class MalformedOffsets(ValueError):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class OffsetFile:
    """The contents of a file: `by_group` if it names groups, else `of_one_group`."""

    by_group: Mapping[str, Mapping[TopicPartition, int]] | None
    of_one_group: Mapping[TopicPartition, int] | None
    has_end: bool = True  # whether it ends with an empty line, as exports do


def read_offsets(text: str, *, last_wins: bool = False) -> OffsetFile:
    """Read a file of either shape, leniently if `last_wins` (Kafka's tool). MalformedOffsets for a wrong line."""
    by_group: dict[str, dict[TopicPartition, int]] = {}
    width: int | None = None
    for line, fields in _rows(text):
        if not last_wins:
            fields[-3:] = [_plain(field) for field in fields[-3:]]
            if width is None and tuple(map(_heading, fields)) in _HEADINGS:
                width = len(fields)
                continue
            if line == 1 and {"topic", "partition"} <= set(map(_heading, fields)):
                expected = " or ".join(_FIELDS.values())
                raise MalformedOffsets(line, f"a header of other columns; write {expected}, without a header")
        if len(fields) not in _FIELDS or width not in (None, len(fields)):
            expected = " or ".join(_FIELDS.values()) if width is None else _FIELDS[width]
            raise MalformedOffsets(line, f"{len(fields)} fields; expected {expected}")
        width = len(fields)
        group, (topic, partition, offset) = ("", fields) if width == 3 else (fields[0], fields[1:])
        if not topic:
            raise MalformedOffsets(line, "the topic is empty")
        if not last_wins and (wrong := wrong_topic_name(topic)) is not None:
            raise MalformedOffsets(line, f"{topic[:40]!r} is {wrong}")
        header = "; this file has no header" if last_wins and line == 1 and partition.isalpha() else ""
        key = topic, _number(line, f"partition{header}", partition, _LARGEST_PARTITION)
        number = _number(line, "offset", offset, _LARGEST_OFFSET)
        offsets = by_group.setdefault(group, {})
        known = offsets.setdefault(key, number)
        if last_wins:
            offsets[key] = number
        elif known != number:
            raise MalformedOffsets(line, f"{topic}-{partition} has the offset {known} above, here {number}")
    lines = text.splitlines(keepends=True)
    if width is not None and not last_wins and not lines[-1].endswith(_LINE_ENDS):
        raise MalformedOffsets(
            len(lines), "the last line has no end: the file may be cut; if it is complete, end the line"
        )
    has_end = bool(lines) and not lines[-1].strip()
    if width == 4:
        return OffsetFile(by_group, None, has_end)
    return OffsetFile(None, by_group.get("", {}), has_end)


def write_offsets(rows: Iterable[tuple[str, TopicPartition, int]], *, with_group: bool) -> str:
    """Write CSV that this module and Kafka's tool can read; nothing if there are no rows."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for group, (topic, partition), offset in rows:
        writer.writerow((*((group,) if with_group else ()), topic, partition, offset))
    return f"{out.getvalue()}\n" if out.tell() else ""


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The line number (of the row's end) and the fields of every row that is not blank."""
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    while True:
        try:
            fields = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise MalformedOffsets(rows.line_num, str(error)) from None
        if any(field.strip() for field in fields):
            yield rows.line_num, fields


def _plain(field: str) -> str:
    """A field without blanks around it, and without the quotes that are not at its start because of them."""
    field = field.strip()
    return field[1:-1].strip() if len(field) > 1 and field[0] == field[-1] == '"' else field


def _heading(field: str) -> str:
    return "".join(filter(str.isalnum, field.lower()))


def _number(line: int, what: str, text: str, most: int) -> int:
    text = text.strip()
    if not _INTEGER.fullmatch(text) or not 0 <= int(text) <= most:
        raise MalformedOffsets(line, f"{text[:40]!r} is not a valid {what}")
    return int(text)
