"""Filters on a real broker, which applies those of type and state itself; and on brokers that are too old for it."""

import pytest

from groups.listing import GroupFilter, GroupType
from tests.cli.command import Kohort
from tests.cli.fleet import Fleet
from tests.cli.sources.live_source import admin_only, live_source
from tests.kafka.tool_host import ToolHost

GROUPS = "org.apache.kafka.tools.GroupsCommand"


@pytest.mark.kafka
@pytest.mark.parametrize(
    "filters", ["--type share", "--type consumer,streams", "--type classic", "--protocol connect"]
)
def test_filters_choose_as_the_tool_does(kohort: Kohort, fleet: Fleet, tools: ToolHost, filters: str) -> None:
    expected: set[str] = set()
    option, _, values = filters.partition(" ")
    for value in values.split(","):
        reported = tools.ask(fleet.broker, GROUPS, "--list", option.replace("type", "group-type"), value)
        names = (line.split()[0] for line in reported.stdout.splitlines()[1:])
        expected |= {name for name in names if name.startswith(fleet.prefix)}
    assert expected
    for command in ("list", "describe --state"):
        answer = kohort.quick(
            f"{command} {filters} --match ^{fleet.prefix} --output json -b", fleet.broker.bootstrap
        )
        assert {group["group"] for group in answer.succeeded().document["groups"]} == expected


@pytest.mark.kafka
def test_who_reads_a_topic_of_a_cluster(kohort: Kohort, fleet: Fleet) -> None:
    answer = kohort.quick(f"list --topic {fleet.topic} --output json -b", fleet.broker.bootstrap)
    reads = {group["group"]: group["reads"][fleet.topic] for group in answer.succeeded().document["groups"]}
    expected = {name: "assigned" for kind, name in fleet.groups.items() if kind != "connect"}
    assert reads == expected | {fleet.groups["simple"]: "committed"}
    chosen = kohort.quick(
        f"describe --topic {fleet.topic} --type share --members --output csv -b", fleet.broker.bootstrap
    )
    assert {row["GROUP"] for row in chosen.succeeded().rows} == {fleet.groups["share"]}
    wrong = kohort.quick(f"list --topic {fleet.topic}:0 -b", fleet.broker.bootstrap)
    assert f"{fleet.topic}:0: INVALID_TOPIC_EXCEPTION" in wrong.stderr


@pytest.mark.kafka
def test_filters_where_only_the_admin_client_can_log_in(fleet: Fleet) -> None:
    selection = GroupFilter(
        types=frozenset({GroupType.CONSUMER}), has_name=lambda name: name.startswith(fleet.prefix)
    )
    with admin_only(fleet.broker) as over_admin, live_source(fleet.broker) as over_wire:
        one = over_admin.select_groups(selection, described=False).items
        other = over_wire.select_groups(selection, described=False).items
    assert {group.id for group in one} == {group.id for group in other} != set()
