"""Requests of idempotent and transactional producers, one after the other, with answers in a comparable form."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from tests.conformance.record_stories import START_MS, Asker
from tests.kafka.wait import wait_until
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.control_records import ending

BUSY = {14, 15, 16, 51}
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS."""
READY_S = 30
TIMES = ("last_timestamp", "transaction_start_time_ms")


class TransactionAsker(Asker):
    """Its topic is also the name of its transactional id and of its group. `id` and `epoch` are its producer's."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.id, self.epoch = -1, -1
        self._producers: dict[int, str] = {}
        self._is_found = False

    def tell(self, word: str, api: str, version: int, **fields: Any) -> Any:
        answer = self.raw(api, version, **fields)
        self.note(word, answer)
        self.answers[-1] = (word, self._shown(self.answers[-1][1]))
        return answer

    def init(self, word: str, *, version: int = 4, **fields: Any) -> Any:
        """InitProducerId, repeated while the coordinator is busy; its id and epoch become the producer's."""
        asked = {"transactional_id": self.topic, "transaction_timeout_ms": 60_000, **fields}
        if not self._is_found:  # a broker creates the log of transactions at the first request
            wait_until(self._find_coordinator, "there is a coordinator")
        wait_until(
            lambda: self.raw("InitProducerId", version, **asked).error_code not in BUSY,
            "it is ready",
            timeout_s=READY_S,
        )
        answer = self.tell(word, "InitProducerId", version, **asked)
        if not answer.error_code:
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
        return answer

    def has_groups(self) -> None:
        """Wait until a broker that has just started has the log of groups."""

        def can_commit() -> bool:
            self.raw("FindCoordinator", 3, key=self.topic, key_type=0)
            groups = [{"group_id": self.topic, "topics": None}]
            answer = self.raw("OffsetFetch", 9, groups=groups, require_stable=False)
            return answer.groups[0].error_code not in BUSY

        wait_until(can_commit, "groups are coordinated")

    def _find_coordinator(self) -> bool:
        answer = self.raw("FindCoordinator", 3, key=self.topic, key_type=1)
        self._is_found = answer.error_code == 0
        return self._is_found

    def init_once(self, word: str, *, version: int = 4, **fields: Any) -> Any:
        """InitProducerId; ignores the result."""
        asked = {"transactional_id": self.topic, "transaction_timeout_ms": 60_000, **fields}
        return self.tell(word, "InitProducerId", version, **asked)

    def producer(self, **fields: int) -> dict[str, Any]:
        return {"producer_id": self.id, "producer_epoch": self.epoch, **fields}

    def add(self, word: str, *partitions: int, version: int = 3, topic: str = "", **more: Any) -> None:
        topics = [{"name": topic or self.topic, "partitions": partitions}]
        fields = {"transactional_id": self.topic, "topics": topics, **self.producer(), **more}
        old = {f"v3_and_below_{name}": value for name, value in fields.items()}
        self.tell(word, "AddPartitionsToTxn", version, **old)

    def write(
        self,
        word: str,
        sequence: int,
        *values: bytes,
        version: int = 9,
        transactional: bool = True,
        partition: int = 0,
        transactional_id: str | None = "",
        **producer: int,
    ) -> None:
        of_producer = self.producer(**producer)
        records = encode_batch(
            [(b"key", value) for value in values or (b"value",)],
            base_offset=0,
            timestamp=START_MS,
            base_sequence=sequence,
            transactional=transactional,
            **of_producer,
        )
        name = self.topic if transactional_id == "" else transactional_id
        self.produce(word, records, version=version, transactional_id=name, partition=partition)
        self.answers[-1] = (word, self._shown(self.answers[-1][1]))

    def end(self, word: str, *, committed: bool, version: int = 3, **more: Any) -> Any:
        """EndTxn; from v5 on the answer contains the producer's next id and epoch."""
        fields = {"transactional_id": self.topic, **self.producer(), **more}
        answer = self.tell(word, "EndTxn", version, committed=committed, **fields)
        if version >= 5 and not answer.error_code and not more:
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
        return answer

    def completes(self) -> None:
        wait_until(lambda: not self._state().startswith("Prepare"), "the transaction is complete")

    def _state(self) -> str:
        answer = self.raw("DescribeTransactions", 0, transactional_ids=[self.topic])
        return str(answer.transaction_states[0].transaction_state)

    def look(self, word: str, partition: int = 0) -> None:
        """Records that consumers of both isolation levels read, and their end offsets."""
        for isolation in (0, 1):
            fields = self.fetch_fields([{"partition": partition}], isolation_level=isolation)
            answer = self.raw("Fetch", 12, **fields)
            (fetched,) = answer.responses[0].partitions
            aborted = [
                (self._name(one.producer_id), one.first_offset) for one in fetched.aborted_transactions or ()
            ]
            offsets = fetched.high_watermark, fetched.last_stable_offset
            shown = (fetched.error_code, offsets, aborted, self._batches(fetched.records or b""))
            self.answers.append((f"{word}: isolation {isolation}", shown))
            one = {"partition_index": partition, "current_leader_epoch": -1, "timestamp": -1}
            topic = {"name": self.topic, "partitions": [one]}
            asked = {"replica_id": -1, "isolation_level": isolation, "topics": [topic]}
            self.tell(f"{word}: the end, isolation {isolation}", "ListOffsets", 7, **asked)

    def describe(self, word: str, *transactional_ids: str) -> None:
        names = transactional_ids or (self.topic,)
        self.tell(word, "DescribeTransactions", 0, transactional_ids=names)
        topics = [{"name": self.topic, "partition_indexes": [0, 1, 9]}]
        self.tell(f"{word}: producers", "DescribeProducers", 0, topics=topics)

    def commit_offsets(
        self,
        word: str,
        *,
        version: int = 3,
        partitions: Iterable[int] = (0,),
        topic: str = "",
        topic_id: UUID | None = None,
        epoch: int = -1,
        **more: Any,
    ) -> None:
        entries = [
            {"partition_index": partition, "committed_offset": 5, "committed_metadata": "m"}
            for partition in partitions
        ]
        fields = {"transactional_id": self.topic, "group_id": self.topic, **self.producer(), **more}
        names = {"name": topic or self.topic, "topic_id": topic_id or self.topic_id}
        topics = [{**names, "partitions": entries}]
        fields |= {"generation_id_or_member_epoch": epoch, "topics": topics}
        self.tell(word, "TxnOffsetCommit", version, **fields)

    def add_offsets(self, word: str, *, version: int = 3, **producer: int) -> None:
        fields = {"transactional_id": self.topic, "group_id": self.topic, **self.producer(**producer)}
        self.tell(word, "AddOffsetsToTxn", version, **fields)

    def offsets(self, word: str) -> None:
        for stable in (False, True):
            topics = [{"name": self.topic, "partition_indexes": [0, 1]}]
            group = {"group_id": self.topic, "topics": topics}
            self.tell(f"{word}: {stable}", "OffsetFetch", 9, groups=[group], require_stable=stable)

    def _name(self, producer_id: int) -> str:
        return self._producers.setdefault(producer_id, f"producer {len(self._producers)}")

    def _shown(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            shown = {name: self._shown(one) for name, one in value.items()}
            if value.get("producer_id", -1) > 0:
                shown["producer_id"] = self._name(value["producer_id"])
            for name in TIMES:
                if value.get(name, -1) > 0:
                    shown[name] = "a time"
            return shown
        if isinstance(value, list):
            return sorted((self._shown(element) for element in value), key=str)  # many are Java's sets
        return value

    def _batches(self, records: bytes) -> list[Any]:
        return [
            (
                batch.base_offset,
                batch.count,
                self._name(batch.producer_id) if batch.producer_id >= 0 else "no producer",
                batch.producer_epoch,
                batch.base_sequence,
                ending(batch, records) if batch.is_control else batch.is_transactional,
            )
            for batch in scan(records, "").batches
        ]


def tell_of_numbered_batches(asker: TransactionAsker) -> None:
    """Producers without transactions: duplicates, gaps, and old epochs."""
    asker.create()
    asker.init("an id", transactional_id=None)
    for sequence in range(7):
        asker.write(f"number {sequence}", sequence, transactional=False, transactional_id=None)
    for sequence in (6, 2, 1, 8, 7):
        asker.write(f"again {sequence}", sequence, transactional=False, transactional_id=None)
    asker.write("two at once", 8, b"a", b"b", transactional=False, transactional_id=None)
    asker.write("the second of them", 9, transactional=False, transactional_id=None)
    asker.write("another epoch, not from 0", 1, transactional=False, producer_epoch=1)
    asker.write("another epoch", 0, transactional=False, producer_epoch=1)
    asker.write("the old epoch", 10, transactional=False)
    asker.write("begins anywhere", 17, transactional=False, partition=1)
    asker.write("one who is not known", 3, transactional=False, producer_id=asker.id + 500_000)
    asker.look("the log")
    asker.init_once("only an id", transactional_id=None, producer_id=4)
    asker.init_once("only an epoch", transactional_id=None, producer_epoch=4)
    asker.init_once("an id and an epoch", transactional_id=None, producer_id=4, producer_epoch=3)
    asker.describe("without transactions")


def tell_of_transactions_that_are_announced(asker: TransactionAsker) -> None:
    """Transactions of clients before 4.0: AddPartitionsToTxn, then records, then EndTxn."""
    asker.create()
    asker.init("begins")
    asker.end("nothing to commit", committed=True)
    asker.end("nothing to abort", committed=False)
    asker.write("not announced", 0)
    asker.write("not announced, v11", 0, version=11)
    asker.add("both", 0, 1)
    asker.add("one again", 1)
    asker.write("first", 0, b"a", b"b")
    asker.write("second", 2)
    asker.write("first, again", 0, b"a", b"b")
    asker.write("without a transaction", 3, transactional=False)
    asker.write("without an id", 3, transactional_id=None)
    asker.write("of another id", 3, transactional_id="stranger")
    asker.look("open")
    asker.describe("open")
    asker.end("commits", committed=True)
    asker.completes()
    asker.look("committed")
    asker.look("committed, nothing in it", partition=1)
    asker.describe("committed")
    asker.end("commits again", committed=True)
    asker.end("too late to abort", committed=False)
    asker.add("the next", 0)
    asker.write("third", 3)
    asker.end("aborts", committed=False)
    asker.completes()
    asker.look("aborted")
    asker.end("aborts again", committed=False)
    asker.end("too late to commit", committed=True)
    asker.write("after the end", 4)
    asker.describe("aborted", asker.topic, "stranger", "")


def tell_of_transactions_of_version_2(asker: TransactionAsker) -> None:
    """Transactions of clients since 4.0 (KIP-890): records alone, and the epoch increases with every end."""
    asker.create()
    asker.init("begins", version=5)
    asker.end("nothing to commit", committed=True, version=5)
    asker.write("first", 0, version=12)
    asker.look("open")
    asker.write("by id", 1, version=13)
    before = asker.producer()
    asker.end("commits", committed=True, version=5)
    asker.completes()
    asker.look("committed")
    asker.end("commits again", committed=True, version=5, **before)
    asker.end("too late to abort", committed=False, version=5, **before)
    asker.write("the old epoch", 2, version=12, **before)
    asker.end("nothing to abort", committed=False, version=5)
    asker.completes()
    asker.write("second", 0, version=12, partition=1)
    asker.write("not from 0", 1, version=12)
    before = asker.producer()
    asker.end("aborts", committed=False, version=5)
    asker.completes()
    asker.look("aborted", partition=1)
    asker.end("aborts again", committed=False, version=5, **before)
    asker.end("an epoch of the future", committed=False, version=5, **asker.producer(producer_epoch=99))
    asker.write("an epoch of the future", 0, version=12, producer_epoch=99)
    asker.describe("aborted")


def tell_of_fencing(asker: TransactionAsker) -> None:
    asker.create()
    asker.init("the first")
    old = asker.producer()
    asker.init("the second")
    for version in (1, 3):
        asker.add(f"the first adds, v{version}", 0, version=version, **old)
        asker.end(f"the first commits, v{version}", committed=True, version=version, **old)
        asker.add_offsets(f"the first adds offsets, v{version}", version=version, **old)
    asker.end("the first commits, v5", committed=True, version=5, **old)
    asker.write("the first writes", 0, **old)
    asker.write("the first writes, v12", 0, version=12, **old)
    for version in (3, 4):
        asker.init_once(f"the first continues, v{version}", version=version, **old)
    asker.add("another id", 0, producer_id=asker.id + 9)
    asker.end("another id", committed=True, producer_id=asker.id + 9)
    asker.write("another id", 0, producer_id=asker.id + 9)
    asker.add("of a stranger", 0, transactional_id="stranger")
    asker.end("of a stranger", committed=True, transactional_id="stranger")
    asker.add("of no name", 0, transactional_id="")
    asker.end("of no name", committed=True, transactional_id="")
    asker.init("continues", **asker.producer())
    asker.init("continues, sent again", **asker.producer(producer_epoch=asker.epoch - 1))
    asker.add("is open", 0)
    asker.write("is open", 0)
    open_one = asker.producer()
    asker.init("a third finds it open")
    asker.completes()
    asker.write("the second writes", 1, **open_one)
    asker.look("aborted by the third")
    asker.write("is open, v12", 0, version=12)
    asker.init("a fourth finds it open")
    asker.completes()
    asker.init_once("no time", transaction_timeout_ms=0)
    asker.init_once("too much time", transaction_timeout_ms=900_001)
    asker.init_once("no name", transactional_id="")


def tell_of_partitions(asker: TransactionAsker) -> None:
    asker.create()
    asker.init("begins")
    asker.add("no topic", 0, topic="nowhere")
    asker.add("no partition", 0, 7)
    for version in (0, 1, 2):
        asker.add(f"v{version}", 0, version=version)
    for verify, partitions in ((True, (0, 1)), (True, (0, 7)), (False, (1,)), (True, (0, 1))):
        transaction = {
            "transactional_id": asker.topic,
            **asker.producer(),
            "verify_only": verify,
            "topics": [{"name": asker.topic, "partitions": partitions}],
        }
        stranger = {**transaction, "transactional_id": "stranger"}
        transactions = [transaction, stranger]
        asker.tell(f"{verify} {partitions}", "AddPartitionsToTxn", 5, transactions=transactions)
    asker.describe("both")
    asker.write("open", 0)
    for whose, values in (
        ("of a stranger", {"producer_id": asker.id + 9}),
        ("of an old epoch", {"producer_epoch": asker.epoch - 1}),
        ("of the producer", {}),
        ("of an old coordinator", {"coordinator_epoch": -1}),
    ):
        marker = {
            **asker.producer(),
            "transaction_result": False,
            "coordinator_epoch": 5,
            "topics": [{"name": asker.topic, "partition_indexes": [0, 7]}],
            **values,
        }
        asker.tell(f"a marker {whose}", "WriteTxnMarkers", 1, markers=[marker])
    asker.look("aborted by a marker")
    for word, fields in (
        ("by its state", {"state_filters": ["Ongoing", "Nonsense"]}),
        ("by another state", {"state_filters": ["Empty"]}),
        ("by how long it runs", {"state_filters": ["Ongoing"], "duration_filter": 600_000}),
        ("by a pattern", {"transactional_id_pattern": f"{asker.topic[:-1]}."}),
        ("by a part of its name", {"transactional_id_pattern": asker.topic[1:-1]}),
        ("by no pattern", {"transactional_id_pattern": "("}),
    ):
        filters = {"state_filters": (), "producer_id_filters": [asker.id], **fields}
        asker.tell(f"listed {word}", "ListTransactions", 2, **filters)


def tell_of_offsets(asker: TransactionAsker) -> None:
    asker.create()
    asker.has_groups()
    asker.init("begins")
    asker.commit_offsets("not announced")
    asker.commit_offsets("not announced, v4", version=4)
    asker.add_offsets("announced")
    for version in (0, 1, 2, 3, 4):
        asker.commit_offsets(f"v{version}", version=version)
    asker.commit_offsets("no topic", topic="nowhere")
    asker.commit_offsets("no partition", partitions=[7, 0])
    asker.commit_offsets("a generation", epoch=3)
    asker.commit_offsets("a member", member_id="m")
    for version in (5, 6):
        asker.commit_offsets(f"a generation, v{version}", epoch=3, version=version)
        asker.commit_offsets(f"no partition, v{version}", partitions=[7, 0], version=version)
        asker.commit_offsets(f"another id, v{version}", producer_id=asker.id + 9, version=version)
    asker.commit_offsets("no topic with this id", topic_id=UUID(int=7), version=6)
    asker.commit_offsets("by the id", version=6)
    asker.commit_offsets("an old epoch", producer_epoch=asker.epoch - 1)
    asker.commit_offsets("another id", producer_id=asker.id + 9)
    asker.commit_offsets("no group", group_id="")
    asker.offsets("pending")
    asker.end("commits", committed=True)
    asker.completes()
    wait_until(lambda: _are_stable(asker), "the offsets are stable")
    asker.offsets("committed")
    asker.commit_offsets("adds by itself", version=5, partitions=[0, 1])
    asker.offsets("pending again")
    asker.end("aborts", committed=False, version=5)
    asker.completes()
    wait_until(lambda: _are_stable(asker), "the offsets are stable")
    asker.offsets("aborted")


def tell_of_offsets_of_members(asker: TransactionAsker, version: int = 5) -> None:
    asker.create()
    asker.has_groups()
    asker.init("begins")
    classic = f"{asker.topic}.classic"
    protocols = [{"name": "range", "metadata": b"\0\1\0\0\0\0\0\0\0\0"}]
    fields = {"group_id": classic, "protocol_type": "consumer", "session_timeout_ms": 30_000}
    joined = asker.raw(
        "JoinGroup", 3, **fields, rebalance_timeout_ms=30_000, member_id="", protocols=protocols
    )
    member = {"group_id": classic, "member_id": joined.member_id}
    asker.commit_offsets("while it rebalances", version=version, epoch=1, **member)
    asker.raw("SyncGroup", 2, **member, generation_id=1, assignments=())
    asker.commit_offsets("of a member", version=version, epoch=1, **member)
    asker.commit_offsets("an old generation", version=version, epoch=0, **member)
    asker.commit_offsets("a later generation", version=version, epoch=2, **member)
    asker.commit_offsets("no generation", version=version, **member)
    asker.commit_offsets("no member", version=version, group_id=classic, member_id="stranger", epoch=1)
    asker.commit_offsets("an instance", version=version, epoch=1, **member, group_instance_id="i")
    asker.commit_offsets("nothing is said", version=version, group_id=classic)
    group = f"{asker.topic}.consumer"
    epoch = _heartbeat(asker, group, 0, asker.topic)
    member = {"group_id": group, "member_id": "m"}
    for delta in (0, -1, 1):
        asker.commit_offsets(f"epoch {delta}", version=version, epoch=epoch + delta, **member)
    asker.commit_offsets("no epoch", version=version, **member)
    later = _heartbeat(asker, group, epoch, asker.topic, "another")
    assert later == epoch + 1
    asker.commit_offsets("the epoch that it has the partition since", version=version, epoch=epoch, **member)
    asker.commit_offsets("before it had it", version=version, epoch=epoch - 1, **member)
    asker.commit_offsets("no such member", version=version, group_id=group, member_id="x", epoch=1)
    asker.commit_offsets("without a member", version=version, group_id=group)
    asker.commit_offsets("only an instance", version=version, group_id=group, group_instance_id="i")
    asker.end("aborts", committed=False, version=5)


def tell_of_offsets_of_members_by_topic_id(asker: TransactionAsker) -> None:
    tell_of_offsets_of_members(asker, version=6)


def _heartbeat(asker: TransactionAsker, group: str, epoch: int, *topics: str) -> int:
    """That of the member m; its epoch after it."""
    nulls = dict.fromkeys(("instance_id", "rack_id", "subscribed_topic_regex", "server_assignor"))
    joining = {"rebalance_timeout_ms": 30_000, "subscribed_topic_names": topics}
    fields = {"group_id": group, "member_id": "m", "member_epoch": epoch, **nulls, **joining}
    owned = None if epoch else ()
    answer = asker.raw("ConsumerGroupHeartbeat", 1, **fields, topic_partitions=owned)
    return int(answer.member_epoch)


def _are_stable(asker: TransactionAsker) -> bool:
    group = {"group_id": asker.topic, "topics": [{"name": asker.topic, "partition_indexes": [0, 1]}]}
    answer = asker.raw("OffsetFetch", 9, groups=[group], require_stable=True)
    return not any(one.error_code for topic in answer.groups[0].topics for one in topic.partitions)


STORIES = (
    tell_of_numbered_batches,
    tell_of_transactions_that_are_announced,
    tell_of_transactions_of_version_2,
    tell_of_fencing,
    tell_of_partitions,
    tell_of_offsets,
    tell_of_offsets_of_members,
    tell_of_offsets_of_members_by_topic_id,
)
