"""What the path to an eager assignor rests on, with Java consumers on a real broker."""

import pytest

from migration.paths.configuration import assignors
from tests.kafka.broker import Broker
from tests.kafka.columns import parse
from tests.kafka.groups import wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until

COOPERATIVE, RANGE = "cooperative-sticky", "range"


def listed(*names: str) -> str:
    """The value of Java's partition.assignment.strategy."""
    return assignors(["java"], names)[1].partition("=")[2]


@pytest.mark.kafka
def test_the_protocol_turns_with_the_last_member(broker: Broker, members: Members, tools: ToolHost) -> None:
    topic, group = fresh_topic(broker, 6), fresh_name("payments")

    running: dict[str, Member] = {}

    def reported() -> str:
        (row,) = parse(tools.ask(broker, CONSUMER_GROUPS, "--describe", "--group", group, "--state").stdout)
        return str(row["ASSIGNMENT-STRATEGY"]).strip("-")

    def protocol() -> str:
        # Cooperative members rebalance once more, and no protocol is shown meanwhile.
        return wait_until(reported, "the group has a protocol")

    def start(name: str, *names: str) -> None:
        running[name] = members.java(
            broker, group, [topic], name, partition_assignment_strategy=listed(*names)
        )
        wait_group(broker, group, members=len(running))

    for name in ("a", "b", "c"):
        start(name, COOPERATIVE)
    seen = [protocol()]
    for bounce in ((RANGE, COOPERATIVE), (RANGE,)):
        for name in list(running):
            running.pop(name).stop()
            wait_group(broker, group, members=len(running))
            start(name, *bounce)
            seen.append(protocol())
    assert seen == [COOPERATIVE] * 3 + [RANGE] * 4
