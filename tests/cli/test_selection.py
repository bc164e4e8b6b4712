"""Which groups a command is about: names, regexes, and filters by type, state, protocol and topic."""

from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort

SNAPSHOT = """
kohort: 1
topics: {orders: {partitions: 1, end_offsets: {0: 9}}, payments: {partitions: 1, end_offsets: {0: 9}}}
groups:
  active:
    type: classic
    state: Stable
    protocol_type: consumer
    protocol: range
    members: [{id: a, client: {id: a, library: java, version: 4.1.0}, protocols: [range],
               subscription: {topics: [orders]}, owned: {orders: [0]}}]
  asleep:
    {type: classic, state: Empty, protocol_type: consumer, offsets: {orders: {0: {offset: 5}}}}
  modern:
    type: consumer
    state: Stable
    protocol_type: consumer
    protocol: uniform
    members: [{id: m, subscription: {regex: "^pay.*"}, owned: {payments: [0]}, target: {payments: [0]}, epoch: 3}]
    offsets: {payments: {0: {offset: 5}}}
  queue:
    {type: share, state: Stable, protocol_type: share, protocol: simple,
     members: [{id: s, subscription: {topics: [orders]}, owned: {}}]}
  moving:
    {type: classic, state: PreparingRebalance, protocol_type: consumer, members: [{id: x}]}
  sink:
    {type: classic, state: Stable, protocol_type: connect, protocol: sessioned, members: [{id: w}]}
"""
FILTERS = {
    "--type consumer": {"modern"},
    "--type CLASSIC": {"active", "asleep", "moving", "sink"},
    "--type generic,share": {"active", "asleep", "moving", "queue", "sink"},
    "--type share --type consumer": {"modern", "queue"},
    "--state empty": {"asleep"},
    "--state Empty,preparing_rebalance": {"asleep", "moving"},
    "--protocol Range": {"active"},
    "--protocol consumer": {"active", "asleep", "modern", "moving"},
    "--protocol connect,uniform": {"modern", "sink"},
    "--type classic --state Stable --protocol consumer": {"active"},
    "--match ^a --state Empty": {"asleep"},
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("selection") / "groups.yaml"
    made.write_text(SNAPSHOT)
    return made


def chosen(answer: Answer) -> set[str]:
    document = answer.document
    return {group["group"] for group in document["plans" if "plans" in document else "groups"]}


@pytest.mark.parametrize(("filters", "groups"), FILTERS.items(), ids=FILTERS.keys())
def test_filters_choose_groups(kohort: Kohort, file: Path, filters: str, groups: set[str]) -> None:
    for command in ("list", "describe --state", "describe --members"):
        answer = kohort.quick(f"{command} {filters} --output json --snapshot", file)
        assert chosen(answer.succeeded()) == groups
    everything = "" if "--match" in filters else "--all-groups"
    assert chosen(kohort.quick(f"describe {everything} {filters} --output json --snapshot", file)) == groups


def test_every_command_that_chooses_groups_has_the_filters(kohort: Kohort, file: Path) -> None:
    for command in ("dry-run", "plan --to consumer", "delete", "describe"):
        filters = "--type classic --state Stable --protocol range"
        answer = kohort.quick(f"{command} --output json {filters} --snapshot", file)
        assert chosen(answer) == {"active"}, answer
    saved = kohort.quick("snapshot --state Empty --snapshot", file).succeeded()
    assert "asleep" in saved.stdout
    assert "active" not in saved.stdout
    exported = kohort.quick("offsets export --type consumer --topic payments --snapshot", file).succeeded()
    assert exported.stdout == "modern,payments,0,5\n\n"
    watched = kohort.quick("watch --state Empty --for 0 --snapshot", file).succeeded()
    assert "asleep: classic, Empty" in watched.stdout


def test_who_reads_a_topic(kohort: Kohort, file: Path) -> None:
    answer = kohort.quick("list --topic orders,payments --output json --snapshot", file)
    assert {group["group"]: group["reads"] for group in answer.document["groups"]} == {
        "active": {"orders": "assigned"},
        "asleep": {"orders": "committed"},
        "modern": {"payments": "assigned"},
        "queue": {"orders": "subscribed"},
    }
    why = "its members' subscriptions are not shown while it is PreparingRebalance"
    answer.assert_said(3, f"moving: whether it reads orders or payments is not known: {why}")
    line = "list --topic orders --type classic --state Stable,Empty --output csv --snapshot"
    rows = [(row["GROUP"], row["READS"]) for row in kohort.quick(line, file).succeeded(stderr="").rows]
    assert rows == [("active", "orders (assigned)"), ("asleep", "orders (committed)")]
    for command in ("describe --members", "describe --state"):
        answer = kohort.quick(f"{command} --topic orders --output json --snapshot", file)
        assert (answer.status, chosen(answer)) == (3, {"active", "asleep", "queue"})
        assert {group["offsets"] for group in answer.document["groups"]} == {None}


def test_describe_shows_only_the_rows_of_the_topics(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text("""
kohort: 1
topics:
  orders: {partitions: 2, start_offsets: {0: 4, 1: 0}, end_offsets: {0: 9, 1: 9}}
  payments: {partitions: 1, end_offsets: {0: 9}}
groups:
  both:
    type: consumer
    state: Stable
    protocol_type: consumer
    protocol: uniform
    members: [{id: m, subscription: {topics: [orders, payments]}, owned: {orders: [1], payments: [0]}, epoch: 1}]
    offsets: {orders: {0: {offset: 1}}, payments: {0: {offset: 5}}}
""")
    rows = kohort.quick("describe both --topic orders --output csv --snapshot", file).succeeded().rows
    shown = [(row["TOPIC"], row["PARTITION"], row["LAG"]) for row in rows]
    assert shown == [("orders", "1", ""), ("orders", "0", "8")]
    totals = kohort.quick("describe --match . --topic payments --totals --output json --snapshot", file)
    document = totals.document
    assert [row["topic"] for row in document["groups"][0]["offsets"]] == ["payments"]
    assert document["totals"]["lag"] == 4
    verbose = kohort.quick("describe both --topic orders --verbose --output json --snapshot", file).document
    assert [(row["log_start"], row["lost"]) for row in verbose["groups"][0]["offsets"]] == [(0, None), (4, 3)]


def test_a_topic_without_readers(kohort: Kohort, file: Path) -> None:
    settled = "--state Stable,Empty --snapshot"
    listed = kohort.quick("list --topic ordres --output csv", *settled.split(), file)
    assert (listed.status, listed.rows) == (0, [])
    assert listed.stderr == f"kohort: ordres: no such topic in {file}\n"
    described = kohort.quick("describe --topic ordres", *settled.split(), file)
    why = f"no group in {file} matches --state Stable,Empty and --topic ordres"
    described.assert_refused(f"no such topic in {file}", why, status=3)


def test_a_named_group_that_does_not_pass_is_a_problem(kohort: Kohort, file: Path) -> None:
    named = "active asleep absent modern"
    answer = kohort.quick(f"describe {named} --type classic --state Stable --members --snapshot", file)
    other_type = "modern: its type is consumer, not classic\n"
    answer.assert_said(
        3, "asleep: its state is Empty, not Stable\n", f"absent: no such group in {file}\n", other_type
    )
    assert "active" in answer.stdout
    alone = kohort.quick("plan modern --to consumer --type classic --snapshot", file)
    alone.assert_refused("modern: its type is consumer, not classic", status=3)
    reads = kohort.quick("describe active modern --topic orders --protocol consumer --snapshot", file)
    reads.assert_said(3, "kohort: modern: does not read orders\n")
    protocol = kohort.quick("describe active sink --protocol sticky,range --snapshot", file)
    protocol.assert_said(3, "sink: its protocol is connect with sessioned, not range or sticky")


@pytest.mark.parametrize(
    ("line", "groups", "is_table"),
    [
        ("active --state", {"active"}, True),
        ("--state active", {"active"}, True),
        ("--state -- active", {"active"}, True),
        ("--all-groups --state", {"active", "asleep", "modern", "moving", "queue", "sink"}, True),
        ("--state Empty", {"asleep"}, False),
        ("--state=Empty", {"asleep"}, False),
        ("--state Empty,moving", {"Empty,moving"}, True),
        ("--state Empty --state", {"asleep"}, True),
        ("--state --state Empty --all-groups", {"asleep"}, True),
        ("asleep --state Empty", {"asleep"}, False),
    ],
)
def test_state_option(kohort: Kohort, file: Path, line: str, groups: set[str], is_table: bool) -> None:
    answer = kohort.quick("describe --output csv --snapshot", file, *line.split())
    if groups == {"Empty,moving"}:
        answer.assert_said(3, "Empty,moving: no such group")
        return
    assert {row["GROUP"] for row in answer.succeeded().rows} == groups
    assert ("STATE" in answer.rows[0]) is is_table
