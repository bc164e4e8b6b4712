"""Instances of a service elect one of them, with a protocol type of theirs and no partitions (B23)."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.coordinator.applications.servers import REAL, served
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.process import kill
from tests.kafka.wait import wait_until
from tests.support.long import LONG

pytestmark = pytest.mark.kafka


@dataclass(slots=True, kw_only=True)
class Instance:
    """`tests/kafka/elector.py` in a separate process."""

    host: str
    eligible: bool
    output: Path
    process: subprocess.Popen[bytes]

    def outcome(self) -> tuple[str, str] | None:
        """Its id and the elected one's, by its last election."""
        *lines, _unfinished = self.output.read_text().split("\n")
        member, elected = lines[-1].split() if lines else ("", "")
        return (member, elected) if member else None


@dataclass(slots=True, kw_only=True)
class Election:
    broker: Broker
    directory: Path
    stack: ExitStack
    group: str
    kohort: Kohort

    def start(self, host: str, *, eligible: bool = True) -> Instance:
        output = self.directory / f"{fresh_name(host)}.txt"
        words = (self.broker.bootstrap, self.group, host, str(eligible).lower())
        with output.open("wb") as file:
            process = subprocess.Popen([sys.executable, "-m", "tests.kafka.elector", *words], stdout=file)
        self.stack.callback(kill, process)
        return Instance(host=host, eligible=eligible, output=output, process=process)

    def assert_leads(self, leader: Instance, *others: Instance) -> None:
        """Wait until all know that it leads: then `kohort describe` shows it, too."""

        def agreed() -> Sequence[tuple[str, str]] | None:
            outcomes = [instance.outcome() for instance in (leader, *others)]
            known = [outcome for outcome in outcomes if outcome is not None]
            elected = {member for _, member in known}
            return known if len(known) == len(outcomes) and elected == {known[0][0]} else None

        outcomes = wait_until(agreed, f"all know that {leader.host} leads")
        answer = self.kohort.quick(
            f"describe {self.group} -b {self.broker.bootstrap} --output json"
        ).succeeded()
        (group,) = answer.document["groups"]
        assert (group["state"], group["protocol_type"], group["protocol"]) == ("Stable", "sr", "v0")
        assert {member["id"]: (member["owned"], member["candidate"]) for member in group["members"]} == {
            member: (
                None,
                {
                    "url": f"http://{instance.host}:8081",
                    "eligible": instance.eligible,
                    "elected": elected,
                    "error": 0,
                },
            )
            for instance, (member, elected) in zip((leader, *others), outcomes, strict=True)
        }


@pytest.mark.parametrize("server", ["serve", pytest.param(REAL, marks=LONG)])
def test_an_instance_takes_over_when_the_elected_one_dies(
    server: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        broker: Broker = (
            request.getfixturevalue("session_broker")
            if server == REAL
            else stack.enter_context(served(server, tmp_path))
        )
        group = fresh_name("registry")
        election = Election(
            broker=broker, directory=tmp_path, stack=stack, group=group, kohort=Kohort(tmp_path)
        )
        first, second = election.start("b"), election.start("c")
        election.assert_leads(first, second)
        kill(first.process)
        election.assert_leads(second)
        # The group's leader stays, and elects another one: who leads the group need not be elected.
        follower, returned = election.start("a", eligible=False), election.start("b")
        election.assert_leads(returned, second, follower)
