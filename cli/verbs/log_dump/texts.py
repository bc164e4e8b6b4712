"""Keys and values of records as JSON texts, the very fields that `kafka-dump-log --offsets-decoder` prints.

Most records of a log are offset commits, under keys that come again and again: keys are remembered, and the values of
offset commits are put into words without the schemas.

Most offset commits, many at a time: a key of type 1, a value of version 3 or 4 without metadata, with a topic id or
without.

    type i16 · group · topic · partition i32, either name with its length in 16 bits
    version i16 · offset i64 · leader epoch i32 · metadata, empty · commit timestamp i64 [· tagged fields]

Metadata are a string of length 0 in 16 bits (version 3) or of length 0 + 1 in 8 (version 4). Tagged fields follow in
version 4: a zero, or one field of number 0 with 16 bytes, the topic's id. Any other shape is for `Texts`.

What stands before a key's partition is the same in many keys, what stands behind a value's offset is the same in a
request's commits: either is put into words once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from wire.log.offset_records import OFFSET_COMMIT, key_type, read_offset_key, read_offset_value
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType, json_key, json_value
from wire.uuids import format_uuid

MOST_KEYS = 1 << 17
"""How many keys are remembered at most, about 60 MB of them; then all are forgotten."""

NULL = "null"
_EMPTY = '""'
_OFFSET_COMMIT = OFFSET_COMMIT.to_bytes(2, "big")
json_text = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class KeyText:
    """A key. `type` is the number of its record type, None where there is none; `group` likewise.

    `error` says why the record cannot be read; `text` is then null, or has the type alone.
    """

    text: str
    type: int | None = None
    group: str | None = None
    error: str | None = None


class Texts:
    """Puts keys and values into words."""

    def __init__(self) -> None:
        self._keys: dict[bytes, KeyText] = {}
        self.remembered = self._keys.get
        """A key that came before, or None."""
        self._begins: dict[bytes, str] = {}
        self.remembered_begin = self._begins.get
        """A begin of a commit's key that came before, or None."""
        self._topic_ids: dict[bytes, str] = {}

    def key(self, key: bytes) -> KeyText:
        """A key, whatever it is."""
        found = self._keys.get(key)
        if found is None:
            if len(self._keys) >= MOST_KEYS:
                self._keys.clear()
            found = self._keys[key] = _key_text(key)
        return found

    def commit_key_begin(self, front: bytes) -> str:
        """The JSON of an offset commit's key up to its partition, for the key without the partition's four bytes.

        Empty where it is none.
        """
        if len(self._begins) >= MOST_KEYS:
            self._begins.clear()
        begin = self._begins[front] = _commit_key_begin(front)
        return begin

    def payload(self, number: int, data: bytes, start: int, end: int) -> str:
        """The value ``data[start:end]`` under a key of type `number`. :raises DecodeError: it is none"""
        if number != OFFSET_COMMIT:
            return json_text(json_value(number, data[start:end]))
        version, offset, epoch, metadata, commit_ms, _, topic_id = read_offset_value(data, start, end)
        if version < 3:
            return json_text(json_value(number, data[start:end]))
        note = json_text(metadata) if metadata else _EMPTY
        topic = "" if topic_id is None else f',"topicId":"{self.topic_id(topic_id)}"'
        return (
            f'{{"version":"{version}","data":{{"offset":{offset},"leaderEpoch":{epoch},"metadata":{note},'
            f'"commitTimestamp":{commit_ms}{topic}}}}}'
        )

    def topic_id(self, topic_id: bytes) -> str:
        """Kafka's text of a topic id's 16 bytes."""
        found = self._topic_ids.get(topic_id)
        if found is None:
            if len(self._topic_ids) >= MOST_KEYS:
                self._topic_ids.clear()
            found = self._topic_ids[topic_id] = format_uuid(UUID(bytes=topic_id))
        return found


