"""On a live cluster Kohort shows the facts that Kafka's own tools show, in every mode and format."""

from collections.abc import Iterable, Mapping

import pytest

from tests.cli.command import Kohort
from tests.cli.fleet import Fleet
from tests.cli.tool_rows import MISSING, Key, by_key
from tests.kafka.columns import Row, parse
from tests.kafka.tool_host import CONSUMER_GROUPS, SHARE_GROUPS, ToolHost

pytestmark = pytest.mark.kafka
MODES = [[mode, *more] for mode in ("--offsets", "--members", "--state") for more in ([], ["--verbose"])]


@pytest.mark.parametrize("mode", MODES, ids=" ".join)
def test_describe_shows_what_the_tool_shows(
    kohort: Kohort, fleet: Fleet, tools: ToolHost, mode: list[str]
) -> None:
    groups = fleet.consumer_groups
    words = [word for group in groups for word in ("--group", group)]
    reported = tools.ask(fleet.broker, CONSUMER_GROUPS, "--describe", *words, *mode)
    expected = by_key(parse(reported.stdout))
    assert {group for group, *_ in expected} == set(groups) - _without_rows(fleet, mode)
    describe = ["describe", "-b", fleet.broker.bootstrap, *groups, *mode]

    csv = kohort.quick(*describe, "--output", "csv").succeeded().rows
    table = parse(kohort.quick(*describe).succeeded().stdout)
    assert _as_reported(csv, expected) == _as_reported(table, expected) == expected


def _without_rows(fleet: Fleet, mode: list[str]) -> set[str]:
    return {fleet.groups["simple"]} if "--members" in mode else set()


def _as_reported(rows: Iterable[Mapping[str, str]], reported: Mapping[Key, Row]) -> dict[Key, Row]:
    """Our rows with the columns that the tool has for each: it leaves some out where they say nothing."""
    return {
        key: {name: row.get(name, MISSING) for name in reported.get(key, row)}
        for key, row in by_key(rows).items()
    }


def test_list_shows_what_the_tool_shows(kohort: Kohort, fleet: Fleet, tools: ToolHost) -> None:
    # With both options the tool prints both columns.
    reported = parse(tools.ask(fleet.broker, CONSUMER_GROUPS, "--list", "--type", "--state").stdout)
    expected = {row["GROUP"]: row for row in reported if row["GROUP"].startswith(fleet.prefix)}
    answer = kohort.quick("list -b", fleet.broker.bootstrap, "--match", f"^{fleet.prefix}", "--output", "csv")
    assert answer.status == 0, answer.stderr
    rows = {row["GROUP"]: row for row in answer.rows}
    assert list(rows) == sorted(fleet.groups.values())
    assert set(expected) == set(fleet.consumer_groups)
    for group, row in expected.items():
        assert {name: rows[group][name] for name in row} == row


def test_a_share_group_is_in_the_state_that_its_own_tool_says(
    kohort: Kohort, fleet: Fleet, tools: ToolHost
) -> None:
    reported = parse(tools.ask(fleet.broker, SHARE_GROUPS, "--list", "--state").stdout)
    answer = kohort.quick("list -b", fleet.broker.bootstrap, "--type", "share", "--output", "json")
    states = {row["group"]: row["state"] for row in answer.document["groups"]}
    assert states[fleet.groups["share"]] == "Stable"
    assert states == {row["GROUP"]: row["STATE"] for row in reported}
