"""`describe --migration` on files: what a person reads, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Kohort

SNAPSHOT = """\
kohort: 1
topics: {orders: {partitions: 4}}
groups:
  payments:
    {type: classic, state: Stable, protocol_type: consumer, protocol: cooperative-sticky, generation: 4, leader: b-1,
     members: [{id: a-1, client: {id: a, library: librdkafka}, user_data: {subscription: "", assignment: ""}},
               {id: b-1, client: {id: b, library: java}, user_data: {subscription: "", assignment: ""}}]}
  unled:
    {type: classic, state: Stable, protocol_type: consumer, protocol: range,
     members: [{id: a-1, client: {id: a}}, {id: b-1, client: {id: b}}, {id: c-1, client: {id: c}}]}
  rebalancing:
    {type: classic, state: PreparingRebalance, protocol_type: consumer, leader: gone-1,
     members: [{id: a-1, client: {id: a}}, {id: b-1, instance: shop}]}
  moving:
    {type: consumer, state: Reconciling, group_epoch: 5, assignment_epoch: 5, members: [
      {id: a-1, client: {id: a}, protocol: classic, epoch: 4, owned: {orders: [0, 1]}, target: {orders: [0]}},
      {id: b-1, client: {id: b}, epoch: 5, owned: {}, target: {orders: [1]}}]}
"""


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    file = tmp_path / "groups.yaml"
    file.write_text(SNAPSHOT)
    return file


def words(kohort: Kohort, group: str, snapshot: Path) -> str:
    """What a person reads, with its lines joined."""
    answer = kohort.quick(f"describe {group} --migration --snapshot", snapshot).succeeded()
    return " ".join(answer.stdout.split())


SAID = {
    "Leader: b. When it leaves, a leads.": "payments",
    "user data: an online upgrade is possible as long as no member of librdkafka leads": "payments",
    "Leader: not known. When it leaves, a leads; or b, if a is the one that leads now.": "unled",
    "Leader: gone-1 led the last finished rebalance and is no longer a member": "rebalancing",
    "Not known now: whether assignments carry user data": "rebalancing",
    "Mixed: 1 of 2 members speaks the consumer protocol": "moving",
}
TO_REJOIN = "itself: to rejoin, unless it has (brokers do not show that)"
CELLS = [
    ("payments", "LEADS", ["1", "leader"]),
    ("payments", "CONSUMER-ID", ["a-1", "b-1"]),
    ("unled", "LEADS", [""] * 3),
    ("rebalancing", "WAITS-FOR", [TO_REJOIN] * 2),
    ("rebalancing", "CONSUMER-ID", ["a-1", "b-1"]),
    ("moving", "WAITS-FOR", ["itself: to rejoin and revoke orders:1", "orders:1, which a still has"]),
]


@pytest.mark.parametrize(("said", "group"), SAID.items())
def test_what_a_person_reads(kohort: Kohort, snapshot: Path, said: str, group: str) -> None:
    assert said in words(kohort, group, snapshot)


@pytest.mark.parametrize(("group", "name", "cells"), CELLS)
def test_columns(kohort: Kohort, snapshot: Path, group: str, name: str, cells: list[str]) -> None:
    line = f"describe {group} --migration --verbose --output csv --snapshot {snapshot}"
    assert [row[name] for row in kohort.quick(line).rows] == cells


def test_a_leader_that_will_write_user_data(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text(SNAPSHOT.replace("leader: b-1", "leader: a-1"))
    said = "but a leader of librdkafka will write it in a later rebalance with cooperative-sticky"
    assert said in words(kohort, "payments", file)


def test_all_groups_have_tables_alike_and_a_document_that_fits(kohort: Kohort, snapshot: Path) -> None:
    question = f"describe --all-groups --migration --snapshot {snapshot} --output"
    lines = kohort.quick(f"{question} csv").stdout.splitlines()
    headings = {line for line in lines if line.startswith("GROUP,")}
    assert len(headings) == 1
    assert not any("CONSUMER-ID" in heading for heading in headings)
    document = kohort.quick(f"{question} json").document
    assert [group["group"] for group in document["groups"]] == ["moving", "payments", "rebalancing", "unled"]


def test_without_the_option_the_document_has_no_such_part(kohort: Kohort, snapshot: Path) -> None:
    document = kohort.quick("describe moving --members --output json --snapshot", snapshot).document
    assert "migration" not in document["groups"][0]


def test_a_missing_group_is_reported_with_the_others(kohort: Kohort, snapshot: Path) -> None:
    answer = kohort.quick("describe moving nothing --migration --snapshot", snapshot)
    assert answer.status == 3
    assert "Mixed" in answer.stdout
    assert "nothing: no such group" in answer.stderr


def test_a_leader_of_the_wrong_kind_in_a_file_is_refused(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(SNAPSHOT.replace("leader: b-1", "leader: [b-1]"))
    kohort.quick("describe payments --migration --snapshot", file).assert_said(3, "groups.payments.leader")
