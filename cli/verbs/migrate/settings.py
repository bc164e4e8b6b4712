"""What is the same for all plans of a command."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cli.options import SourceOptions
from cli.verbs.migrate.hook import command_of
from cli.verbs.migrate.next_commands import NextCommands
from cli.verbs.migrate.options import OnStop, RunOptions
from migration.execution.stops import ExecutionLimits

LOOK_MS = 10_000  # How long a look at a group waits at most


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
