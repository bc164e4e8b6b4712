"""Commands of a plan, quoted for a shell: a group id may contain any character."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PLAN_FILE = "PLAN.yaml"

VARIABLE = '"$BOOTSTRAP"'  # A runbook's placeholder for an unknown cluster address
CONFIG_VARIABLE = '"$COMMAND_CONFIG"'
"""A runbook's placeholder for a file of client properties that the operator has to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    bootstrap_server: str | None = None
    """None if the plan was made without a cluster: the runbook then contains a variable."""
    command_config: str | None = None
    context: str | None = None
    """The context of the cluster in Kohort's configuration, which Kafka's own tools do not know."""
    has_own_properties: bool = False
    """Whether the context itself contains client properties, which Kafka's tools need in a file."""

    @property
    def bootstrap(self) -> str:
        return shlex.quote(self.bootstrap_server) if self.bootstrap_server else VARIABLE

    @property
    def kohort(self) -> str:
        if self.context is not None:
            return f"--context {shlex.quote(self.context)}"
        return f"-b {self.bootstrap}{self._config}"

    @property
    def kafka(self) -> str:
        return f"--bootstrap-server {self.bootstrap}{self._config}"

    @property
    def _config(self) -> str:
        if self.has_own_properties:
            return f" --command-config {CONFIG_VARIABLE}"
        return f" --command-config {shlex.quote(self.command_config)}" if self.command_config else ""


def describe_migration(group: str, connection: ClusterOptions) -> str:
    return _with_group("kohort describe", group, f"--migration {connection.kohort}")


def bridge(group: str, connection: ClusterOptions, *, runs: bool = False) -> str:
    """`kohort bridge`: shows the required restarts, or, if it `runs`, is the bridge until the group is converted."""
    options = f"{connection.kohort} --execute --watch" if runs else connection.kohort
    return _with_group("kohort bridge", group, options)


def gate(step: int, connection: ClusterOptions) -> str:
    return f"kohort gate {PLAN_FILE} --step {step} --wait {connection.kohort}"


def gate_round(step: int, connection: ClusterOptions) -> str:
    return f'kohort gate {PLAN_FILE} --step {step} --round "$K" --wait {connection.kohort}'


def plan_into_file(group: str, options: Sequence[str]) -> str:
    return f"{_with_group('kohort plan', group, shlex.join([*options, '--output', 'yaml']))} > {PLAN_FILE}"


def rehearse_seed(seed: int, options: Sequence[str], settings: Mapping[str, str]) -> str:
    """`kohort rehearse` of the plan file from one seed, with its events."""
    words = ["kohort", "rehearse", PLAN_FILE, *options]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    return shlex.join([*words, "--seed", str(seed), "--story"])


def of_round(command: str, number: int) -> str:
    """A step's command for rounds, with the number of one round."""
    return command.replace('"$K"', str(number))


def _with_group(command: str, group: str, options: str) -> str:
    if group.startswith("-"):
        return f"{command} {options} -- {shlex.quote(group)}"
    return f"{command} {shlex.quote(group)} {options}"
