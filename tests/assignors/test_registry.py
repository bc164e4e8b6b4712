"""Assignors are found by name, side and leader; a custom one that breaks a rule is refused, and the rule is named."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from assignors import registry
from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.errors import AssignmentRule, RuleBrokenError, UnknownAssignorError
from assignors.guard import guarded
from assignors.model import Assignment, Claim, DenseGroup, GroupSpec, MemberSpec, Result, Rows, TopicSpec
from assignors.registry import find, known
from assignors.rules import from_named

Named = Mapping[str, Mapping[str, Sequence[int]]]


def _assignor(named: Named, *protocols: RebalanceProtocol) -> Assignor:
    return Assignor(
        name="mine",
        side=Side.CLIENT,
        leader=None,
        protocols=frozenset(protocols),
        assign=lambda group: Result(assignment=from_named("mine", group, named)),
    )


GREEDY = replace(_assignor({"anna": {"orders": [0]}, "bob": {"orders": [0]}}), name="greedy")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def entry_points(**params: str) -> EntryPoints:
        offered = EntryPoint(name="greedy", value=f"{__name__}:GREEDY", group="kohort.assignors")
        fits = all(getattr(offered, name) == value for name, value in params.items())
        return EntryPoints([offered] if fits else [])

    monkeypatch.setattr(registry, "entry_points", entry_points)


def test_range_is_javas_by_default_and_another_on_the_broker() -> None:
    assert find("range", Side.CLIENT) is find("range", Side.CLIENT, Leader.JAVA)
    assert find("range", Side.BROKER) is not find("range", Side.CLIENT)


@pytest.mark.parametrize(
    ("name", "nearest"), [("Uniform", "uniform"), ("unifrom", "uniform"), ("ranges", "range")]
)
def test_an_unknown_name_gets_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownAssignorError) as caught:
        find(name, Side.BROKER)
    assert str(caught.value) == (f"the broker has no assignor {name!r}; did you mean {nearest}?")


def test_a_name_of_the_other_side_is_mentioned() -> None:
    with pytest.raises(UnknownAssignorError, match="'uniform' exists for the broker"):
        find("uniform", Side.CLIENT)


@pytest.mark.usefixtures("installed")
def test_a_custom_assignor_is_found_and_its_answers_are_checked() -> None:
    assert "greedy" in known(Side.CLIENT)
    assignor = find("greedy", Side.CLIENT, Leader.LIBRDKAFKA)
    with pytest.raises(RuleBrokenError) as caught:
        assignor.assign(GROUP)
    assert caught.value.rule is AssignmentRule.TWICE
    with pytest.raises(UnknownAssignorError):
        find("greedy", Side.BROKER)


GROUP = DenseGroup.of(
    GroupSpec(
        topics=(TopicSpec(name="orders", partitions=3), TopicSpec(name="bills", partitions=1)),
        members=(
            MemberSpec(id="anna", topics=("orders",), owned=Claim(partitions={"orders": [0, 1]})),
            MemberSpec(id="bob", topics=("orders", "bills")),
        ),
    )
)


def test_a_result_that_keeps_the_rules_passes() -> None:
    named = {"anna": {"orders": [1, 0]}, "bob": {"orders": [2], "bills": [0]}}
    result = guarded(_assignor(named, RebalanceProtocol.COOPERATIVE)).assign(GROUP)
    assert result.assignment.named() == {"anna": {"orders": [0, 1]}, "bob": {"bills": [0], "orders": [2]}}


@pytest.mark.parametrize(
    ("named", "rule", "detail"),
    [
        ({"anna": {"orders": [0]}, "bob": {"orders": [0]}}, AssignmentRule.TWICE, "orders-0"),
        ({"anna": {"orders": [0, 0]}}, AssignmentRule.TWICE, "orders-0"),
        ({"carl": {"orders": [0]}}, AssignmentRule.NON_MEMBER, "carl"),
        ({"anna": {"bills": [0]}}, AssignmentRule.NON_SUBSCRIBER, "bills-0 to anna"),
        ({"anna": {"orders": [3]}}, AssignmentRule.NO_SUCH_PARTITION, "orders-3 to anna"),
        ({"anna": {"gone": [0]}}, AssignmentRule.NO_SUCH_PARTITION, "gone-0 to anna"),
        ({"anna": {"orders": [0]}, "bob": {"orders": [1]}}, AssignmentRule.HANDED_OVER, "orders-1 to bob"),
    ],
)
def test_a_broken_rule_is_named(named: Named, rule: AssignmentRule, detail: str) -> None:
    with pytest.raises(RuleBrokenError) as caught:
        guarded(_assignor(named, RebalanceProtocol.COOPERATIVE)).assign(GROUP)
    assert (caught.value.rule, caught.value.detail) == (rule, detail)
    assert str(caught.value) == f"assignor 'mine': {rule.value}: {detail}"


def _sharing(named: Named, *protocols: RebalanceProtocol) -> Assignor:
    return replace(_assignor(named, *protocols), shares_partitions=True)


def test_a_client_side_assignor_may_share_if_it_declares_so() -> None:
    named = {"anna": {"orders": [0, 1]}, "bob": {"orders": [1, 2]}}
    result = guarded(_sharing(named, RebalanceProtocol.EAGER)).assign(GROUP)
    assert result.assignment.named() == named
    with pytest.raises(RuleBrokenError) as of_broker:
        guarded(replace(_sharing(named), side=Side.BROKER)).assign(GROUP)
    with pytest.raises(RuleBrokenError) as of_one_member:
        guarded(_sharing({"bob": {"orders": [2, 2]}})).assign(GROUP)
    details = [(caught.value.rule, caught.value.detail) for caught in (of_broker, of_one_member)]
    assert details == [(AssignmentRule.TWICE, "orders-1"), (AssignmentRule.TWICE, "orders-2")]


def test_a_sharing_cooperative_assignor_may_add_an_owner_only() -> None:
    added = {"anna": {"orders": [0, 1]}, "bob": {"orders": [0, 1]}}
    guarded(_sharing(added, RebalanceProtocol.COOPERATIVE)).assign(GROUP)
    with pytest.raises(RuleBrokenError) as caught:
        guarded(_sharing({"bob": {"orders": [1]}}, RebalanceProtocol.COOPERATIVE)).assign(GROUP)
    assert (caught.value.rule, caught.value.detail) == (AssignmentRule.HANDED_OVER, "orders-1 to bob")


def test_an_eager_assignor_may_hand_over_at_once() -> None:
    named = {"anna": {"orders": [0]}, "bob": {"orders": [1]}}
    guarded(_assignor(named, RebalanceProtocol.EAGER)).assign(GROUP)


def test_an_assignment_for_more_members_than_there_are_is_refused() -> None:
    rows = Rows.of([[0], [1], [2]])
    assignor = replace(_assignor({}), assign=lambda group: Result(assignment=Assignment(group, rows)))
    with pytest.raises(RuleBrokenError, match="not in the group"):
        guarded(assignor).assign(GROUP)
