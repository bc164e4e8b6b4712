"""Printed plans, followed gate by gate while a producer writes: nothing is lost, nothing is consumed by two."""

import pytest

from tests.kafka.columns import parse
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.migration.end_to_end.conftest import Deploy, Follow
from tests.migration.end_to_end.deployment import Deployment, Fleet
from tests.migration.end_to_end.fleets import java, librdkafka
from tests.support.long import LONG

pytestmark = pytest.mark.kafka


TO_COOPERATIVE, TO_EAGER = "--to cooperative --client java", "--to eager --client java"
JAVA_TO_CONSUMER, JAVA_TO_CLASSIC = "--to consumer --client java:4.3.1", "--to classic --client java:4.3.1"
TO_CONSUMER, TO_CLASSIC = (f"--to {to} --client librdkafka:2.16.0" for to in ("consumer", "classic"))
IN_PAIRS = " --concurrency 2"
COOPERATIVE = ("Classic", "cooperative-sticky")
RANGE = ("Classic", "range")
NEW_RANGE, UNIFORM = ("Consumer", "range"), ("Consumer", "uniform")
Stage = tuple[str, tuple[str, str]]
"""The options of a plan, and what Kafka's own tool shows after it: type and assignor."""

JOURNEYS: dict[str, tuple[Fleet, list[Stage]]] = {
    "librdkafka range to consumer and back": (
        librdkafka("range"), [(TO_CONSUMER, NEW_RANGE), (TO_CLASSIC + IN_PAIRS, RANGE)],
    ),
}  # fmt: skip
LONGER: dict[str, tuple[Fleet, list[Stage]]] = {
    "java range to cooperative": (java("range"), [(TO_COOPERATIVE, COOPERATIVE)]),
    "librdkafka range to cooperative, all stopped": (
        librdkafka("range"), [("--to cooperative --client librdkafka:2.16.0", COOPERATIVE)],
    ),
    "librdkafka cooperative to consumer, all stopped": (
        librdkafka("cooperative-sticky"), [(TO_CONSUMER + " --offline", UNIFORM)],
    ),
    "java sticky to cooperative to consumer": (
        java("sticky"), [(TO_COOPERATIVE + IN_PAIRS, COOPERATIVE), (JAVA_TO_CONSUMER + IN_PAIRS, UNIFORM)],
    ),
    "java with both lists to cooperative in one bounce": (
        java("range", "cooperative-sticky"), [(TO_COOPERATIVE, COOPERATIVE)],
    ),
    "java there and back, twice": (
        java("range"),
        [(TO_COOPERATIVE, COOPERATIVE), (TO_EAGER + IN_PAIRS, RANGE), (JAVA_TO_CONSUMER, NEW_RANGE),
         (JAVA_TO_CLASSIC, RANGE), (TO_COOPERATIVE, COOPERATIVE), (JAVA_TO_CONSUMER, UNIFORM)],
    ),
    "java static to consumer": (java("range", static=True), [(JAVA_TO_CONSUMER, NEW_RANGE)]),
    "java static, both bounces and to consumer and back": (
        java("roundrobin", static=True),
        [(TO_COOPERATIVE, COOPERATIVE), (JAVA_TO_CONSUMER, UNIFORM), (JAVA_TO_CLASSIC, RANGE)],
    ),
    "java static to consumer, all stopped": (
        java("range", static=True), [(JAVA_TO_CONSUMER + " --offline", NEW_RANGE)],
    ),
    "librdkafka static there and back": (
        librdkafka("roundrobin", static=True), [(TO_CONSUMER, UNIFORM), (TO_CLASSIC, RANGE)],
    ),
    "librdkafka cooperative by the bridge leader, twice": (
        librdkafka("cooperative-sticky"),
        [(TO_CONSUMER, UNIFORM), (TO_CLASSIC + " --assignor cooperative-sticky", COOPERATIVE),
         (TO_CONSUMER, UNIFORM)],
    ),
}  # fmt: skip
"""Left to `make migrations`; the bridge leads a group of sarama in `test_bridge.py`."""


@pytest.mark.parametrize("name", [*JOURNEYS, *(pytest.param(name, marks=LONG) for name in LONGER)])
def test_plan_is_followed_to_its_end(name: str, deploy: Deploy, follow: Follow, tools: ToolHost) -> None:
    fleet, stages = (JOURNEYS | LONGER)[name]
    deployment = deploy(fleet)
    follower = follow(deployment)
    for options, shown in stages:
        follower.follow(*options.split())
        assert state_of(deployment, tools) == (*shown, "Stable", str(len(deployment.applications)))
    deployment.finish().check()


@LONG
def test_the_console_consumer_is_a_bridge_too(deploy: Deploy, follow: Follow, tools: ToolHost) -> None:
    """The way that the plan has without Kohort in the group."""
    deployment = deploy(librdkafka("cooperative-sticky"))
    follower = follow(deployment)
    follower.is_without_bridge = True
    follower.follow(*TO_CONSUMER.split())
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
