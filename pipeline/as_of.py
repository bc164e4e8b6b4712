"""Time travel: a group at a past moment, from the table of events. Spark reduces the group's records until then to
those that still mattered; written again in order, they are a log without superseded records, as after compaction.
The reader of logs (`coordinator.store.digest`, `replay`) returns the group from it, exactly as `kohort describe
--log-dir D --as-of T` does for the log that the events come from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import merge
from uuid import UUID

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as f

from coordinator.engine.engine import Engine
from coordinator.engine.records import CurrentAssignmentRecord, OffsetRecord, StoredOffset, TargetMemberRecord
from coordinator.store.described_groups import committed_offsets, described_group
from coordinator.store.digest import Digest
from coordinator.store.records import OtherRecord, decode_record, encode_record
from coordinator.store.replay import Replay
from groups.model import Group, GroupType, Problem
from pipeline.tables.schemas import ABORT, COMMIT, OFFSET
from wire.log.batch_header import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.columns import columns_of
from wire.log.control_records import ControlType, end_of_transaction
from wire.uuids import parse_uuid

_CLASSIC_GROUP = "group"
_COLUMNS = (
    *("kind", "offset", "tombstone", "producer_id", "outcome", "group", "topic", "topic_partition"),
    *("committed", "leader_epoch", "metadata", "commit_ms", "expire_ms", "topic_id"),
    *("assignment", "revoking", "key", "value"),
)
_NO_LEADER_EPOCH = -1
_BATCH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """A group at a moment; None: there was no group of that id, as far as the events go back. `records`: the number
    of its records until then. `problems`: parts of the group that cannot be read."""

    group: Group | None
    records: int
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Names:
    """The names of topics by id in the events."""

    by_id: dict[UUID, str] = field(default_factory=dict)

    def learn(self, row: Row) -> None:
        """Add the names in an event: the decoder replaced ids with names, in their order."""
        if row["kind"] == OFFSET:
            if row["topic_id"] is not None:
                self.by_id[parse_uuid(row["topic_id"])] = row["topic"]
            return
        record = decode_record(row["key"], row["value"])
        if isinstance(record, TargetMemberRecord) and record.value is not None:
            self._pair(record.value, row["assignment"])
        elif isinstance(record, CurrentAssignmentRecord) and record.value is not None:
            self._pair(record.value.assigned, row["assignment"])
            self._pair(record.value.revoking, row["revoking"])
        elif isinstance(record, OtherRecord) and record.value is not None:
            for name in ("topicPartitions", "assignedPartitions"):
                self._pair([entry["topicId"] for entry in record.value.get(name) or ()], row["assignment"])

    def _pair(self, ids: Iterable[UUID], named: Mapping[str, list[int]] | None) -> None:
        ids, names = list(ids), list(named or ())
        if len(ids) == len(names):
            self.by_id.update(zip(ids, names, strict=True))


def as_of(events: DataFrame, group: str, moment: datetime, *, names: Mapping[str, str] | None = None) -> AsOf:
    """The state of `group` after all records of the table `events` with a timestamp until `moment`. `names` of
    topics by id add to those in the events. Values that depend on the cluster's settings are unknown."""
    until = events.where(f.col("time") <= f.lit(moment))
    of_group = until.where(f.col("group") == group)
    known = _Names()
    log = _Log()
    records = 0
    # Each partition's last commit in committed transactions, in aborted transactions, and in every open one.
    ended = with_outcome(of_group.where(_of_transaction()), until)
    is_open = f.when(f.col("outcome").isNull(), f.col("producer_id")).alias("is_open")
    transactions = _last(ended, "topic", "topic_partition", "outcome", is_open).collect()
    others = _last_of_others(of_group).toLocalIterator()
    for row in merge(sorted(transactions, key=_place), others, key=_place):
        records += row["records"]
        known.learn(row)
        if row["kind"] == OFFSET:
            log.offset(row)
        else:
            log.add(row["offset"], row["key"], row["value"])
    by_id = known.by_id | {parse_uuid(topic_id): name for topic_id, name in (names or {}).items()}
    described, problems = _described(log.replayed(), group, by_id)
    return AsOf(group=described, records=records, problems=problems)


def _place(row: Row) -> int:
    offset: int = row["offset"]
    return offset


def _of_transaction() -> Column:
    """Whether an event is a commit in a transaction; a tombstone is written outside of transactions."""
    return (f.col("kind") == OFFSET) & ~f.col("tombstone") & f.col("producer_id").isNotNull()


