"""Commands of a plan, to be pasted into a shell: a group id may contain any character."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PLAN_FILE = "PLAN.yaml"
"""The name of a runbook's plan file."""

VARIABLE = '"$BOOTSTRAP"'
"""A runbook's placeholder for an unknown cluster address."""
CONFIG_VARIABLE = '"$COMMAND_CONFIG"'
"""A file of client properties that the operator of the plan has to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """How the commands of a plan reach the cluster."""

    bootstrap_server: str | None = None
    """None where the plan was made without a cluster: the runbook then names a variable."""
    command_config: str | None = None
    """A file of client properties."""
    context: str | None = None
    """The name by which Kohort knows the cluster; Kafka's own tools do not."""
    has_own_properties: bool = False
    """Whether the context itself contains the client properties: Kafka's tools need them in a file."""

    @property
    def bootstrap(self) -> str:
        """The servers, quoted."""
        return shlex.quote(self.bootstrap_server) if self.bootstrap_server else VARIABLE

    @property
    def kohort(self) -> str:
        """Options of `kohort`."""
        if self.context is not None:
            return f"--context {shlex.quote(self.context)}"
        return f"-b {self.bootstrap}{self._config}"

    @property
    def kafka(self) -> str:
        """Options of Kafka's own tools."""
        return f"--bootstrap-server {self.bootstrap}{self._config}"

    @property
    def _config(self) -> str:
        if self.has_own_properties:
            return f" --command-config {CONFIG_VARIABLE}"
        return f" --command-config {shlex.quote(self.command_config)}" if self.command_config else ""


def describe_migration(group: str, connection: ClusterOptions) -> str:
    """`kohort describe` of where each member is on its way."""
    return _with_group("kohort describe", group, f"--migration {connection.kohort}")


def bridge(group: str, connection: ClusterOptions, *, runs: bool = False) -> str:
    """`kohort bridge`: what it would take, or, where it `runs`, the bridge itself, until the group is converted."""
    options = f"{connection.kohort} --execute --watch" if runs else connection.kohort
    return _with_group("kohort bridge", group, options)


def gate(step: int, connection: ClusterOptions) -> str:
    """Whether the step is complete, as an exit status; waits for it."""
    return f"kohort gate {PLAN_FILE} --step {step} --wait {connection.kohort}"


def gate_round(step: int, connection: ClusterOptions) -> str:
    """Whether round K of the step is complete."""
    return f'kohort gate {PLAN_FILE} --step {step} --round "$K" --wait {connection.kohort}'


def plan_into_file(group: str, options: Sequence[str]) -> str:
    """Make a plan, and keep it as data."""
    return f"{_with_group('kohort plan', group, shlex.join([*options, '--output', 'yaml']))} > {PLAN_FILE}"


def rehearse_seed(seed: int, options: Sequence[str], settings: Mapping[str, str]) -> str:
    """Rehearse the plan that is kept from one seed, and print what happened."""
    words = ["kohort", "rehearse", PLAN_FILE, *options]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    return shlex.join([*words, "--seed", str(seed), "--story"])


def of_round(command: str, number: int) -> str:
    """The command of a step's rounds, for one of them."""
    return command.replace('"$K"', str(number))


def _with_group(command: str, group: str, options: str) -> str:
    if group.startswith("-"):
        return f"{command} {options} -- {shlex.quote(group)}"
    return f"{command} {shlex.quote(group)} {options}"
