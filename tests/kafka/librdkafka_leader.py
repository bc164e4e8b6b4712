"""A consumer of confluent-kafka that leads a group: `python -m tests.kafka.librdkafka_leader JSON`, its configuration.
Each line of stdin is a JSON list of topics to subscribe to, which makes librdkafka rejoin at once, and is answered with
an empty line; the end of stdin ends the process. Nothing is ever consumed."""

import json
import os
import select
import sys

from confluent_kafka import Consumer, TopicPartition

POLL_S = 0.002
STDIN = 0


def main() -> None:
    config = json.loads(sys.argv[1])
    consumer = Consumer(config, logger=None)
    incremental = config["partition.assignment.strategy"] == "cooperative-sticky"

    def on_assign(_: Consumer, partitions: list[TopicPartition]) -> None:
        if incremental:
            consumer.incremental_assign([])
        else:
            consumer.assign([])

    def on_revoke(_: Consumer, partitions: list[TopicPartition]) -> None:
        if incremental:
            consumer.incremental_unassign([])
        else:
            consumer.unassign()

    # One thread for both: subscribe waits for a poll that runs in another.
    unread = b""
    while True:
        ready, _, _ = select.select([STDIN], [], [], 0)
        if ready:
            read = os.read(STDIN, 1 << 16)
            if not read:
                break
            *lines, unread = (unread + read).split(b"\n")
            for line in lines:
                consumer.subscribe(
                    json.loads(line), on_assign=on_assign, on_revoke=on_revoke, on_lost=on_revoke
                )
                print(flush=True)
        consumer.poll(POLL_S)
    # Closing would mean to wait for a group that may be in the middle of a rebalance.
    os._exit(0)


if __name__ == "__main__":
    main()
