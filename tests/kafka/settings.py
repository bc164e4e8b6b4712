"""The settings a test broker starts with: one node, small internal topics, no waiting."""

from collections.abc import Mapping
from pathlib import Path

from tests.kafka.ports import HOST

NODE_ID = 1

# Members of the newer groups learn of a change at a heartbeat and crashed ones go at the end of a session: both
# are short here. Kafka's own values are 5 s and 45 s, and its minimum for each is the same.
HEARTBEAT_MS = 500
SESSION_MS = 6000
DEFAULTS: Mapping[str, str] = {
    "broker.rack": "a",
    # No record without content every half second, which costs an idle broker half of its processor time.
    "metadata.max.idle.interval.ms": "0",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    **{
        f"group.{kind}.{least}{name}": str(value)
        for kind in ("consumer", "share", "streams")
        for least in ("", "min.")
        for name, value in (("heartbeat.interval.ms", HEARTBEAT_MS), ("session.timeout.ms", SESSION_MS))
    },
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "log.cleaner.dedupe.buffer.size": str(4 * 1024 * 1024),
}


def server_properties(
    data: Path, client: int, controller: int, overrides: Mapping[str, str]
) -> dict[str, str]:
    """The settings of a node that is broker and controller, `overrides` winning over everything."""
    return {
        "process.roles": "broker,controller",
        "node.id": str(NODE_ID),
        "controller.quorum.voters": f"{NODE_ID}@{HOST}:{controller}",
        "listeners": f"CLIENT://{HOST}:{client},CONTROLLER://{HOST}:{controller}",
        "inter.broker.listener.name": "CLIENT",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(data),
        **DEFAULTS,
        **overrides,
    }
