"""What is the same for all plans of a command, with the commands that an operator types when a run has stopped."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cli.options import SourceOptions
from cli.verbs.migrate.hook import command_of
from cli.verbs.migrate.options import OnStop, RunOptions
from migration.execution.events import Place
from migration.execution.stops import ExecutionLimits
from migration.model import Plan

LOOK_MS = 10_000  # How long a look at a group waits at most


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCommands:
    again: str  # The command that is running
    back: str  # The same for a single plan, which is to follow, with `--back`
    connection: str  # The options of the cluster

    def after_stop(
        self, file: Path, plan: Plan, place: Place, *, is_rollback: bool, has_begun: bool
    ) -> Iterator[str]:
        """The commands that show the state of the group, that continue, and that roll this group back alone."""
        group = shlex.join(["--", plan.group] if plan.group.startswith("-") else [plan.group])
        step, round_ = place
        if not is_rollback:
            of_round = f" --round {round_}" if round_ and round_ < len(plan.steps[step - 1].rounds) else ""
            yield f"kohort gate {shlex.quote(str(file))} --step {step}{of_round} {self.connection}"
        yield f"kohort diagnose {self.connection} {group}"
        if not is_rollback:
            yield self.again
        if has_begun:
            yield f"{self.back} {shlex.quote(str(file))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    command: Sequence[str]  # The words of `--restart`
    source: SourceOptions
    limits: ExecutionLimits = field(default_factory=ExecutionLimits)
    restart_s: float = 300.0  # After which a hook is ended
    rolls_back: bool = False  # Whether a stop is followed by the rollback
    goes_back: bool = False  # Whether what was begun is undone, instead of the plan
    is_unrehearsed: bool = False  # Whether plans that cannot be rehearsed are carried out
    following: NextCommands
    noted: NextCommands
    """Those that are written down: without the operator's command, which may contain a secret."""

    @property
    def looks(self) -> SourceOptions:
        """The source for one look at a group: while a broker is silent, hooks end in time, and Ctrl-C is heard."""
        return replace(self.source, timeout_ms=min(self.source.timeout_ms, LOOK_MS))


def settings_of(
    options: RunOptions, source: SourceOptions, following: NextCommands, noted: NextCommands
) -> RunSettings:
    """Raises UsageError: the restart command cannot be run."""
    limits = ExecutionLimits(
        gate_s=options.gate_timeout,
        return_s=options.return_timeout,
        watch_s=options.watch,
        tolerance=options.tolerance,
        accept_drift=options.accept_drift,
    )
    return RunSettings(
        command=command_of(options.restart),
        source=source,
        limits=limits,
        restart_s=options.restart_timeout,
        rolls_back=options.on_stop is OnStop.ROLLBACK,
        goes_back=options.back,
        is_unrehearsed=options.unrehearsed,
        following=following,
        noted=noted,
    )
