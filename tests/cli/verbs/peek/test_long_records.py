"""`kohort peek` at records of 1 GB, plain and compressed to some kilobytes, on a real broker with room for them. The
broker takes 4 GB of memory, and the producer 3."""

import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.offset_rig import OffsetRig
from tests.kafka.coordinator import running_broker
from tests.kafka.ports import HOST
from tests.kafka.tool_host import ToolHost
from tests.kafka.wire import LENGTH, framed
from tests.support.long import LONG
from wire.log.batch_writer import encode_batch
from wire.log.compression import Codec

GB = 1_000_000_000
MOST_MB = 250
TEXT = b"0123456789abcdef"
LARGEST = str(2**31 - 1)
SETTINGS = dict.fromkeys(("message.max.bytes", "socket.request.max.bytes", "log.segment.bytes"), LARGEST)
# A request is in the heap once, and in buffers of the thread that reads it and of the one that writes it.
ROOM = ("-Xmx1400m", "-Xmn64m", "-XX:MaxDirectMemorySize=4g")
RECORDS = b"records"
MEASURED = """import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, file=sys.stderr)
sys.exit(status)"""

pytestmark = [pytest.mark.kafka, LONG]


@pytest.fixture(scope="module")
def roomy(
    kafka_jars: Path, kohort: Kohort, tools: ToolHost, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OffsetRig]:
    directory = tmp_path_factory.mktemp("roomy")
    with running_broker(kafka_jars, directory, SETTINGS, options=ROOM) as broker:
        yield OffsetRig(broker=broker, kohort=kohort, tools=tools)


def produce(rig: OffsetRig, topic: str, value: bytes, codec: Codec = Codec.NONE) -> None:
    """Store a batch of one record, which is too long for librdkafka."""
    batch = encode_batch([(b"key", value)], base_offset=0, timestamp=0, codec=codec)
    data = [{"name": topic, "partition_data": [{"index": 0, "records": RECORDS}]}]
    request = framed("Produce", 8, transactional_id=None, acks=1, timeout=60_000, topic_data=data)
    front = request[LENGTH.size :].removesuffix(LENGTH.pack(len(RECORDS)) + RECORDS)
    with socket.create_connection((HOST, rig.broker.port), 120) as connection:
        connection.sendall(
            LENGTH.pack(len(front) + LENGTH.size + len(batch)) + front + LENGTH.pack(len(batch))
        )
        connection.sendall(batch)
        assert connection.recv(1)  # whether it is stored is read below


def measured(rig: OffsetRig, line: str) -> Answer:
    """The answer of a separate process that had less memory than `MOST_MB`."""
    command = [sys.executable, "-c", MEASURED, rig.kohort.executable, *shlex.split(line)]
    done = subprocess.run(
        [*command, "-b", rig.broker.bootstrap, "--output", "json"],
        env=rig.kohort.env, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    *lines, memory_mb = done.stderr.splitlines(keepends=True)
    assert int(memory_mb) < MOST_MB
    return Answer(status=done.returncode, stdout=done.stdout, stderr="".join(lines))


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_a_record_of_a_gigabyte(roomy: OffsetRig, tmp_path: Path, codec: Codec) -> None:
    topic, raw = roomy.topic([1]), tmp_path / "raw"
    produce(roomy, topic, TEXT * (GB // len(TEXT)), codec)
    produce(roomy, topic, b"next")
    ask = f"peek {roomy.group({(topic, 0): 1})} {topic}:0"
    rows = measured(roomy, f"{ask} --back 1 --records 2").succeeded().document["records"]
    assert [(row["offset"], row["value_size"]) for row in rows] == [(0, 0), (1, GB), (2, 4)]
    assert (rows[1]["key"], rows[1]["value"]) == ("key", TEXT.decode() * (4096 // len(TEXT)))
    refused = measured(roomy, f"{ask} --raw {raw}")
    refused.assert_refused("the value has 1,000,000,000 bytes, more than are read at once", status=3)
    assert not raw.exists()
