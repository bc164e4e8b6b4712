"""Somebody who follows a printed plan literally, gate by gate.

The plan is read from the file that `kohort plan --output yaml` wrote: what each round does to which members, the
configuration lines, the commands. Nothing else is known here about any way from one protocol to another.
"""

import re
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests.kafka.wait import wait_until
from tests.migration.end_to_end.deployment import Deployment
from tests.migration.end_to_end.shell import Background, Shell

PLAN_FILE = "PLAN.yaml"  # As runbooks call it
OPEN, CLOSED = 0, 1
WAIT = re.compile(r" --wait\b")
GUEST_LEAVES = "The bridge has left."
RESTART = re.compile(r"\bfirst in the order of succession, .*: restart (?P<name>[^\s,]+)")
PLACE_S = 240.0  # For a guest to find its place: one try in eight succeeds at least, and takes some 3 s
BRIDGE, CONSOLE = "kohort bridge", "kafka-console-consumer"
"""Commands that do not return by themselves: the bridge with `--execute`."""
COMMAND = re.compile(r"`(kafka-[^`]+)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePoll:
    command: str
    status: int
    said: str


@dataclass(slots=True, kw_only=True)
class Follower:
    deployment: Deployment
    shell: Shell
    plan: dict[str, Any] = field(default_factory=dict)
    polls: list[GatePoll] = field(default_factory=list)
    guests: list[Background] = field(default_factory=list)
    """Temporary members that a step's own commands started."""
    is_without_bridge: bool = False  # Whether the plan's console consumer takes the place of `kohort bridge`

    def make_plan(self, *options: str) -> dict[str, Any]:
        """Have the plan of the settled group made and written to its file; return it."""
        self.deployment.wait_rest()
        group, broker = self.deployment.group, self.deployment.broker.bootstrap
        command = shlex.join(["kohort", "plan", group, *options, "-b", broker, "--output", "yaml"])
        done = self.shell.run(f"{command} > {PLAN_FILE}")
        written = (self.shell.directory / PLAN_FILE).read_text()
        assert done.returncode == 0, f"{command}: {done.stderr}\n{written}"
        self.plan = yaml.safe_load(written)
        return self.plan

    def follow(self, *options: str) -> None:
        """Make the plan and carry out all steps; no step or round begins before the gate of the one before is open."""
        for step in self.make_plan(*options)["steps"]:
            self.follow_step(step)

    def follow_step(self, step: dict[str, Any]) -> None:
        """Carry out one step: its gate is closed before and open afterwards."""
        whole = step["commands"][0]
        self.expect(whole, CLOSED)
        shell = self._shell_of(step)
        self._run(shell)
        if any(map(runs_on, shell)):
            self._find_a_place(step, shell[-1])
        for number, names in enumerate(step["rounds"] or self._everybody(), 1):
            between = step["round_command"]
            if between:
                self.expect(of_round(between, number), CLOSED)
            self.do(step, names)
            if between:
                self.wait(of_round(between, number))
        if GUEST_LEAVES in step["complete_when"]:
            self._see_off()
        self.wait(whole)

    def do(self, step: dict[str, Any], names: Iterable[str]) -> None:
        """Do to the members of a round what the step says."""
        members = [self.deployment.applications[name] for name in names]
        # All of a round together: all are down before the first is up again.
        if stops(step):
            for one in members:
                # One that closes in the middle of a rebalance cannot commit, and the next consumes again.
                self.deployment.wait_rest()
                one.stop()
        if starts(step):
            for one in members:
                one.edit(step["config"])
                one.start()

    def expect(self, command: str, status: int) -> GatePoll:
        """Ask a gate how it is now, without waiting."""
        poll = self._look(WAIT.sub("", command), waits=False)
        assert poll.status == status, f"not {status}: {poll}\n{self._complaints()}"
        return poll

    def wait(self, command: str) -> GatePoll:
        """Wait at a gate as the plan has it; it must open."""
        poll = self._look(command)
        assert poll.status == OPEN, f"{poll}\n{self._complaints()}"
        return poll

    def end(self) -> None:
        for guest in self.guests:
            guest.kill()

    def _everybody(self) -> list[list[str]]:
        """Of a group without members a plan knows no names: they are all meant."""
        applications = self.deployment.applications
        return [] if any(one.running for one in applications.values()) else [list(applications)]

    def _shell_of(self, step: dict[str, Any]) -> Sequence[str]:
        """What to run in a step: its commands, or those of the way that the plan has without a bridge of Kohort's."""
        shell: Sequence[str] = step["shell"]
        if not self.is_without_bridge or not any(BRIDGE in command for command in shell):
            return shell
        ways = self.plan["alternatives"]
        return next(commands for way in ways if (commands := COMMAND.findall(way["why_not"])))

    def _find_a_place(self, step: dict[str, Any], command: str) -> None:
        """Where the check says that the guest does not come first: do what it says, and ask again. A bridge of
        Kohort's moves by itself: it is left to it."""
        deadline = time.monotonic() + PLACE_S
        while time.monotonic() < deadline:
            poll = self._look(WAIT.sub("", step["commands"][0]), waits=False)
            if poll.status == OPEN:
                return
            advice = RESTART.search(poll.said)
            # Not there yet, or the group not Stable: the step has it asked again.
            is_early = "PreparingRebalance" in poll.said or "CompletingRebalance" in poll.said
            if advice and not is_early and advice["name"] in self.deployment.applications:
                self.deployment.applications[advice["name"]].restart()
            elif advice and not is_early and CONSOLE in command:
                self._stop_guests()
                self._run([command])
            else:
                time.sleep(0.3)
        raise TimeoutError(f"not first within {PLACE_S:g} s: {self.polls[-1]}\n{self._complaints()}")

    def _see_off(self) -> None:
        """The group is converted: a bridge ends by itself, and did what it is for; a console consumer is stopped."""
        if self.is_without_bridge:

            def converted() -> bool:
                view = self.deployment.view()
                return (view.kind, view.state) == ("consumer", "Stable")

            wait_until(converted, "the group is of type consumer and Stable")
            self._stop_guests()
        for guest in self.guests:
            assert guest.end() == 0, guest.tail()
        self.guests.clear()

    def _stop_guests(self) -> None:
        for guest in self.guests:
            guest.stop()
        self.guests.clear()

    def _run(self, commands: Iterable[str]) -> None:
        for command in commands:
            if runs_on(command):
                # It asks on a terminal, and there is none here.
                self.guests.append(self.shell.start(f"{command} --yes" if BRIDGE in command else command))
                continue
            done = self.shell.run(command)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"

    def _look(self, command: str, *, waits: bool = True) -> GatePoll:
        # Most questions are asked without waiting: they are spared the start of a process.
        done = self.shell.run(command) if waits else self.shell.ask(command)
        poll = GatePoll(command=command, status=done.returncode, said=done.stdout + done.stderr)
        self.polls.append(poll)
        return poll

    def _complaints(self) -> str:
        applications = self.deployment.applications.values()
        return "\n".join(f"{one.name}: {error}" for one in applications for error in one.errors())


def runs_on(command: str) -> bool:
    return CONSOLE in command or (BRIDGE in command and "--execute" in command)


def stops(step: dict[str, Any]) -> bool:
    return any(action.startswith(("Stop ", "Restart ")) for action in step["actions"])


def starts(step: dict[str, Any]) -> bool:
    actions = step["actions"]
    return any(one.startswith(("Start ", "Restart ")) or "then start " in one for one in actions)


def of_round(command: str, number: int) -> str:
    """The command as the shell reads it where K is the round's number."""
    return command.replace('"$K"', str(number))