def _key_text(key: bytes) -> KeyText:
    try:
        if key[:2] == _OFFSET_COMMIT:
            return _commit_key_text(key)
        shown = json_key(key)
    except UnknownKeyType as error:
        return KeyText(_bare(error.key_type), type=error.key_type, error=str(error))
    except DecodeError as error:
        number = key_type(key, 0) if len(key) > 1 else None
        return KeyText(NULL if number is None else _bare(number), type=number, error=str(error))
    data: dict[str, Any] = shown["data"]
    number = int(shown["type"])
    return KeyText(json_text(shown), type=number, group=data.get("group", data.get("groupId")))


def _commit_key_text(key: bytes) -> KeyText:
    group, topic, partition = read_offset_key(key, 0, len(key))
    return KeyText(f"{_begin(group, topic)}{partition}}}}}", type=OFFSET_COMMIT, group=group)


def _commit_key_begin(front: bytes) -> str:
    if front[:2] != _OFFSET_COMMIT:
        return ""
    try:
        group, topic, _ = read_offset_key(front + bytes(4), 0, len(front) + 4)
    except DecodeError:
        return ""
    group_end = 4 + int.from_bytes(front[2:4], "big")
    topic_end = group_end + 2 + int.from_bytes(front[group_end : group_end + 2], "big")
    # What stands behind a key is not looked at; the partition then is not in its last bytes.
    return _begin(group, topic) if topic_end == len(front) else ""


def _begin(group: str, topic: str) -> str:
    return f'{{"type":"{OFFSET_COMMIT}","data":{{"group":{_name(group)},"topic":{_name(topic)},"partition":'


@lru_cache(maxsize=MOST_KEYS)
def _name(name: str) -> str:
    return json_text(name)


def _bare(number: int) -> str:
    return f'{{"type":"{number}","data":null}}'


Ints = NDArray[np.int64]
Octets = NDArray[np.uint8]

_OFFSET_AT = 2
_EPOCH_AT = 10
_METADATA_AT = 14
_TIME_AT = {3: 16, 4: 15}
_TAGS_AT = 23
_TOPIC_ID_AT = 26
_UUID_BYTES = 16
_BYTES = 24
"""Of either version without a topic id."""
_BYTES_WITH_TOPIC_ID = 42
_PARTITION_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlainCommits:
    """Commits of one version, as columns of equal length. `places` says where they stand among all records."""

    version: int
    places: Ints
    key_begins: list[str]
    """The JSON of each key up to the partition."""
    partitions: list[int]
    offsets: list[int]
    payload_ends: list[str]
    """The JSON of each value behind the offset."""

    def key_texts(self) -> list[str]:
        """The JSON of each key."""
        return [
            f"{begin}{partition}}}}}"
            for begin, partition in zip(self.key_begins, self.partitions, strict=True)
        ]

    def payloads(self) -> list[str]:
        """The JSON of each value."""
        return [
            f"{self.payload_begin}{offset}{end}"
            for offset, end in zip(self.offsets, self.payload_ends, strict=True)
        ]

    @property
    def payload_begin(self) -> str:
        """The JSON of all values up to the offset."""
        return f'{{"version":"{self.version}","data":{{"offset":'


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FieldSpans:
    """Where keys and values stand in `data`: byte of the begin and of the end, -1 for a null one."""

    data: bytes
    key_start: Ints
    key_end: Ints
    value_start: Ints
    value_end: Ints


def plain_commits(places: FieldSpans, candidates: NDArray[np.bool_], texts: Texts) -> Iterator[PlainCommits]:
    """The plain ones among the candidates."""
    octets = np.frombuffer(places.data, dtype=np.uint8)
    candidates = candidates & (places.key_end - places.key_start > _PARTITION_BYTES)
    for version, with_topic_id in ((3, False), (4, False), (4, True)):
        fits = candidates & _of_shape(octets, places, version, with_topic_id)
        found = np.flatnonzero(fits)
        if len(found):
            begins = _key_begins(places, found, texts)
            if not all(begins):
                kept = [bool(begin) for begin in begins]
                found, begins = found[kept], [begin for begin in begins if begin]
            yield _commits(places, found, begins, version, with_topic_id, texts)


