"""Times `kohort record` on commits of many groups, and watches its memory: `python -m benchmarks.recorder [MINUTES]`.

The log has 20,000 commits a second of 5,000 groups × 20 partitions for MINUTES (5), a request of 20 commits in a
batch as a broker writes it, and a rebalance of a group every second. The recorder takes it as from a fetch of a second,
writes every 5 s of it, and prints processor time and memory a minute."""

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cli.sources.journal.writer import JournalWriter
from cli.verbs.record.following import Fetched
from cli.verbs.record.reading import LogReading
from cli.verbs.record.recorder import LogRecorder
from coordinator.engine import records as stored
from coordinator.store.records import encode_record
from wire.log.batch_writer import encode_batch
from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    write_assignment,
    write_subscription,
)

GROUPS, PARTITIONS, PER_SECOND, MEMBERS = 5_000, 20, 20_000, 4
FLUSH_S = 5
START_MS = 1_767_225_600_000


def seconds(count: int) -> Iterator[tuple[int, bytes, int]]:
    """The bytes of each second of the log, the offset before it, and the offset after it."""
    offset, turn = 0, 0
    for second in range(count):
        begin, batches = offset, []
        for number in range(PER_SECOND // PARTITIONS):
            group = turn % GROUPS
            turn += 1
            at_ms = START_MS + second * 1000 + number
            pairs = [
                encode_record(
                    stored.OffsetRecord(
                        group=f"group-{group}",
                        topic="orders",
                        partition=partition,
                        value=stored.StoredOffset(offset=turn, leader_epoch=0, metadata="", commit_ms=at_ms),
                    )
                )
                for partition in range(PARTITIONS)
            ]
            batches.append(encode_batch(pairs, base_offset=offset, timestamp=at_ms))
            offset += PARTITIONS
        record = encode_record(
            generation(f"group-{second * 7 % GROUPS}", second + 1, START_MS + second * 1000)
        )
        batches.append(encode_batch([record], base_offset=offset, timestamp=START_MS + second * 1000 + 999))
        offset += 1
        yield begin, b"".join(batches), offset


def generation(group: str, number: int, at_ms: int) -> stored.ClassicGroupRecord:
    members = tuple(
        stored.ClassicMemberValue(
            member=f"consumer-{group}-{index}-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
            instance=None,
            client_id=f"consumer-{index}",
            host="/10.0.0.1",
            rebalance_timeout_ms=300_000,
            session_timeout_ms=45_000,
            subscription=write_subscription(
                EmbeddedSubscription(version=1, topics=("orders",), user_data=None)
            ),
            assignment=write_assignment(
                EmbeddedAssignment(
                    version=1, partitions={"orders": tuple(range(index, PARTITIONS, MEMBERS))}, user_data=None
                )
            ),
        )
        for index in range(number % 2, MEMBERS)
    )
    value = stored.ClassicGroupValue(
        protocol_type="consumer",
        generation=number,
        protocol="range",
        leader=members[0].member,
        state_since_ms=at_ms,
        members=members,
    )
    return stored.ClassicGroupRecord(group=group, value=value)


def main(minutes: int) -> None:
    print(f"{PER_SECOND:,} commits/s of {GROUPS:,} groups × {PARTITIONS} partitions")
    print("MINUTE  OF-A-CORE  MEMORY-MB  FILE-MB  REBALANCES")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "journal.db")
        recorder = LogRecorder(JournalWriter(file, {"cluster": "benchmark"}), dict, report=print)
        recorder.start(LogReading(number=0, position=0))
        spent_s, rebalances = 0.0, 0
        for second, (begin, data, end) in enumerate(seconds(minutes * 60), 1):
            before_s = time.process_time()
            recorder.take(Fetched(log_partition=0, position=begin, records=data, end=end), 0)
            recorder.settle(0)
            if second % FLUSH_S == 0:
                rebalances += len(recorder.flush(0)[0])
            spent_s += time.process_time() - before_s
            if second % 60 == 0:
                megabytes = recorder.journal.size / 1e6
                print(
                    f"{second // 60:6}  {spent_s / 60:9.1%}  {memory_mb():9,.0f}  {megabytes:7,.1f}  {rebalances:10}",
                    flush=True,
                )
                spent_s = 0.0


def memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
