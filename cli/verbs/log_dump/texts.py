"""Keys and values of records as JSON texts, the very fields that `kafka-dump-log --offsets-decoder` prints.

Most records of a log are offset commits, under keys that come again and again: keys are remembered, and the values of
offset commits are put into words without the schemas.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from wire.log.offset_records import OFFSET_COMMIT, key_type, read_offset_key, read_offset_value
from wire.messages.record_codec import MalformedRecord, UnknownKeyType, json_key, json_value
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
        """The value ``data[start:end]`` under a key of type `number`. :raises MalformedRecord: it is none"""
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
    except MalformedRecord as error:
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
    except MalformedRecord:
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
