"""On a live cluster Kohort shows the facts that Kafka's own tools show, in every mode and format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.fleet import MEMBERS, Fleet
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
    reported = tools.ask(
        fleet.broker,
        CONSUMER_GROUPS,
        "--describe",
        *(word for group in groups for word in ("--group", group)),
        *mode,
    )
    wanted = by_key(parse(reported.stdout))
    assert {group for group, *_ in wanted} == set(groups) - _without_rows(fleet, mode)
    describe = ["describe", "-b", fleet.broker.bootstrap, *groups, *mode]

    csv = kohort.quick(*describe, "--output", "csv").succeeded()
    assert _as_reported(csv.rows, wanted) == wanted

    table = kohort.quick(*describe).succeeded()
    assert _as_reported(parse(table.stdout), wanted) == wanted

    document = kohort.quick(*describe, "--output", "json").document
    assert document["errors"] == []
    assert [group["group"] for group in document["groups"]] == groups
    rows = [row for group in document["groups"] for row in _rows(group, mode[0])]
    assert _as_reported(rows, wanted) == wanted


def _without_rows(fleet: Fleet, mode: list[str]) -> set[str]:
    return {fleet.groups["simple"]} if "--members" in mode else set()


def _as_reported(rows: Iterable[Mapping[str, str]], reported: Mapping[Key, Row]) -> dict[Key, Row]:
    """Our rows with the columns that the tool has for each: it leaves some out where they say nothing."""
    return {
        key: {name: row.get(name, MISSING) for name in reported.get(key, row)}
        for key, row in by_key(rows).items()
    }


def _assignment(partitions: Mapping[str, list[int]] | None) -> str:
    texts = [f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in (partitions or {}).items()]
    return ";".join(texts) or MISSING


def _text(value: object) -> str:
    return MISSING if value is None else str(value).lower() if isinstance(value, bool) else str(value)


COLUMNS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "GROUP": ("group", _text), "TOPIC": ("topic", _text), "PARTITION": ("partition", _text),
    "LEADER-EPOCH": ("leader_epoch", _text), "CURRENT-OFFSET": ("committed", _text), "LOG-END-OFFSET": ("end", _text),
    "LAG": ("lag", _text), "CONSUMER-ID": ("member", _text), "HOST": ("host", _text), "CLIENT-ID": ("client_id", _text),
    "GROUP-INSTANCE-ID": ("instance", _text), "UPGRADED": ("upgraded", _text),
    "#PARTITIONS": ("owned", lambda owned: str(sum(map(len, owned.values())))),
    "CURRENT-EPOCH": ("epoch", _text), "CURRENT-ASSIGNMENT": ("owned", _assignment),
    "TARGET-EPOCH": ("target_epoch", _text), "TARGET-ASSIGNMENT": ("target", _assignment),
    "COORDINATOR (ID)": ("coordinator", lambda node: f"{node['host']}:{node['port']} ({node['id']})"),
    "ASSIGNMENT-STRATEGY": ("protocol", _text), "STATE": ("state", _text), "GROUP-EPOCH": ("group_epoch", _text),
    "TARGET-ASSIGNMENT-EPOCH": ("assignment_epoch", _text), "#MEMBERS": ("members", lambda members: str(len(members))),
}  # fmt: skip
"""The tool's columns: a field of the document, and its text."""


def _rows(group: Mapping[str, Any], mode: str) -> list[Row]:
    """The tool's rows from the document."""
    members = {member["id"]: member for member in group["members"]}
    facts: Mapping[str, list[dict[str, Any]]] = {
        "--offsets": [{**members.get(row["member"], {}), **row} for row in group["offsets"] or ()],
        "--members": [{**member, "member": name} for name, member in members.items()],
        "--state": [dict(group)],
    }
    return [
        {
            name: text(each[field])
            for name, (field, text) in COLUMNS.items()
            if field in (each := {**fact, "group": group["group"]})
        }
        for fact in facts[mode]
    ]


def test_list_shows_what_the_tool_shows(kohort: Kohort, fleet: Fleet, tools: ToolHost) -> None:
    # With both options the tool prints both columns.
    reported = parse(tools.ask(fleet.broker, CONSUMER_GROUPS, "--list", "--type", "--state").stdout)
    wanted = {row["GROUP"]: row for row in reported if row["GROUP"].startswith(fleet.prefix)}
    answer = kohort.quick("list -b", fleet.broker.bootstrap, "--match", f"^{fleet.prefix}", "--output", "csv")
    assert answer.status == 0, answer.stderr
    rows = {row["GROUP"]: row for row in answer.rows}
    assert list(rows) == sorted(fleet.groups.values())
    assert set(wanted) == set(fleet.consumer_groups)
    for group, row in wanted.items():
        assert {name: rows[group][name] for name in row} == row


CONSUMER = {"confluent-consumer", "consumer-regex", "java-consumer", "mixed"}
KINDS = set(MEMBERS) | {"connect", "simple"}


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        (["--type", "share"], {"share"}),
        (["--type", "streams"], {"streams"}),
        (["--type", "consumer"], CONSUMER),
        (["--type", "classic"], KINDS - CONSUMER - {"share", "streams"}),
        (["--type", "generic", "--protocol", "connect"], {"connect"}),
        (["--protocol", "sticky"], {"java-static"}),
        (["--state", "Empty"], {"simple"}),
        (["--state", "stable,EMPTY"], KINDS),
    ],
    ids=lambda words: " ".join(sorted(words)),
)
def test_list_knows_groups_of_every_type(
    kohort: Kohort, fleet: Fleet, arguments: list[str], kinds: set[str]
) -> None:
    answer = kohort.quick(
        f"list -b {fleet.broker.bootstrap} --match ^{fleet.prefix}", *arguments, "--output", "json"
    )
    assert answer.status == 0, answer.stderr
    assert {row["group"] for row in answer.document["groups"]} == {fleet.groups[kind] for kind in kinds}


def test_a_share_group_is_in_the_state_that_its_own_tool_says(
    kohort: Kohort, fleet: Fleet, tools: ToolHost
) -> None:
    reported = parse(tools.ask(fleet.broker, SHARE_GROUPS, "--list", "--state").stdout)
    answer = kohort.quick("list -b", fleet.broker.bootstrap, "--type", "share", "--output", "json")
    states = {row["group"]: row["state"] for row in answer.document["groups"]}
    assert states[fleet.groups["share"]] == "Stable"
    assert states == {row["GROUP"]: row["STATE"] for row in reported}


def test_missing_groups_are_named_with_the_others(kohort: Kohort, fleet: Fleet) -> None:
    good = [fleet.groups["java-range"], fleet.groups["java-consumer"]]
    groups = [good[0], "no-such-group", good[1], "neither-this"]
    answer = kohort.quick("describe -b", fleet.broker.bootstrap, *groups, "--members", "--output", "json")
    assert answer.status == 3
    document = answer.document
    assert [group["group"] for group in document["groups"]] == good
    assert {error["subject"] for error in document["errors"]} == {"no-such-group", "neither-this"}
    for name in ("no-such-group", "neither-this"):
        assert f"kohort: {name}: no such group" in answer.stderr
