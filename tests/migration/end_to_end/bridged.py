"""`kohort bridge` at work on a deployment, and an operator who does what its lines ask for."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from migration.bridge import MemberRestart, RestartMode
from tests.cli.command import Kohort
from tests.cli.verbs.watch.running import Running, in_pipe
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.application import Application
from tests.migration.end_to_end.consumption import stays
from tests.migration.end_to_end.deployment import Deployment
from tests.migration.end_to_end.journal import Journal

WANTED = re.compile(r"Now (?:restart|stop) (?P<member>[^\s,]+)")
CONSUMER = {"group.protocol": "consumer", "auto.commit.interval.ms": "1000"}
OPERATOR_S = 1.0
"""How long an operator takes. librdkafka joins once a second at most: with a bridge or without, a rebalance that begins
sooner after another takes longer."""


@contextmanager
def bridge(deployment: Deployment, directory: Path, *options: str, name: str = "bridge") -> Iterator[Running]:
    """A bridge for the deployment's group, as its own process; killed with the context."""
    broker = deployment.broker.bootstrap
    command = ("bridge", deployment.group, "-b", broker, "--execute", "--yes", "--watch", *options)
    (directory / "home").mkdir(exist_ok=True)
    with in_pipe(Kohort(directory / "home"), directory, *command, name=name) as running:
        yield running


class RealBridge:
    """What `PlanRun` asks of a bridge, of the command."""

    def __init__(self, running: Callable[[], AbstractContextManager[Running]]) -> None:
        self._starts, self._stack = running, ExitStack()
        self.process: Running | None = None

    def enter(self) -> None:
        self.process = self._stack.enter_context(self._starts())

    def leave(self) -> None:
        self._stack.close()

    @property
    def asks(self) -> MemberRestart | None:
        member = to_restart(self.process) if self.process else None
        return MemberRestart(member=member, mode=RestartMode.RESTART, why="") if member else None


def moves(running: Running) -> list[str]:
    return running.stdout.splitlines()


def moved(move: str) -> Callable[[Running], bool]:
    return lambda running: bool(moves(running)) and f" s  {move}: " in moves(running)[-1]


def restart_member(deployment: Deployment, member: str) -> None:
    next(one for one in deployment.applications.values() if member.startswith(f"{one.name}-")).restart()


def make_it_lead(running: Running, restart: Callable[[str], object]) -> int:
    """Restart the members that the bridge names, until it leads; their number."""
    restarted: list[str] = []

    def asks(process: Running) -> bool:
        return moved("lead")(process) or to_restart(process) not in (None, *restarted)

    while True:
        running.wait_for(asks, "the bridge leads, or asks for a restart")
        member = to_restart(running)
        if member is None:
            return len(restarted)
        time.sleep(OPERATOR_S)
        restart(member)
        restarted.append(member)


def operate(deployment: Deployment, running: Running, first: Application) -> None:
    """Do what the bridge asks for, and start the first member of the consumer protocol, until the bridge has ended."""
    done: set[str] = set()
    while running.process.poll() is None:
        member = to_restart(running)
        if member is not None and member not in done:
            done.add(member)
            restart_member(deployment, member)
        elif moved("lead")(running) and first.config != CONSUMER:
            to_consumer(first, deployment.wait_rest)
        time.sleep(0.05)


def to_restart(running: Running) -> str | None:
    """The member that the newest line asks to be restarted."""
    match = WANTED.search(moves(running)[-1]) if moved("restart")(running) else None
    return match["member"] if match else None


def to_consumer(application: Application, wait_rest: Callable[[], object] = lambda: None) -> None:
    """Restart it as a member of the consumer protocol; a program of librdkafka takes the place of one of sarama.
    The first one of a group waits for rest before its start: a conversion in the middle of a rebalance may give a
    partition two owners (docs/kafka-weaknesses.md), and makes members of sarama join again 2 s later."""
    application.stop()
    wait_rest()
    application.library = "librdkafka"
    application.config = dict(CONSUMER)
    application.start()


def longest_gap_s(journals: list[Journal], from_ns: int, until_ns: int) -> float:
    """For how long at most a partition was without an owner, between two moments."""
    longest_ns = 0
    for them in stays(journals).values():
        reached = from_ns
        for stay in them:
            longest_ns = max(longest_ns, min(stay.from_ns, until_ns) - reached)
            reached = max(reached, min(stay.until_ns, until_ns))
        longest_ns = max(longest_ns, until_ns - reached)
    return longest_ns / 1e9


def wait_until_settled(deployment: Deployment, members: int) -> None:
    """Until the group is Stable with this many members, and every partition has an owner."""
    deployment.wait_stable(members)

    def owned() -> int:
        assigned = [one.assignment for one in deployment.view().members]
        return sum(len(one.get(topic, ())) for one in assigned for topic in deployment.topics)

    wait_until(lambda: owned() == sum(deployment.topics.values()), "every partition has an owner")
