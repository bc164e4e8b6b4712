"""A group of a real broker on its screens."""

import pytest

from cli.options import SourceOptions
from cli.verbs.top.options import TopOptions
from tests.cli.verbs.top.driving import MIDDLE, Driven, drive
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import fresh_topic


@pytest.mark.kafka
def test_a_classic_group_shows_who_leads_and_who_would_lead_next(broker: Broker, members: Members) -> None:
    topic, group = fresh_topic(broker, 2), fresh_name("led")
    for name in ("one", "two"):
        members.confluent(broker, group, [topic], name)
    wait_group(broker, group, members=2)

    async def course(top: Driven) -> None:
        top.app.open_screen("group", group)
        await top.wait_for("When it leaves, ")
        await top.wait_for("leads.")
        leader = top.line_of("Leader: ").split()[1].rstrip(".")
        other = {"one": "two", "two": "one"}[leader]
        assert f"When it leaves, {other} leads." in top.text
        rows = {words[0]: words[-2] for line in top.lines if len(words := line.split()) > 2}
        assert (rows[leader], rows[other]) == ("leads", "next")

    source = SourceOptions(bootstrap_server=broker.bootstrap)
    drive(course, source, TopOptions(every=0.5), size=MIDDLE)
