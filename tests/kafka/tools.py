"""Run Kafka's own command line tools, from the broker's jars."""

import subprocess

from tests.kafka.broker import Broker
from tests.kafka.java import java

Completed = subprocess.CompletedProcess[str]
TIMEOUT_S = 150.0


def consumer_groups(broker: Broker, *args: str) -> Completed:
    """Run `kafka-consumer-groups` with `args` against `broker`; the caller looks at the exit status."""
    main = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    return run(broker, main, "--bootstrap-server", broker.bootstrap, *args)


def share_groups(broker: Broker, *args: str) -> Completed:
    """Run `kafka-share-groups` with `args` against `broker`."""
    main = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
    return run(broker, main, "--bootstrap-server", broker.bootstrap, *args)


def streams_groups(broker: Broker, *args: str) -> Completed:
    """Run `kafka-streams-groups` with `args` against `broker`."""
    main = "org.apache.kafka.tools.streams.StreamsGroupCommand"
    return run(broker, main, "--bootstrap-server", broker.bootstrap, *args)


def dump_log_segments(broker: Broker, *args: str) -> Completed:
    """Run `kafka-dump-log` with `args`; `--offsets-decoder` reads the segments of `__consumer_offsets`."""
    return run(broker, "org.apache.kafka.tools.DumpLogSegments", *args)


def run(broker: Broker, main: str, *args: str) -> Completed:
    """Run the tool whose class is `main`, stdout and stderr apart, its own logging left out."""
    quiet = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=error",)
    command = java(broker.jars, main, *args, options=quiet)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
