"""A custom assignor that breaks a rule is refused, and the rule is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from assignors.assignor import Assignor, RebalanceProtocol, Side
from assignors.errors import Rule, RuleBrokenError
from assignors.model import Assignment, Claim, DenseGroup, GroupSpec, MemberSpec, Result, Rows, TopicSpec
from assignors.rules import checked, from_named

Named = Mapping[str, Mapping[str, Sequence[int]]]

GROUP = DenseGroup.of(
    GroupSpec(
        topics=(TopicSpec(name="orders", partitions=3), TopicSpec(name="bills", partitions=1)),
        members=(
            MemberSpec(id="anna", topics=("orders",), owned=Claim(partitions={"orders": [0, 1]})),
            MemberSpec(id="bob", topics=("orders", "bills")),
        ),
    )
)


def _assignor(named: Named, *protocols: RebalanceProtocol) -> Assignor:
    return Assignor(
        name="mine",
        side=Side.CLIENT,
        leader=None,
        protocols=frozenset(protocols),
        assign=lambda group: Result(assignment=from_named("mine", group, named)),
    )


def test_a_result_that_keeps_the_rules_passes() -> None:
    named = {"anna": {"orders": [1, 0]}, "bob": {"orders": [2], "bills": [0]}}
    result = checked(_assignor(named, RebalanceProtocol.COOPERATIVE)).assign(GROUP)
    assert result.assignment.named() == {"anna": {"orders": [0, 1]}, "bob": {"bills": [0], "orders": [2]}}


@pytest.mark.parametrize(
    ("named", "rule", "detail"),
    [
        ({"anna": {"orders": [0]}, "bob": {"orders": [0]}}, Rule.TWICE, "orders-0"),
        ({"anna": {"orders": [0, 0]}}, Rule.TWICE, "orders-0"),
        ({"carl": {"orders": [0]}}, Rule.NON_MEMBER, "carl"),
        ({"anna": {"bills": [0]}}, Rule.NON_SUBSCRIBER, "bills-0 to anna"),
        ({"anna": {"orders": [3]}}, Rule.NO_SUCH_PARTITION, "orders-3 to anna"),
        ({"anna": {"gone": [0]}}, Rule.NO_SUCH_PARTITION, "gone-0 to anna"),
        ({"anna": {"orders": [0]}, "bob": {"orders": [1]}}, Rule.HANDED_OVER, "orders-1 to bob"),
    ],
)
def test_a_broken_rule_is_named(named: Named, rule: Rule, detail: str) -> None:
    with pytest.raises(RuleBrokenError) as caught:
        checked(_assignor(named, RebalanceProtocol.COOPERATIVE)).assign(GROUP)
    assert (caught.value.rule, caught.value.detail) == (rule, detail)
    assert str(caught.value) == f"assignor 'mine': {rule.value}: {detail}"


def test_an_eager_assignor_may_hand_over_at_once() -> None:
    named = {"anna": {"orders": [0]}, "bob": {"orders": [1]}}
    checked(_assignor(named, RebalanceProtocol.EAGER)).assign(GROUP)


def test_an_assignment_for_more_members_than_there_are_is_refused() -> None:
    rows = Rows.of([[0], [1], [2]])
    assignor = Assignor(
        name="mine",
        side=Side.CLIENT,
        leader=None,
        protocols=frozenset(),
        assign=lambda group: Result(assignment=Assignment(group, rows)),
    )
    with pytest.raises(RuleBrokenError, match="not a member"):
        checked(assignor).assign(GROUP)
