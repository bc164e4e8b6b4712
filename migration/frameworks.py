"""Frameworks with their own rebalance listeners, and the problems that their own repositories report when callbacks
change.

The operator declares a framework (`--framework`). Of any other nothing is known, which does not mean that it is
ready.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from groups.findings import Level
from migration.model import Destination


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A known problem of a framework on the path to some destinations, and what to do about it."""

    framework: str
    to: frozenset[Destination]
    level: Level
    message: str
    remedy: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    name: str
    reports: tuple[Report, ...]


_COOPERATIVE = frozenset({Destination.COOPERATIVE})
_CONSUMER = frozenset({Destination.CONSUMER})
_INCREMENTAL = _COOPERATIVE | _CONSUMER
_ALL = frozenset(Destination)

_REPORTS = (
    Report(
        framework="parallel-consumer",
        to=_COOPERATIVE,
        level=Level.WARNING,
        message="parallel-consumer: a commit during a cooperative rebalance throws "
        "RebalanceInProgressException, which stops the polling thread; nothing is consumed until a "
        "restart.",
        remedy="Move to astubbs/parallel-consumer 0.6.0.0 or later first, which fixes this: Confluent's "
        "repository is no longer maintained. Otherwise stay on an eager assignor.",
        source="confluentinc/parallel-consumer issues 857 and 629; astubbs/parallel-consumer pull 100",
    ),
    Report(
        framework="kafkaflow",
        to=_ALL,
        level=Level.WARNING,
        message="KafkaFlow: a consumer whose partitions are all paused deadlocks when a rebalance revokes "
        "some, and blocks the group.",
        remedy="Restart no member while consumers are paused (also by retries), or use a release with the "
        "fix.",
        source="Farfetch/kafkaflow issue 681; pull 736 (open)",
    ),
    Report(
        framework="brighter",
        to=_COOPERATIVE,
        level=Level.WARNING,
        message="Brighter commits manually when partitions are revoked, which fails during a cooperative "
        "rebalance; later releases refuse CooperativeSticky.",
        remedy="Plan --to consumer instead, with a release that has KafkaSubscription.GroupProtocol.",
        source="BrighterCommand/Brighter issue 3056, pull 4233",
    ),
    Report(
        framework="brighter",
        to=_CONSUMER,
        level=Level.INFO,
        message="Brighter sets the protocol with KafkaSubscription.GroupProtocol, in releases since July "
        "2026.",
        remedy="Set it to ConsumerGroupProtocol, and remove SessionTimeout and PartitionAssignmentStrategy.",
        source="BrighterCommand/Brighter pull 4233",
    ),
    Report(
        framework="decaton",
        to=_CONSUMER,
        level=Level.WARNING,
        message="Decaton: its maintainers have not confirmed that it works with the consumer protocol.",
        remedy="Test it with members that join and leave, including its retry topics, or wait for the issue.",
        source="line/decaton issue 240 (open)",
    ),
    Report(
        framework="reactor-kafka",
        to=_COOPERATIVE,
        level=Level.WARNING,
        message="Reactor Kafka: before its pull 315 a receiver fails with RebalanceInProgressException; "
        "and partitions that the application paused are resumed after a cooperative rebalance.",
        remedy="Use a release of 2023 or later. Pause the partitions again in the assign listener.",
        source="reactor/reactor-kafka issue 314, pull 315; issue 432 (open)",
    ),
    Report(
        framework="spring-kafka",
        to=_CONSUMER,
        level=Level.INFO,
        message="Spring for Apache Kafka supports the consumer protocol since 4.0, and only logs a "
        "warning if a custom assignor is still configured.",
        remedy="With Spring Boot: spring.kafka.consumer.properties.group.protocol=consumer.",
        source="spring-projects/spring-kafka issue 3847, pull 3848",
    ),
    Report(
        framework="cap",
        to=_INCREMENTAL,
        level=Level.WARNING,
        message="CAP: rejecting a message calls assign(), which librdkafka refuses when callbacks are "
        "incremental (Local: Erroneous state); the replica stops consuming.",
        remedy="Test the exact version, and reject messages during the test. Otherwise stay on an eager "
        "assignor.",
        source="dotnetcore/CAP issue 1655",
    ),
    Report(
        framework="arroyo",
        to=_COOPERATIVE,
        level=Level.BLOCKER,
        message="Arroyo no longer supports cooperative-sticky: it kept committing during rebalances.",
        remedy="Plan --to consumer instead.",
        source="getsentry/arroyo pull 168",
    ),
    Report(
        framework="wolverine",
        to=_CONSUMER,
        level=Level.INFO,
        message="Wolverine removes conflicting settings by itself and logs a warning.",
        remedy="Call UseNextGenerationRebalanceProtocol() instead of setting group.protocol.",
        source="JasperFx/wolverine issue 3473, pull 3486",
    ),
)
_NAMES = dict.fromkeys(report.framework for report in _REPORTS)
FRAMEWORKS: Mapping[str, Framework] = {
    name: Framework(name=name, reports=tuple(one for one in _REPORTS if one.framework == name))
    for name in _NAMES
}


def framework_named(name: str) -> Framework:
    framework = FRAMEWORKS.get(name.strip().lower())
    if framework is None:
        raise ValueError(f"unknown framework {name!r}; known: {', '.join(sorted(FRAMEWORKS))}")
    return framework
