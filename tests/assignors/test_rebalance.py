"""The protocol that members agree on."""

import pytest

from assignors.assignor import RebalanceProtocol, Side
from assignors.errors import NoCommonProtocolError
from assignors.rebalance import elect, rebalance_protocol
from assignors.registry import find


@pytest.mark.parametrize(
    ("names", "protocol"),
    [
        (["range"], RebalanceProtocol.EAGER),
        (["cooperative-sticky"], RebalanceProtocol.COOPERATIVE),
        (["cooperative-sticky", "range"], RebalanceProtocol.EAGER),
        (["sticky", "roundrobin"], RebalanceProtocol.EAGER),
    ],
)
def test_the_highest_protocol_that_all_assignors_support(
    names: list[str], protocol: RebalanceProtocol
) -> None:
    assert rebalance_protocol([find(name, Side.CLIENT) for name in names]) is protocol


def test_nothing_in_common_is_an_error() -> None:
    from dataclasses import replace

    only = replace(
        find("cooperative-sticky", Side.CLIENT), protocols=frozenset({RebalanceProtocol.COOPERATIVE})
    )
    with pytest.raises(
        NoCommonProtocolError, match="cooperative-sticky, range support no rebalance protocol"
    ):
        rebalance_protocol([only, find("range", Side.CLIENT)])
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
