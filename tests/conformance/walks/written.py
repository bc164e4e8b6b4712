"""The records that both servers wrote about a group: equal, in the same order. They are compared as a broker that loads
them has them. Topics by id stand in the order of its map: where they share a bin the order in which they were written
shows. Times are left out. Offsets that are deleted together are sorted: a broker deletes them in the order of a hash
map, Kohort in the order of their commits."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from assignors.java.hash_map import map_order, uuid_hashes, uuid_sort_key
from coordinator.engine.records import Record
from coordinator.store.partition_files import partition_for
from coordinator.store.records import encode_record
from wire.log.log_records import records_of
from wire.log.segments import read_log
from wire.messages.record_codec import json_key, json_value
from wire.uuids import parse_uuid

AROUND = 8
OF_TIME = frozenset({"assignmentTimestamp", "commitTimestamp", "currentStateTimestamp"})


def by_broker(data: Path, group: str) -> list[str]:
    """The records of a group, from the data directory of a broker, which may be running."""
    partitions = len(list(data.glob("__consumer_offsets-*")))
    return _sorted_deletions(
        _shown(record.key, record.value)
        for segment in read_log(data / f"__consumer_offsets-{partition_for(group, partitions)}")
        for batch in segment.batches
        for record in records_of(batch, segment.data)
        if record.key is not None and group in json_key(record.key)["data"].values()
    )


def by_kohort(records: Iterable[Record]) -> list[str]:
    return _sorted_deletions(_shown(*encode_record(record)) for record in records)


def difference(theirs: Sequence[str], ours: Sequence[str]) -> str | None:
    for i, (one, other) in enumerate(zip_longest(theirs, ours)):
        if one != other:
            around = slice(max(0, i - AROUND), i + 2 * AROUND)
            return "\n".join((f"record {i} of Kafka:", *theirs[around], "of Kohort:", *ours[around]))
    return None


def _sorted_deletions(shown: Iterable[str]) -> list[str]:
    def deletes_offset(record: str) -> bool:
        return record.endswith(", null]") and record.startswith('[{"type": "1"')

    runs = groupby(shown, deletes_offset)
    return [record for deleted, run in runs for record in (sorted(run) if deleted else run)]


def _shown(key: bytes, value: bytes | None) -> str:
    shown = json_key(key)
    if value is None:
        return json.dumps([shown, None])
    written = json_value(int(shown["type"]), value)
    written["data"] = {name: _loaded(one) for name, one in written["data"].items() if name not in OF_TIME}
    return json.dumps([shown, written])


def _loaded(field: Any) -> Any:
    """A field; lists of topics are in the order of Java's maps of their ids."""
    if not (isinstance(field, list) and field and "topicId" in field[0]):
        return field
    ids = [parse_uuid(topic["topicId"]) for topic in field]
    order = map_order(uuid_hashes(ids), keys=[uuid_sort_key(id_) for id_ in ids])
    return [_ascending(field[i]) for i in order.indices.tolist()]


def _ascending(topic: dict[str, Any]) -> dict[str, Any]:
    lists = {name: numbers for name, numbers in topic.items() if isinstance(numbers, list)}
    rows = sorted(zip(*lists.values(), strict=True))
    return {**topic, **dict(zip(lists, zip(*rows, strict=True), strict=True))}
