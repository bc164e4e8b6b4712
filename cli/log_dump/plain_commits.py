"""The values of most offset commits, many at a time: version 3 or 4, without metadata, with a topic id or without.

    version i16 · offset i64 · leader epoch i32 · metadata, empty · commit timestamp i64 [· tagged fields]

Metadata are a string of length 0 in 16 bits (version 3) or of length 0 + 1 in 8 (version 4). Tagged fields follow in
version 4: a zero, or one field of number 0 with 16 bytes, the topic's id. Any other shape is for `Texts.payload`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cli.log_dump.texts import NULL

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


def plain_payloads(data: bytes, starts: Ints, ends: Ints, topic_id: Callable[[bytes], str]) -> list[str]:
    """The JSON of each value ``data[start:end]`` that is of a plain shape, "null" of every other.

    An end of -1 is a null value. `topic_id` gives a topic id's text. The keys must be those of offset commits.
    """
    octets = np.frombuffer(data, dtype=np.uint8)
    texts = [NULL] * len(starts)
    for version, with_topic_id in ((3, False), (4, False), (4, True)):
        places = np.flatnonzero(_of_shape(octets, starts, ends, version, with_topic_id))
        if not len(places):
            continue
        at = starts[places]
        offsets = _int64s(octets, at + _OFFSET_AT)
        epochs = _int32s(octets, at + _EPOCH_AT)
        times = _int64s(octets, at + _TIME_AT[version])
        topics = [
            f',"topicId":"{topic_id(data[start : start + _UUID_BYTES])}"' if with_topic_id else ""
            for start in (at + _TOPIC_ID_AT).tolist()
        ]
        begin = f'{{"version":"{version}","data":{{"offset":'
        for place, offset, epoch, time, topic in zip(
            places.tolist(), offsets, epochs, times, topics, strict=True
        ):
            texts[place] = (
                f'{begin}{offset},"leaderEpoch":{epoch},"metadata":"","commitTimestamp":{time}{topic}}}}}'
            )
    return texts


def _of_shape(
    octets: Octets, starts: Ints, ends: Ints, version: int, with_topic_id: bool
) -> NDArray[np.bool_]:
    fits: NDArray[np.bool_] = ends - starts == (_BYTES_WITH_TOPIC_ID if with_topic_id else _BYTES)
    at = np.where(fits, starts, 0)
    if fits.any():
        for place, octet in _fixed(version, with_topic_id).items():
            fits &= octets[at + place] == octet
    if with_topic_id and fits.any():
        # Of a tagged field that has its default no broker writes anything, and none is shown.
        fits &= octets[(at + _TOPIC_ID_AT)[:, None] + np.arange(_UUID_BYTES)].any(axis=1)
    return fits


def _fixed(version: int, with_topic_id: bool) -> dict[int, int]:
    """The octets that make the shape, by their place in the value."""
    if version == 3:
        return {0: 0, 1: version, _METADATA_AT: 0, _METADATA_AT + 1: 0}
    tags = (1, 0, _UUID_BYTES) if with_topic_id else (0,)
    return {0: 0, 1: version, _METADATA_AT: 1} | {_TAGS_AT + place: octet for place, octet in enumerate(tags)}


def _int64s(octets: Octets, at: Ints) -> list[int]:
    numbers: list[int] = octets[at[:, None] + np.arange(8)].view(">i8")[:, 0].tolist()
    return numbers


def _int32s(octets: Octets, at: Ints) -> list[int]:
    numbers: list[int] = octets[at[:, None] + np.arange(4)].view(">i4")[:, 0].tolist()
    return numbers
