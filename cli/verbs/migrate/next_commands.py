"""The commands that an operator types when a run has stopped."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from migration.execution.events import Place
from migration.model import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCommands:
    again: str  # The command that is running
    back: str  # The same for a single plan, which is to follow, with `--back`
    connection: str  # The options of the cluster

    def after_stop(
        self, file: Path, plan: Plan, place: Place, *, is_rollback: bool, has_begun: bool
    ) -> Iterator[str]:
        """What shows where the group stands; then, to continue, and to roll this group back alone."""
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
