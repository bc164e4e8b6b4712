"""Assignors are found by name, side and leader; a wrong name gets a helpful answer."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from assignors import registry
from assignors.assignor import Assignor, Leader, Side
from assignors.errors import Rule, RuleBrokenError, UnknownAssignorError
from assignors.model import DenseGroup, GroupSpec, MemberSpec, Result, TopicSpec
from assignors.registry import find, known
from assignors.rules import from_named


def _greedy(group: DenseGroup) -> Result:
    everybody = {member.id: {"orders": [0]} for member in group.spec.members}
    return Result(assignment=from_named("greedy", group, everybody))


GREEDY = Assignor(name="greedy", side=Side.CLIENT, leader=None, protocols=frozenset(), assign=_greedy)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that offers `greedy`."""

    def entry_points(**wanted: str) -> EntryPoints:
        offered = EntryPoint(name="greedy", value=f"{__name__}:GREEDY", group="kohort.assignors")
        fits = all(getattr(offered, name) == value for name, value in wanted.items())
        return EntryPoints([offered] if fits else [])

    monkeypatch.setattr(registry, "entry_points", entry_points)


@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_a_client_assignor_is_java_s_unless_told(name: str) -> None:
    assert find(name, Side.CLIENT) is find(name, Side.CLIENT, Leader.JAVA)


def test_range_means_another_assignor_on_each_side() -> None:
    assert find("range", Side.BROKER) is not find("range", Side.CLIENT)


@pytest.mark.parametrize(
    ("name", "nearest"), [("Uniform", "uniform"), ("unifrom", "uniform"), ("ranges", "range")]
)
def test_an_unknown_name_gets_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownAssignorError) as caught:
        find(name, Side.BROKER)
    assert str(caught.value) == (
        f"the broker has no assignor {name!r}; it has range, uniform. Did you mean {nearest!r}?"
    )


def test_a_name_of_the_other_side_is_said_to_be_there() -> None:
    with pytest.raises(UnknownAssignorError, match="'uniform' exists for the broker"):
        find("uniform", Side.CLIENT)


@pytest.mark.usefixtures("installed")
def test_a_custom_assignor_is_found_and_its_answers_are_checked() -> None:
    assert "greedy" in known(Side.CLIENT)
    assignor = find("greedy", Side.CLIENT, Leader.LIBRDKAFKA)
    members = tuple(MemberSpec(id=name, topics=("orders",)) for name in ("anna", "bob"))
    group = DenseGroup.of(GroupSpec(topics=(TopicSpec(name="orders", partitions=1),), members=members))
    with pytest.raises(RuleBrokenError) as caught:
        assignor.assign(group)
    assert caught.value.rule is Rule.TWICE


@pytest.mark.usefixtures("installed")
def test_a_custom_assignor_stays_on_its_side() -> None:
    with pytest.raises(UnknownAssignorError):
        find("greedy", Side.BROKER)
