"""Printed plans, followed gate by gate while a producer writes: nothing is lost, nothing is consumed by two."""

from dataclasses import dataclass

import pytest

from tests.kafka.columns import parse
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.migration.end_to_end.conftest import Deploy, Follow
from tests.migration.end_to_end.deployment import Deployment, Fleet
from tests.migration.end_to_end.fleets import java, librdkafka
from tests.support.long import LONG

pytestmark = pytest.mark.kafka


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """A fleet, and its stages: the options of a plan, and what Kafka's own tool shows after it: type and assignor."""

    name: str
    fleet: Fleet
    stages: tuple[tuple[str, str, str], ...]


def journey(name: str, fleet: Fleet, *stages: tuple[str, str, str]) -> Journey:
    return Journey(name=name, fleet=fleet, stages=stages)


TO_COOPERATIVE, TO_EAGER = "--to cooperative --client java", "--to eager --client java"
JAVA_TO_CONSUMER, JAVA_TO_CLASSIC = "--to consumer --client java:4.3.1", "--to classic --client java:4.3.1"
TO_CONSUMER, TO_CLASSIC = (
    "--to consumer --client librdkafka:2.16.0",
    "--to classic --client librdkafka:2.16.0",
)
IN_PAIRS = " --concurrency 2"

JOURNEYS = (
    journey(
        "java range to cooperative",
        java("range"),
        (TO_COOPERATIVE, "Classic", "cooperative-sticky"),
    ),
    journey(
        "librdkafka range to consumer and back",
        librdkafka("range"),
        (TO_CONSUMER, "Consumer", "range"),
        (TO_CLASSIC + IN_PAIRS, "Classic", "range"),
    ),
)

LONGER = (
    journey(
        "java cooperative to eager",
        java("cooperative-sticky"),
        (TO_EAGER + IN_PAIRS, "Classic", "range"),
    ),
    journey(
        "java static range to consumer",
        java("range", static=True),
        (JAVA_TO_CONSUMER, "Consumer", "range"),
    ),
    journey(
        "librdkafka cooperative to consumer by the bridge leader",
        librdkafka("cooperative-sticky"),
        (TO_CONSUMER, "Consumer", "uniform"),
    ),
    journey(
        "librdkafka range to cooperative, all stopped",
        librdkafka("range"),
        ("--to cooperative --client librdkafka:2.16.0", "Classic", "cooperative-sticky"),
    ),
    journey(
        "librdkafka cooperative to consumer, all stopped",
        librdkafka("cooperative-sticky"),
        (TO_CONSUMER + " --offline", "Consumer", "uniform"),
    ),
    journey(
        "java sticky to cooperative to consumer",
        java("sticky"),
        (TO_COOPERATIVE + IN_PAIRS, "Classic", "cooperative-sticky"),
        (JAVA_TO_CONSUMER + IN_PAIRS, "Consumer", "uniform"),
    ),
    journey(
        "java with both lists to cooperative in one bounce",
        java("range", "cooperative-sticky"),
        (TO_COOPERATIVE, "Classic", "cooperative-sticky"),
    ),
    journey(
        "java there and back, twice",
        java("range"),
        (TO_COOPERATIVE, "Classic", "cooperative-sticky"),
        (TO_EAGER, "Classic", "range"),
        (JAVA_TO_CONSUMER, "Consumer", "range"),
        (JAVA_TO_CLASSIC, "Classic", "range"),
        (TO_COOPERATIVE, "Classic", "cooperative-sticky"),
        (JAVA_TO_CONSUMER, "Consumer", "uniform"),
    ),
    journey(
        "java static, both bounces and to consumer and back",
        java("roundrobin", static=True),
        (TO_COOPERATIVE, "Classic", "cooperative-sticky"),
        (JAVA_TO_CONSUMER, "Consumer", "uniform"),
        (JAVA_TO_CLASSIC, "Classic", "range"),
    ),
    journey(
        "java static to consumer, all stopped",
        java("range", static=True),
        (JAVA_TO_CONSUMER + " --offline", "Consumer", "range"),
    ),
    journey(
        "librdkafka static there and back",
        librdkafka("roundrobin", static=True),
        (TO_CONSUMER, "Consumer", "uniform"),
        (TO_CLASSIC, "Classic", "range"),
    ),
    journey(
        "librdkafka cooperative by the bridge leader, twice",
        librdkafka("cooperative-sticky"),
        (TO_CONSUMER, "Consumer", "uniform"),
        (TO_CLASSIC + " --assignor cooperative-sticky", "Classic", "cooperative-sticky"),
        (TO_CONSUMER, "Consumer", "uniform"),
    ),
)
"""Left to `make migrations`; the bridge leads a group of sarama in `test_bridge.py`."""


@pytest.mark.parametrize(
    "asked", [*JOURNEYS, *(pytest.param(one, marks=LONG) for one in LONGER)], ids=lambda one: one.name
)
def test_plan_is_followed_to_its_end(asked: Journey, deploy: Deploy, follow: Follow, tools: ToolHost) -> None:
    deployment = deploy(asked.fleet)
    follower = follow(deployment)
    for options, kind, assignor in asked.stages:
        follower.make_plan(*options.split())
        follower.follow()
        assert state_of(deployment, tools) == (kind, assignor, "Stable", str(len(deployment.applications)))
    deployment.finish().check()


@LONG
def test_the_console_consumer_is_a_bridge_too(deploy: Deploy, follow: Follow, tools: ToolHost) -> None:
    """The way that the plan has without Kohort in the group."""
    deployment = deploy(librdkafka("cooperative-sticky"))
    follower = follow(deployment)
    follower.is_without_bridge = True
    follower.make_plan(*TO_CONSUMER.split())
    follower.follow()
    assert state_of(deployment, tools) == ("Consumer", "uniform", "Stable", str(len(deployment.applications)))
    deployment.finish().check()


def state_of(deployment: Deployment, tools: ToolHost) -> tuple[str, str, str, str]:
    """Type, assignor, state and number of members of the group, as Kafka's own tool prints them."""
    servers = ("--bootstrap-server", deployment.broker.bootstrap)
    listed = tools.run(CONSUMER_GROUPS, *servers, "--list", "--type")
    kinds = {row["GROUP"]: row["TYPE"] for row in parse(listed.stdout)}
    described = tools.run(CONSUMER_GROUPS, *servers, "--describe", "--state", "--group", deployment.group)
    (row,) = parse(described.stdout)
    return kinds[deployment.group], row["ASSIGNMENT-STRATEGY"], row["STATE"], row["#MEMBERS"]
