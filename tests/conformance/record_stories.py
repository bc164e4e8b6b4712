"""Requests about a server's logs, one after the other, and its answers in a comparable form."""

import itertools
import re
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from coordinator.server.served import SERVED
from tests.kafka.members import fresh_name
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until
from wire.log.batch_header import ATTRIBUTES_AT, batch_at
from wire.log.batch_writer import encode_batch
from wire.log.checksum import crc32c
from wire.log.log_records import records_of

APIS = {served.api.name: served.api for served in SERVED.values()}
CLOSED = "the connection is closed"
TIMEOUT_S = 20
START_MS = 1_700_000_000_000  # Timestamp of records whose time does not matter

LIMITS = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20}
_LENGTH = struct.Struct(">i")


class Asker:
    """Sends requests to one server, and keeps its answers."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._connection: socket.socket | None = None
        self._correlation = itertools.count(1)
        self.topic = fresh_name("records")
        self.topic_id: UUID | None = None

        self.answers: list[tuple[str, Any]] = []  # the answers, each with a label of the request

    def create(self, configs: Mapping[str, str] | None = None, partitions: int = 2) -> None:
        named = [{"name": name, "value": value} for name, value in (configs or {}).items()]
        sizes = {"num_partitions": partitions, "replication_factor": 1, "assignments": ()}
        made = self.raw("CreateTopics", 7, topics=[{"name": self.topic, **sizes, "configs": named}])
        assert made.topics[0].error_code == 0, made
        self.topic_id = made.topics[0].topic_id
        wait_until(lambda: all(map(self.is_led, range(partitions))), f"{self.topic} is led")

    def is_led(self, partition: int) -> bool:
        answer = self._listed(-1, version=7, partition=partition, epoch=-1)
        return bool(answer.topics[0].partitions[0].error_code == 0)

    def delete(self) -> None:
        self.raw("DeleteTopics", 6, topics=[{"name": self.topic, "topic_id": None}], timeout_ms=10_000)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def send(self, api: str, version: int, **fields: Any) -> socket.socket:
        if self._connection is None:
            self._connection = socket.create_connection((HOST, self.port), TIMEOUT_S)
        message = APIS[api].encode_request(version, next(self._correlation), "stories", fields)
        self._connection.sendall(_LENGTH.pack(len(message)) + message)
        return self._connection

    def receive(self, api: str, version: int) -> Any:
        assert self._connection is not None
        with self._connection.makefile("rb") as stream:
            head = stream.read(4)
            if len(head) < 4:
                self.close()
                return CLOSED
            content = stream.read(_LENGTH.unpack(head)[0])
        return APIS[api].decode_response(version, content[4:])

    def raw(self, api: str, version: int, **fields: Any) -> Any:
        self.send(api, version, **fields)
        return self.receive(api, version)

    def note(self, word: str, answer: Any) -> Any:
        self.answers.append((word, plain(answer, self)))
        return answer

    def produce(
        self, word: str, records: bytes | None, *, version: int = 9, acks: int = -1, **named: Any
    ) -> Any:
        """Produce to partition 0, or to the partition in `named`."""
        self.send_records(records, version=version, acks=acks, **named)
        return self.note(word, self.receive("Produce", version))

    def send_records(self, records: bytes | None, *, version: int = 9, acks: int = -1, **named: Any) -> None:
        """As `produce`, without waiting."""
        partition = {"index": named.pop("partition", 0), "records": records}
        transactional_id = named.pop("transactional_id", None)
        named = {"name": named.pop("topic", self.topic), "topic_id": self.topic_id, **named}
        topic = {**named, "partition_data": [partition]}
        fields = {"transactional_id": transactional_id, "acks": acks, "timeout_ms": 10_000}
        self.send("Produce", version, **fields, topic_data=[topic])

    def new_producer_id(self) -> int:
        answer = self.raw("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=60_000)
        assert answer.error_code == 0
        return int(answer.producer_id)

    def fetch_fields(
        self,
        partitions: Sequence[Mapping[str, Any]],
        *,
        session: tuple[int, int] = (0, -1),
        forgotten: Sequence[int] = (),
        **fields: Any,
    ) -> dict[str, Any]:
        """Fields of a fetch of partitions of the topic; each has a `partition` and its differences from the default."""
        topic = {"topic": fields.pop("topic", self.topic), "topic_id": fields.pop("topic_id", self.topic_id)}
        usual = {"fetch_offset": 0, "partition_max_bytes": 1 << 20}
        asked = [{**topic, "partitions": [{**usual, **one} for one in partitions]}]
        of_session = dict(zip(("session_id", "session_epoch"), session, strict=True))
        return {
            **LIMITS,
            **of_session,
            "topics": asked if partitions else (),
            "forgotten_topics_data": [{**topic, "partitions": forgotten}] if forgotten else (),
            **fields,
        }

    def fetch(self, word: str, *partitions: Mapping[str, Any], version: int = 12, **fields: Any) -> Any:
        return self.note(word, self.raw("Fetch", version, **self.fetch_fields(partitions, **fields)))

    def start_of(self, partition: int) -> int:
        answer = self._listed(-2, version=7, partition=partition, epoch=-1)
        return int(answer.topics[0].partitions[0].offset)

    def list_offset(
        self, word: str, timestamp: int, *, version: int = 7, partition: int = 0, epoch: int = -1
    ) -> Any:
        return self.note(word, self._listed(timestamp, version=version, partition=partition, epoch=epoch))

    def _listed(self, timestamp: int, *, version: int, partition: int, epoch: int) -> Any:
        one = {"partition_index": partition, "current_leader_epoch": epoch, "timestamp": timestamp}
        fields = {"replica_id": -1, "isolation_level": 0, "timeout_ms": 5_000}
        return self.raw("ListOffsets", version, **fields, topics=[{"name": self.topic, "partitions": [one]}])

    def end_of_epoch(self, word: str, epoch: int, *, current: int = -1, partition: int = 0) -> Any:
        one = {"partition": partition, "current_leader_epoch": current, "leader_epoch": epoch}
        topics = [{"topic": self.topic, "partitions": [one]}]
        return self.note(word, self.raw("OffsetForLeaderEpoch", 4, replica_id=-1, topics=topics))

    def delete_records(self, word: str, offset: int, *, partition: int = 0) -> Any:
        one = {"partition_index": partition, "offset": offset}
        topics = [{"name": self.topic, "partitions": [one]}]
        return self.note(word, self.raw("DeleteRecords", 2, topics=topics, timeout_ms=10_000))


def plain(value: Any, asker: Asker) -> Any:
    """An answer as dictionaries and lists, without values that differ between servers."""
    if hasattr(value, "names"):
        fields = {name: plain(getattr(value, name), asker) for name in value.names}
        for name in ("throttle_time_ms", "host", "port", "node_endpoints"):
            fields.pop(name, None)
        if "session_id" in fields:
            fields["session_id"] = bool(fields["session_id"])
        if "leader_id" in fields:
            fields["leader_id"] = fields["leader_id"] >= 0
        return fields
    if isinstance(value, tuple):
        return [plain(element, asker) for element in value]
    if isinstance(value, UUID):
        return "its topic" if value == asker.topic_id else "another topic"
    if isinstance(value, str):
        value = value.replace(asker.topic, "its topic")
        return re.sub(r"-?\b\d{13,19}\b", "a time", value)
    return value


def batch_of(*values: bytes | None, timestamp: int = START_MS, **fields: Any) -> bytes:
    return encode_batch([(b"key", value) for value in values], base_offset=0, timestamp=timestamp, **fields)


def patched(batch: bytes, position: int, layout: str, value: int, *, right: bool = True) -> bytes:
    """The batch with another number at `position`, with a corrected checksum if `right`."""
    out = bytearray(batch)
    struct.pack_into(layout, out, position, value)
    if right:
        struct.pack_into(">I", out, 17, crc32c(memoryview(out)[ATTRIBUTES_AT:]))
    return bytes(out)


def tell_of_refused_records(asker: Asker) -> None:
    asker.create({"max.message.bytes": "2000"})
    good = batch_of(b"a", b"b")
    asker.produce("empty", b"")
    asker.produce("eleven bytes", good[:11])
    asker.produce("cut off", good[:-1])
    asker.produce("a short length", patched(good, 8, ">i", 10, right=False))
    asker.produce("less than a header", patched(good, 8, ">i", 20, right=False)[:32])
    asker.produce("bytes follow", good + b"xyz")
    asker.produce("two batches", good + good)
    asker.produce("magic 1", patched(good, 16, ">b", 1, right=False))
    asker.produce("magic 3", patched(good, 16, ">b", 3, right=False))
    asker.produce("offset 5", patched(good, 0, ">q", 5))
    asker.produce("a wrong checksum", patched(good, 17, ">I", 1, right=False))
    asker.produce("too large", batch_of(bytes(3000)))
    asker.produce("no records", patched(good, 57, ">i", 0))
    asker.produce("one record less", patched(good, 57, ">i", 1))
    asker.produce("a negative delta", patched(good, 23, ">i", -2))
    asker.produce("a control batch", batch_of(b"a", control=True))
    asker.produce("a producer without numbers", batch_of(b"a", producer_id=5, producer_epoch=0))
    asker.produce("the broker's timestamps", batch_of(b"a", log_append_time=True))
    asker.produce("the future", batch_of(b"a", b"b", timestamp=int(time.time() * 1000) + 86_400_000))
    asker.produce("another topic", good, topic="nowhere")
    asker.produce("another partition", good, partition=7)
    asker.produce("another id", good, topic_id=UUID(int=7), version=13)
    asker.produce("no id", good, topic_id=None, version=13)
    asker.produce("the partition of an id", good, partition=7, version=13)
    asker.produce("acks of 2", good, acks=2)
    asker.produce("records that do not fill it", patched(good, 61, ">b", 2))
    asker.produce("a bad codec", patched(good, 21, ">h", 7))
    asker.produce("bad snappy", patched(good, 21, ">h", 2))
    asker.produce("bad gzip", patched(good, 21, ">h", 1))
    asker.produce("taken at last", good)
    asker.produce("by id", good, version=13)
    for version in range(3, 9):
        asker.produce(f"version {version}", good, version=version)
    asker.fetch("the log", {"partition": 0})


def tell_of_compacted_topic(asker: Asker) -> None:
    asker.create({"cleanup.policy": "compact", "message.timestamp.before.max.ms": "1000"})
    now_ms = int(time.time() * 1000)
    keyless = encode_batch([(b"k", b"v"), (None, b"v"), (None, b"w")], base_offset=0, timestamp=now_ms)
    asker.produce("without keys", keyless)
    old = encode_batch([(None, b"v")] * 2, base_offset=0, timestamp=now_ms - 60_000)
    asker.produce("too old and without a key", old)
    asker.produce("with keys", batch_of(b"a", timestamp=now_ms))
    asker.delete_records("kept", 0)


def tell_of_offsets(asker: Asker) -> None:
    """Start offsets, end offsets, and offsets by time."""
    asker.create()
    for version in (1, 4, 7, 11):
        for timestamp in range(-7, 1):
            asker.list_offset(f"nothing, v{version}: {timestamp}", timestamp, version=version)
    asker.produce("at 10", batch_of(b"a", b"b", timestamp=START_MS + 10))
    asker.produce("at 30", batch_of(b"c", timestamp=START_MS + 30))
    asker.produce("at 20", batch_of(b"d", b"e", timestamp=START_MS + 20))
    for timestamp in range(-7, 0):
        asker.list_offset(f"special: {timestamp}", timestamp, version=11)
    for after in (0, 10, 11, 20, 25, 30, 31):
        asker.list_offset(f"since {after}", START_MS + after)
    asker.list_offset("an old epoch", -1, epoch=-2)
    asker.list_offset("a new epoch", -1, epoch=7)
    asker.list_offset("another partition", -1, partition=5)
    for epoch in (-1, 0, 1, 5):
        asker.end_of_epoch(f"the end of epoch {epoch}", epoch)
    asker.end_of_epoch("of a new leader", 0, current=9)
    asker.end_of_epoch("of no partition", 0, partition=9)
    asker.delete_records("up to 3", 3)
    asker.delete_records("up to 1", 1)
    asker.delete_records("too far", 6)
    asker.delete_records("a negative offset", -5)
    asker.delete_records("of no partition", 0, partition=9)
    asker.list_offset("the begin", -2)
    asker.list_offset("the latest time", -3)
    asker.list_offset("a deleted time", START_MS)
    asker.fetch("deleted", {"partition": 0, "fetch_offset": 2})
    asker.fetch("within a batch", {"partition": 0, "fetch_offset": 4})
    asker.delete_records("all", -1)
    asker.list_offset("begins at its end", -2)
    asker.list_offset("no time", START_MS)
    asker.fetch("at its end", {"partition": 0, "fetch_offset": 5})


def tell_of_fetches(asker: Asker) -> None:
    asker.create()
    for value in (b"a", b"b", b"c"):
        asker.produce("one", batch_of(value * 100))
    for version in (4, 5, 7, 9, 11, 12, 13, 15, 16, 17, 18):
        asker.fetch(f"all, v{version}", {"partition": 0}, version=version)
    asker.fetch("committed", {"partition": 0}, isolation_level=1)
    asker.fetch("from 1", {"partition": 0, "fetch_offset": 1})
    asker.fetch("at the end", {"partition": 0, "fetch_offset": 3})
    asker.fetch("after the end", {"partition": 0, "fetch_offset": 4})
    asker.fetch("before the begin", {"partition": 0, "fetch_offset": -1})
    asker.fetch("no partition", {"partition": 5})
    asker.fetch("no topic", {"partition": 0}, topic="nowhere")
    asker.fetch("no id", {"partition": 0}, topic_id=UUID(int=9), version=13)
    asker.fetch("a new epoch", {"partition": 0, "current_leader_epoch": 9}, version=16)
    asker.fetch("this epoch", {"partition": 0, "current_leader_epoch": 0})
    asker.fetch("read in this epoch", {"partition": 0, "last_fetched_epoch": 0, "fetch_offset": 3})
    asker.fetch("read in a later epoch", {"partition": 0, "last_fetched_epoch": 4, "fetch_offset": 3})
    asker.fetch("read too far", {"partition": 0, "last_fetched_epoch": 0, "fetch_offset": 5})
    asker.fetch("one byte", {"partition": 0}, max_bytes=1)
    asker.fetch("one byte of the partition", {"partition": 0, "partition_max_bytes": 1})
    asker.fetch("twice", {"partition": 0}, {"partition": 0})


def tell_of_sessions(asker: Asker) -> None:
    asker.create(partitions=3)
    asker.produce("one", batch_of(b"a"))
    begun = asker.fetch("begins", {"partition": 0}, {"partition": 1}, session=(0, 0))
    number = begun.session_id
    asker.fetch("no news", {"partition": 0, "fetch_offset": 1}, session=(number, 1))
    asker.fetch("nothing asked", session=(number, 2))
    asker.produce("two", batch_of(b"b"), partition=1)
    asker.fetch("news of 1", session=(number, 3))
    asker.fetch("still there", session=(number, 4))
    asker.fetch("an epoch again", session=(number, 4))
    asker.fetch("an error", {"partition": 1, "fetch_offset": 9}, session=(number, 5))
    asker.fetch("the error again", session=(number, 6))
    asker.fetch("the error is gone", {"partition": 1, "fetch_offset": 1}, session=(number, 7))
    asker.fetch("one more partition", {"partition": 2}, session=(number, 8))
    asker.fetch("without 2", session=(number, 9), forgotten=[2])
    asker.fetch("by ids now", session=(number, 10), version=13)
    asker.fetch("without any", session=(number, 10), forgotten=[0, 1])
    asker.fetch("it is gone", session=(number, 11))
    asker.fetch("never was", session=(12345, 1))
    again = asker.fetch("begins by id", {"partition": 0}, session=(0, 0), version=13)
    asker.fetch("continues by id", session=(again.session_id, 1), version=13)
    asker.fetch("ends", {"partition": 0}, session=(again.session_id, -1), version=13)
    asker.fetch("it has ended", session=(again.session_id, 2), version=13)


def tell_of_append_times(asker: Asker) -> None:
    asker.create({"message.timestamp.type": "LogAppendTime"})
    before = int(time.time() * 1000)
    asker.send_records(batch_of(b"a", b"b"), acks=1)
    produced = asker.receive("Produce", 9)
    (part,) = produced.responses[0].partition_responses
    asker.answers.append(("the broker's time", before - 1000 <= part.log_append_time_ms <= before + 10_000))
    fetched = asker.raw("Fetch", 12, **asker.fetch_fields([{"partition": 0}]))
    records = fetched.responses[0].partitions[0].records
    attributes, _, first, latest = struct.unpack_from(">hiqq", records, 21)
    asker.answers.append(("in the batch", (attributes, first, latest == part.log_append_time_ms)))
    (crc,) = struct.unpack_from(">I", records, 17)
    asker.answers.append(("its checksum", crc == crc32c(records[21:])))


def tell_of_settings(asker: Asker) -> None:
    asker.create({"min.insync.replicas": "2", "compression.type": "gzip"})
    asker.produce("all replicas", batch_of(b"a"), acks=-1)
    asker.produce("the leader", batch_of(b"a" * 100), acks=1)
    fetched = asker.raw("Fetch", 12, **asker.fetch_fields([{"partition": 0}]))
    records = fetched.responses[0].partitions[0].records
    batch = batch_at(records)
    asker.answers.append(("compressed", batch.codec))
    asker.answers.append(("the same records", [record.value for record in records_of(batch, records)]))


STORIES = (
    tell_of_refused_records,
    tell_of_compacted_topic,
    tell_of_offsets,
    tell_of_fetches,
    tell_of_sessions,
    tell_of_append_times,
    tell_of_settings,
)
