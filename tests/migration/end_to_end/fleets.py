"""Fleets to deploy, in the words of their libraries."""

from collections.abc import Callable

from tests.migration.end_to_end.application import Subscription
from tests.migration.end_to_end.deployment import Fleet

JAVA = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
CLASSIC = {"session.timeout.ms": "20000", "heartbeat.interval.ms": "500"}
"""Timeouts of a classic member; a session that a busy machine does not end."""

Subscribe = Callable[[str], Subscription]


def java(*assignors: str, static: bool = False, subscribe: Subscribe | None = None) -> Fleet:
    strategy = {"partition.assignment.strategy": ",".join(JAVA[name] for name in assignors)}
    return Fleet(library="java", config={**CLASSIC, **strategy}, static=static, subscribe=subscribe)


def librdkafka(assignor: str, *, static: bool = False, subscribe: Subscribe | None = None) -> Fleet:
    strategy = {"partition.assignment.strategy": assignor}
    return Fleet(library="librdkafka", config={**CLASSIC, **strategy}, static=static, subscribe=subscribe)


def sarama() -> Fleet:
    return Fleet(library="sarama", config=CLASSIC)