def _key_begins(places: FieldSpans, found: Ints, texts: Texts) -> list[str]:
    """Of each key; nothing where it is none of an offset commit."""
    data, remembered, learn = places.data, texts.remembered_begin, texts.commit_key_begin
    starts, ends = places.key_start[found].tolist(), (places.key_end[found] - _PARTITION_BYTES).tolist()
    begins = []
    for start, end in zip(starts, ends, strict=True):
        front = data[start:end]
        begin = remembered(front)
        begins.append(learn(front) if begin is None else begin)
    return begins


def _commits(
    places: FieldSpans,
    found: Ints,
    key_begins: list[str],
    version: int,
    with_topic_id: bool,
    texts: Texts,
) -> PlainCommits:
    at = places.value_start[found]
    epochs = _numbers(places.data, at + _EPOCH_AT, ">i4")
    times = _numbers(places.data, at + _TIME_AT[version], ">i8")
    columns = [epochs, times]
    if with_topic_id:
        columns += _topic_ids(places.data, at)

    def end(place: int) -> str:
        begin = f',"leaderEpoch":{epochs[place]},"metadata":"","commitTimestamp":{times[place]}'
        if not with_topic_id:
            return begin + "}}"
        topic_id_at = int(at[place]) + _TOPIC_ID_AT
        return (
            f'{begin},"topicId":"{texts.topic_id(places.data[topic_id_at : topic_id_at + _UUID_BYTES])}"}}}}'
        )

    return PlainCommits(
        version=version,
        places=found,
        key_begins=key_begins,
        partitions=_numbers(places.data, places.key_end[found] - _PARTITION_BYTES, ">i4").tolist(),
        offsets=_numbers(places.data, at + _OFFSET_AT, ">i8").tolist(),
        payload_ends=per_run(end, *columns),
    )


def _of_shape(octets: Octets, places: FieldSpans, version: int, with_topic_id: bool) -> NDArray[np.bool_]:
    starts, ends = places.value_start, places.value_end
    fits: NDArray[np.bool_] = ends - starts == (_BYTES_WITH_TOPIC_ID if with_topic_id else _BYTES)
    at = np.where(fits, starts, 0)
    if fits.any():
        for place, octet in _fixed(version, with_topic_id).items():
            fits &= octets[at + place] == octet
    if with_topic_id and fits.any():
        # Of a tagged field that has its default no broker writes anything, and none is shown.
        high, low = _topic_ids(places.data, at)
        fits &= (high != 0) | (low != 0)
    return fits


def _fixed(version: int, with_topic_id: bool) -> dict[int, int]:
    """The octets that make the shape, by their place in the value."""
    if version == 3:
        return {0: 0, 1: version, _METADATA_AT: 0, _METADATA_AT + 1: 0}
    tags = (1, 0, _UUID_BYTES) if with_topic_id else (0,)
    return {0: 0, 1: version, _METADATA_AT: 1} | {_TAGS_AT + place: octet for place, octet in enumerate(tags)}


def _topic_ids(data: bytes, at: Ints) -> tuple[Ints, Ints]:
    """Both halves of each."""
    high, low = (_numbers(data, at + _TOPIC_ID_AT + place, ">i8") for place in (0, 8))
    return high, low


def _numbers(data: bytes, at: Ints, kind: str) -> Ints:
    """The numbers that begin at these bytes, whatever their alignment."""
    numbers = np.dtype(kind)
    everywhere = np.ndarray((len(data) - numbers.itemsize + 1,), numbers, data, strides=(1,))
    found: Ints = everywhere[at].astype(np.int64)
    return found


def per_run(text: Callable[[int], str], *columns: NDArray[np.int64]) -> list[str]:
    """A text per row of the columns; `text` is asked for the first of rows that are equal, one behind the other."""
    rows = len(columns[0])
    changes = np.zeros(rows, dtype=bool)
    changes[:1] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    firsts = np.flatnonzero(changes)
    texts = np.array([text(first) for first in firsts.tolist()], dtype=object)
    repeated: list[str] = np.repeat(texts, np.diff(firsts, append=rows)).tolist()
    return repeated
