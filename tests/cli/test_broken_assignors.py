"""A custom assignor that raises, hangs, returns what no assignor may or cannot be imported stops each command with its
name and what is wrong; nothing is half done."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml

from tests.cli.command import Answer, Kohort
from tests.support.installed_assignor import install

MODULE = """
from assignors.assignor import Assignor, RebalanceProtocol, Side
from assignors.conversation import MemberAssignor
from assignors.model import Result
from assignors.rules import from_named


def assign(group):
    members = [member.id for member in group.spec.members]
    ASSIGN


class Member(MemberAssignor):
    def subscription_user_data(self, topics):
        SEND


MINE = Assignor(
    name="mine", side=Side.CLIENT, leader=None, protocols=frozenset({RebalanceProtocol.EAGER}), assign=assign,
    at_member=Member, time_limit_s=0.2,
)
"""


def result(named: str, user_data: str = "{}") -> str:
    return f"return Result(assignment=from_named('mine', group, {named}), user_data={user_data})"


FORGIVING = "while True:\n        try:\n            [].index(1)\n        except Exception:\n            pass"
TWICE = result("{members[0]: {'orders': [0, 0]}}")
STRANGER = "a partition is assigned to a member that is not in the group"
ASSIGN = {
    "members[99]": "assign raised IndexError: list index out of range (mine.py, line 10)",
    FORGIVING: "assign did not return within 0.2 s",
    "return members": "assign returned [",
    result("{members[0]: {'orders': [99]}}"): "a partition that does not exist is assigned: orders-99 to ",
    TWICE: "a partition is assigned twice: orders-0",
    result("{'no-one': {'orders': [0]}}"): f"{STRANGER}: no-one",
    result("{}", "{'no-one': b''}"): f"{STRANGER}: user data to no-one",
    result("{}", "{members[0]: 'text'}"): "assign returned user data 'text', not bytes",
}
"""The code of `assign`, and what is reported."""
SEND = {
    "return topics": "subscription_user_data returned user data ('orders',), not bytes",
    "1 // 0": "subscription_user_data raised ZeroDivisionError: ",
    FORGIVING.replace("\n", "\n    "): "subscription_user_data did not return within 0.2 s",
}
SCENARIO = """
kohort: 1
topics: {orders: 2}
members: {a: {assignors: [mine], topics: [orders]}}
events: [{at: 0, start: a}]
until: 10
"""
MEMBER = {"subscription": {"topics": ["orders"]}, "protocols": ["mine"], "client": {"library": "java"}}
SNAPSHOT = {
    "kohort": 1,
    "topics": {"orders": {"partitions": 2}},
    "groups": {
        "g": {
            "type": "classic",
            "state": "Stable",
            "protocol_type": "consumer",
            "protocol": "mine",
            "generation": 1,
            "members": [{"id": "a-1", "owned": {"orders": [0, 1]}, **MEMBER}],
        }
    },
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    (tmp_path / "snapshot.yaml").write_text(yaml.safe_dump(SNAPSHOT))
    return tmp_path


Install: TypeAlias = Callable[..., Kohort]


@pytest.fixture
def install_mine(kohort: Kohort, files: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install the assignor with the code of these methods."""

    def installed(assign: str = "", send: str = "return None", value: str = "mine:MINE") -> Kohort:
        text = MODULE.replace("ASSIGN", assign).replace("SEND", send)
        monkeypatch.syspath_prepend(str(install(files, {"mine": (value, text)})))
        monkeypatch.delitem(sys.modules, "mine", raising=False)
        return kohort

    return installed


def simulate(kohort: Kohort, files: Path, options: str = "") -> Answer:
    return kohort.quick(f"simulate {options}", files / "scenario.yaml")


def dry_run(kohort: Kohort, files: Path) -> Answer:
    return kohort.quick("dry-run g --snapshot", files / "snapshot.yaml")


def rehearse(kohort: Kohort, files: Path) -> Answer:
    snapshot, plan = files / "snapshot.yaml", files / "plan.yaml"
    plan.write_text(kohort.quick("plan g --to consumer --output yaml --snapshot", snapshot).stdout)
    return kohort.quick("rehearse", plan, "--snapshot", snapshot)


def check(answer: Answer, reported: str) -> None:
    assert (answer.status, answer.stdout) == (3, "")
    assert f"assignor 'mine': {reported}" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.parametrize("code", ASSIGN)
def test_a_broken_assign_is_named(install_mine: Install, files: Path, code: str) -> None:
    kohort = install_mine(code)
    check(simulate(kohort, files), ASSIGN[code])
    check(dry_run(kohort, files), ASSIGN[code])


@pytest.mark.parametrize("code", [FORGIVING, TWICE])
def test_a_broken_assign_stops_many_seeds_and_a_rehearsal(
    install_mine: Install, files: Path, code: str
) -> None:
    kohort = install_mine(code)
    check(simulate(kohort, files, "--seeds 3"), ASSIGN[code])
    check(rehearse(kohort, files), ASSIGN[code])


@pytest.mark.parametrize("code", SEND)
def test_broken_user_data_are_named(install_mine: Install, files: Path, code: str) -> None:
    kohort = install_mine(result("{}"), code)
    check(simulate(kohort, files), SEND[code])
    check(dry_run(kohort, files), SEND[code])


def test_an_assignor_that_cannot_be_imported_is_named(install_mine: Install, files: Path) -> None:
    kohort = install_mine(value="mine:GONE")
    why = "mine:GONE cannot be imported: AttributeError: module 'mine' has no attribute 'GONE'"
    serving = kohort.quick("serve --config group.consumer.assignors=mine")
    for answer in (simulate(kohort, files), dry_run(kohort, files), rehearse(kohort, files), serving):
        check(answer, why)