def with_outcome(written: DataFrame, events: DataFrame) -> DataFrame:
    """`written`, events without markers, with a column `outcome`: commit, abort, or null: its transaction is open."""
    ends = events.where(f.col("kind").isin(COMMIT, ABORT)).select(
        "partition", "producer_id", "offset", f.col("kind").alias("mark")
    )
    both = written.withColumn("mark", f.lit(None).cast("string")).unionByName(ends, allowMissingColumns=True)
    later = Window.partitionBy("partition", "producer_id").orderBy(f.desc("offset"))
    outcomes = both.withColumn("outcome", f.last("mark", ignorenulls=True).over(later))
    return outcomes.where(f.col("mark").isNull()).select(*written.columns, "outcome")


def _last_of_others(of_group: DataFrame) -> DataFrame:
    """In the order of the log: each partition's last commit and last tombstone, a classic group's last record (which
    has all members), and every other record."""
    superseded = f.col("kind").isin(OFFSET, _CLASSIC_GROUP)
    every_other = f.when(~superseded, f.col("offset"))
    rows = of_group.where(~_of_transaction()).withColumn("outcome", f.lit(COMMIT))
    last = _last(rows, "kind", "topic", "topic_partition", "tombstone", every_other.alias("every_other"))
    return last.repartition(1).sortWithinPartitions("offset")


def _last(rows: DataFrame, *key: Column | str) -> DataFrame:
    times = {f"{name}_ms": f.unix_millis(f"{name}_time") for name in ("commit", "expire")}
    columns = f.struct(*_COLUMNS)
    grouped = rows.withColumns(times).groupBy(*key)
    last = grouped.agg(f.max_by(columns, "offset").alias("last"), f.count("*").alias("records"))
    return last.select("last.*", "records")


class _Log:
    """Records written again, on every second offset, which leaves room for a transaction's marker after each."""

    def __init__(self) -> None:
        self._digest = Digest()
        self._batches: list[bytes] = []
        self._bytes = 0

    def offset(self, row: Row) -> None:
        key, value = encode_record(_offset_record(row))
        committed = row["outcome"] == COMMIT
        self.add(row["offset"], key, value, NO_PRODUCER_ID if committed else row["producer_id"])
        if row["outcome"] == ABORT:
            self.add(
                row["offset"], *end_of_transaction(ControlType.ABORT, 0), row["producer_id"], control=True
            )

    def replayed(self) -> Replay:
        self._take()
        replay = Replay(Engine())
        replay.partition(self._digest)
        return replay

    def add(
        self,
        position: int,
        key: bytes,
        value: bytes | None,
        producer_id: int = NO_PRODUCER_ID,
        control: bool = False,
    ) -> None:
        transactional = producer_id != NO_PRODUCER_ID
        sequenced = transactional and not control
        batch = encode_batch(
            [(key, value)],
            base_offset=2 * position + control,
            timestamp=0,
            producer_id=producer_id,
            producer_epoch=0 if transactional else NO_PRODUCER_EPOCH,
            base_sequence=0 if sequenced else NO_SEQUENCE,
            transactional=transactional,
            control=control,
        )
        self._batches.append(batch)
        self._bytes += len(batch)
        if self._bytes >= _BATCH_BYTES:
            self._take()

    def _take(self) -> None:
        for columns in columns_of(scan(b"".join(self._batches), "events").batches):
            self._digest.add(columns)
        self._batches, self._bytes = [], 0


def _offset_record(row: Row) -> OffsetRecord:
    value = None
    if not row["tombstone"]:
        value = StoredOffset(
            offset=row["committed"],
            leader_epoch=_NO_LEADER_EPOCH if row["leader_epoch"] is None else row["leader_epoch"],
            metadata=row["metadata"],
            commit_ms=NO_TIMESTAMP if row["commit_ms"] is None else row["commit_ms"],
            expire_ms=row["expire_ms"],
            topic_id=None if row["topic_id"] is None else parse_uuid(row["topic_id"]),
        )
    return OffsetRecord(group=row["group"], topic=row["topic"], partition=row["topic_partition"], value=value)


def _described(
    replay: Replay, group: str, names: Mapping[UUID, str]
) -> tuple[Group | None, tuple[Problem, ...]]:
    known = {**{topic_id: topic.name for topic_id, topic in replay.named_topics.items()}, **names}
    state = replay.engine.state
    described, problems = described_group(state, replay.others.by_id, group, known)
    if described is None or described.type is GroupType.SHARE:
        return described, problems  # a share group's offsets are in __share_group_state
    return replace(described, offsets=committed_offsets(state.offsets.get(group, {}))), problems
