"""`describe --migration` on files: what a person reads, and what it refuses."""

from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.support.golden import assert_recorded

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


def test_tables_and_sentences_are_as_recorded(kohort: Kohort, snapshot: Path) -> None:
    def shown(line: str) -> str:
        return kohort.quick(f"describe {line} --migration --snapshot", snapshot).succeeded().stdout

    answers = {line: shown(line) for line in ("--all-groups --verbose", "--all-groups --output csv")}
    snapshot.write_text(SNAPSHOT.replace("leader: b-1", "leader: a-1"))
    answers["payments, led by a member that writes user data"] = shown("payments")
    assert_recorded("describe/migration.txt", answers)


def test_only_the_option_adds_the_migration(kohort: Kohort, snapshot: Path) -> None:
    for option, is_there in (("--members", False), ("--migration", True)):
        answer = kohort.quick(f"describe moving {option} --output json --snapshot", snapshot)
        assert ("migration" in answer.document["groups"][0]) is is_there
