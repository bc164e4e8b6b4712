"""Most offset commits, many at a time: a key of type 1, a value of version 3 or 4 without metadata, with a topic id or
without.

    type i16 · group · topic · partition i32, either name with its length in 16 bits
    version i16 · offset i64 · leader epoch i32 · metadata, empty · commit timestamp i64 [· tagged fields]

Metadata are a string of length 0 in 16 bits (version 3) or of length 0 + 1 in 8 (version 4). Tagged fields follow in
version 4: a zero, or one field of number 0 with 16 bytes, the topic's id. Any other shape is for `Texts`.

What stands before a key's partition is the same in many keys, what stands behind a value's offset is the same in a
request's commits: either is put into words once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cli.verbs.log_dump.runs import per_run
from cli.verbs.log_dump.texts import Texts

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
class Places:
    """Where keys and values stand in `data`: byte of the begin and of the end, -1 for a null one."""

    data: bytes
    key_start: Ints
    key_end: Ints
    value_start: Ints
    value_end: Ints


def plain_commits(places: Places, candidates: NDArray[np.bool_], texts: Texts) -> Iterator[PlainCommits]:
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


def _key_begins(places: Places, found: Ints, texts: Texts) -> list[str]:
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
    places: Places,
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


def _of_shape(octets: Octets, places: Places, version: int, with_topic_id: bool) -> NDArray[np.bool_]:
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
