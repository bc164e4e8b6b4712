"""What the authorizer forbids: reported with the missing operation, nothing half done, and the rest shown."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.offset_rig import OffsetRig
from tests.cli.sources.secure_rig import SecureRig
from tests.kafka.members import fresh_name
from tests.kafka.secure import SecureBroker
from tests.kafka.tool_host import ToolHost

pytestmark = pytest.mark.kafka

PAGE = Path(__file__).parents[3] / "docs" / "security.md"
ROWS = re.findall(r"^\| `kohort (.+?)` \| (.+?) \|$", PAGE.read_text(), re.MULTILINE)
"""Commands of the page's table, and what they need."""
Needed = tuple[tuple[str, str], ...]
"""Operations and kinds of resources."""


def needed(text: str) -> Needed:
    return tuple(re.findall(r"(\w+) on the (\w+)", text))


class Guarded(SecureRig):
    """The rig with a topic and two groups that have committed an offset of each of its two partitions."""

    def __init__(self, *, secure: SecureBroker, kohort: Kohort, scratch: Path, tools: ToolHost) -> None:
        super().__init__(secure=secure, kohort=kohort, scratch=scratch)
        self.offsets = OffsetRig(broker=secure.broker, kohort=kohort, tools=tools)
        self.topic = self.offsets.topic([3, 3])
        self.groups = [self.group(), self.group()]

    def group(self) -> str:
        return self.offsets.group({(self.topic, 0): 1, (self.topic, 1): 2}, fresh_name("payments"))

    def run_as(self, user: str, command: str, group: str) -> Answer:
        return self.as_user(user, command.replace("GROUP", group).replace("TOPIC", self.topic))

    def allow(self, user: str, needs: Needed, group: str) -> None:
        for operation, kind in needs:
            self.secure.allow(user, kind, group if kind == "group" else self.topic, operation)


@pytest.fixture(scope="module")
def rig(
    secure: SecureBroker, kohort: Kohort, tools: ToolHost, tmp_path_factory: pytest.TempPathFactory
) -> Guarded:
    return Guarded(secure=secure, kohort=kohort, scratch=tmp_path_factory.mktemp("acls"), tools=tools)


@pytest.fixture
def worker(rig: Guarded) -> Iterator[str]:
    yield "worker"
    rig.secure.forbid_all("worker")


@pytest.fixture
def reader(rig: Guarded) -> Iterator[str]:
    rig.secure.allow("reader", "group", rig.groups[0], "DESCRIBE")
    yield "reader"
    rig.secure.forbid_all("reader")


@pytest.mark.parametrize(("command", "needs"), ROWS, ids=[command for command, _ in ROWS])
def test_what_the_page_says_is_enough(rig: Guarded, worker: str, command: str, needs: str) -> None:
    assert len(ROWS) == 13
    group = rig.group()
    rig.allow(worker, needed(needs), group)
    answer = rig.run_as(worker, command, group)
    assert answer.status == (1 if command.startswith("plan") else 0), answer.stderr
    shown = answer.stdout + answer.stderr
    assert group in shown or rig.topic in shown or command.startswith("config get")
    refused = [line for line in answer.stderr.splitlines() if "not allowed" in line]
    # The brokers' bounds are the cluster's to tell; the page says so.
    optional = (
        "kohort: the bounds of broker 1 are not known",
        f"kohort: {group}: its settings are not known",
    )
    assert all(line.startswith(optional) for line in refused)


@pytest.mark.parametrize(("command", "needs"), ROWS, ids=[command for command, _ in ROWS])
def test_each_operation_of_the_page_is_needed(rig: Guarded, worker: str, command: str, needs: str) -> None:
    group = rig.group()
    before = rig.offsets.committed(group)
    operations = needed(needs)
    for left_out in operations:
        rig.secure.forbid_all(worker)
        rig.allow(worker, tuple(operation for operation in operations if operation != left_out), group)
        answer = rig.run_as(worker, command, group)
        hidden = "this user may" in answer.stderr
        refused = answer.status in (3, 4) and "not allowed: this needs " in answer.stderr
        assert hidden or refused, answer
        if refused:
            assert f"on the {left_out[1]} ({left_out[1].upper()}_AUTHORIZATION_FAILED)" in answer.stderr
    assert rig.offsets.committed(group) == before


NOT_ALLOWED = "not allowed: this needs {0} on the {1} ({2}_AUTHORIZATION_FAILED); see `kohort help security`"


def missing(operation: str, kind: str) -> str:
    return NOT_ALLOWED.format(operation, kind, kind.upper())


def test_a_user_without_rights_sees_nothing_but_the_reason(rig: Guarded) -> None:
    listed = rig.as_user("stranger", "list", "--output", "csv")
    assert (listed.status, listed.rows) == (0, [])
    assert listed.stderr == "kohort: no groups found: there are none, or this user may not describe any\n"
    matched = rig.as_user("stranger", "validate-regex", ".*")
    assert matched.status == 0
    assert "no topics found: there are none, or this user may not describe any" in matched.stderr
    every = rig.as_user("stranger", "describe", "--all-groups")
    assert (every.status, every.stdout) == (3, "")
    assert "this user may not describe any" in every.stderr


def test_offsets_that_are_hidden_are_not_said_to_be_none(rig: Guarded, reader: str) -> None:
    group = rig.groups[0]
    hidden = (
        f"{group}: no committed offsets found; those of topics that this user may not describe are hidden"
    )
    for command in ("describe", "offsets export"):
        rig.as_user(reader, command, group).assert_said(0, hidden)
    reset = rig.as_user(reader, f"offsets reset {group} --to-latest --all-topics --execute --yes")
    reset.assert_said(3, f"{group}: shows no committed offsets; name topics (--topic)")
    named = rig.as_user(reader, f"offsets reset {group} --to-latest --topic {rig.topic}")
    named.assert_said(4, f"{rig.topic}: {missing('DESCRIBE', 'topic')}")
    assert "no such" not in named.stderr
