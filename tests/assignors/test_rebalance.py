"""The protocol that members agree on."""

import pytest

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.errors import NoCommonProtocolError
from assignors.guard import guarded
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, Result, TopicSpec
from assignors.rebalance import elect, run_rebalances
from assignors.registry import rebalance_protocol
from assignors.rules import from_named

EAGER, COOPERATIVE = RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE


@pytest.mark.parametrize(
    ("names", "protocol"),
    [
        (["range"], EAGER),
        (["cooperative-sticky"], COOPERATIVE),
        (["cooperative-sticky", "range"], EAGER),
        (["sticky", "roundrobin"], EAGER),
        # Kafka Streams' own, which KIP-429 lists with both; an unknown assignor is assumed to be eager.
        (["stream"], COOPERATIVE),
        (["stream", "range"], EAGER),
        (["cooperative-sticky", "org.example.Mine"], EAGER),
    ],
)
def test_the_highest_protocol_that_all_assignors_support(
    names: list[str], protocol: RebalanceProtocol
) -> None:
    assert rebalance_protocol(names) is protocol


def test_nothing_in_common_is_an_error() -> None:
    with pytest.raises(
        NoCommonProtocolError, match="cooperative-sticky, range support no rebalance protocol"
    ):
        rebalance_protocol(["cooperative-sticky", "range"], Leader.LIBRDKAFKA)
    with pytest.raises(NoCommonProtocolError, match="at least one"):
        rebalance_protocol([])


@pytest.mark.parametrize(
    ("lists", "elected"),
    [
        ([["range"], ["range", "roundrobin"]], "range"),
        ([["roundrobin", "range"], ["range", "roundrobin"], ["roundrobin", "range"]], "roundrobin"),
        # Ties as a running 4.3.1 broke them.
        ([["range", "roundrobin"], ["roundrobin", "range"]], "range"),
        ([["cooperative-sticky", "range"], ["range", "cooperative-sticky"]], "range"),
        ([["sticky", "roundrobin"], ["roundrobin", "sticky"]], "sticky"),
        # Only what everybody supports is voted for.
        ([["sticky", "range"], ["range"], ["sticky", "range"]], "range"),
    ],
)
def test_the_vote(lists: list[list[str]], elected: str) -> None:
    assert elect(lists) == elected
    assert elect(lists[::-1]) == elected


def test_no_common_assignor() -> None:
    with pytest.raises(NoCommonProtocolError):
        elect([["range"], ["sticky"]])
    with pytest.raises(NoCommonProtocolError):
        elect([])


@pytest.mark.parametrize(
    ("protocols", "counts"),
    [
        # c is new to t-1, which b gives up and a keeps.
        ({COOPERATIVE}, [(0, 1, 0), (1, 0, 0)]),
        # Everybody gives up everything first.
        ({EAGER}, [(1, 2, 2)]),
    ],
)
def test_owners_of_a_shared_partition_are_a_set(
    protocols: set[RebalanceProtocol], counts: list[tuple[int, int, int]]
) -> None:
    def assign(group: DenseGroup) -> Result:
        waits = protocols == {COOPERATIVE} and 1 in group.spec.members[1].owned.partitions.get("t", ())
        named = {"a": {"t": [0, 1]}, "b": {"t": [0]}, "c": {"t": [] if waits else [1]}}
        return Result(assignment=from_named("mine", group, named))

    mine = Assignor(
        name="mine",
        side=Side.CLIENT,
        leader=None,
        protocols=frozenset(protocols),
        assign=assign,
        shares_partitions=True,
    )
    before = {"a": {"t": (0, 1)}, "b": {"t": (0, 1)}, "c": {}}
    claims = before if protocols == {COOPERATIVE} else {name: {} for name in before}
    members = tuple(
        MemberSpec(id=name, topics=("t",), owned=Claim(partitions=owned)) for name, owned in claims.items()
    )
    spec = GroupSpec(topics=(TopicSpec(name="t", partitions=2),), members=members)
    series = run_rebalances(spec, guarded(mine), before, () if protocols == {COOPERATIVE} else "abc")
    assert [(one.moved, one.revoked, one.without_owner) for one in series.rebalances] == counts
    assert series.rests
