"""Keys and values of records as JSON texts, with the fields of `kafka-dump-log --offsets-decoder`. Most are offset
commits, which share the bytes before a key's partition or after a value's offset: those are converted once."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from wire.java_text import JAVA
from wire.log import offset_columns
from wire.log.columns import Columns
from wire.log.varints import Ints
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType, json_key, json_value
from wire.uuids import format_uuid

MOST_KEYS = 1 << 17  # maximum number of cached keys, about 60 MB

NULL = "null"
_EMPTY = '""'
_UUID_BYTES = 16
_PAYLOAD_BEGINS = {version: f'{{"version":"{version}","data":{{"offset":' for version in (3, 4)}
json_text = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class KeyText:
    """A key; type and group are None if it has none. With an `error`, `text` is null or has only the type."""

    text: str
    type: int | None = None
    group: str | None = None
    error: str | None = None


@lru_cache(maxsize=MOST_KEYS)
def key_text(key: bytes) -> KeyText:
    try:
        shown = json_key(key)
    except UnknownKeyType as error:
        return KeyText(_bare(error.key_type), type=error.key_type, error=str(error))
    except DecodeError as error:
        number = int.from_bytes(key[:2], signed=True) if len(key) > 1 else None
        return KeyText(NULL if number is None else _bare(number), type=number, error=str(error))
    data: dict[str, Any] = shown["data"]
    number = int(shown["type"])
    return KeyText(json_text(shown), type=number, group=data.get("group", data.get("groupId")))


def payload_text(number: int, value: bytes) -> str:
    """A value under a key of type `number`. Raises DecodeError: it is malformed."""
    return json_text(json_value(number, value))


def _bare(number: int) -> str:
    return f'{{"type":"{number}","data":null}}'


@lru_cache(maxsize=MOST_KEYS)
def _key_begin(front: bytes) -> str:
    """The JSON of an offset commit's key up to its partition; `front` lacks the partition's four bytes."""
    group, topic, _ = offset_columns.read_offset_key(front + bytes(4))
    names = f'"group":{json_text(group)},"topic":{json_text(topic)}'
    return f'{{"type":"{offset_columns.OFFSET_COMMIT}","data":{{{names},"partition":'


@lru_cache(maxsize=MOST_KEYS)
def _topic_id(topic_id: bytes) -> str:
    return format_uuid(UUID(bytes=topic_id))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlainCommits:
    """Commits in the shapes that brokers write, as columns of equal length; `places` are their record indices."""

    places: Ints
    key_begins: list[str]  # the JSON of each key up to the partition
    partitions: list[int]
    payload_begins: list[str]  # the JSON of each value up to the offset
    offsets: list[int]
    payload_ends: list[str]  # the JSON of each value after the offset

    def __len__(self) -> int:
        return len(self.places)

    def texts(self) -> Iterator[tuple[int, str, str]]:
        """The index of each commit, and the JSON of its key and of its value."""
        columns = (self.places.tolist(), self.key_begins, self.partitions)
        payloads = (self.payload_begins, self.offsets, self.payload_ends)
        for index, key, partition, begin, offset, end in zip(*columns, *payloads, strict=True):
            yield index, f"{key}{partition}}}}}", f"{begin}{offset}{end}"


def plain_commits(records: Columns, candidates: NDArray[np.bool_]) -> PlainCommits:
    data, octets = records.data, np.frombuffer(records.data, dtype=np.uint8)
    keys = offset_columns.read_offset_keys(octets, records.key_start, records.key_end)
    values = offset_columns.read_offset_values(octets, records.value_start, records.value_end)
    types = offset_columns.key_types(octets, records.key_start, records.key_end)
    places = np.flatnonzero(candidates & keys.quick & values.quick & (types == offset_columns.OFFSET_COMMIT))
    starts, ends = records.key_start[places].tolist(), keys.topic_end[places].tolist()
    versions, epochs, times = values.version[places], values.leader_epoch[places], values.commit_ms[places]
    note_start, note_end = values.metadata_start[places], values.metadata_end[places]
    id_start = values.id_start[places]
    has_note, has_id = note_end > note_start, id_start != offset_columns.NO_TOPIC_ID

    def end(row: int) -> str:
        note, id_text = _EMPTY, ""
        if has_note[row]:
            note = json_text(str(data[note_start[row] : note_end[row]], "utf-8", JAVA))
        if has_id[row]:
            at = int(id_start[row])
            id_text = f',"topicId":"{_topic_id(data[at : at + _UUID_BYTES])}"'
        return f',"leaderEpoch":{epochs[row]},"metadata":{note},"commitTimestamp":{times[row]}{id_text}}}}}'

    halves = (offset_columns.numbers_at(octets, id_start + half, ">i8", has_id) for half in (0, 8))
    notes = np.where(has_note, note_start, 0)
    return PlainCommits(
        places=places,
        key_begins=list(_key_begins(data, starts, ends)),
        partitions=keys.partition[places].tolist(),
        payload_begins=per_run(lambda row: _PAYLOAD_BEGINS[int(versions[row])], versions),
        offsets=values.offset[places].tolist(),
        payload_ends=per_run(end, epochs, times, notes, has_id, *halves),
    )


def _key_begins(data: bytes, starts: list[int], ends: list[int]) -> Iterator[str]:
    last, begin = b"", ""
    for start, end in zip(starts, ends, strict=True):
        front = data[start:end]
        if front != last:
            last, begin = front, _key_begin(front)
        yield begin


def per_run(text: Callable[[int], str], *columns: NDArray[Any]) -> list[str]:
    """A text per row of the columns; `text` is called for the first of consecutive equal rows."""
    rows = len(columns[0])
    changes = np.zeros(rows, dtype=bool)
    changes[:1] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    firsts = np.flatnonzero(changes)
    texts = np.array([text(first) for first in firsts.tolist()], dtype=object)
    repeated: list[str] = np.repeat(texts, np.diff(firsts, append=rows)).tolist()
    return repeated
