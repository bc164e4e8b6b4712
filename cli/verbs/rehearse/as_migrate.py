"""`kohort rehearse --as-migrate`: the state machine of `kohort migrate`, played with hooks that fail, members that die,
and a Kohort that is killed."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assignors.errors import AssignorFailedError, NoCommonProtocolError, UnknownAssignorError
from cli.errors import ExitStatus, UsageError
from cli.options import OutputOptions
from cli.output import emit
from cli.progress import Progress
from cli.render.document import Block, Code, Document, Heading, Text, table_of
from cli.render.lines import Role
from cli.render.output_format import OutputFormat
from cli.verbs.rehearse import action
from cli.verbs.rehearse.action import RehearsalRequest
from cli.verbs.rehearse.picture import write_picture
from cli.verbs.rehearse.view import rehearsal_document
from coordinator.errors import InvalidSetting
from groups.counts import counted
from groups.times import seconds_text
from migration.execution.machine import Phase
from migration.execution.preflight import CannotCarryOutError
from migration.rehearsal.as_migrate import Migrated, migrate_seed
from migration.rehearsal.migrated import MigratedSum, MigrationEnds
from migration.rehearsal.simulated_members import CannotRehearseError

_SHOWN = 3  # Groups that a rule left, in a table
_ENDS = (Phase.FINISHED, Phase.STOPPED, Phase.ROLLED_BACK)


@dataclass(slots=True, kw_only=True)
class MigrationRehearsal:
    request: RehearsalRequest
    sum: MigratedSum = field(default_factory=MigratedSum)
    detailed: Migrated | None = None
    """The first run that broke what must hold, else the first run if a story is requested; with its story."""


def emit_rehearsal(
    request: RehearsalRequest,
    output: OutputOptions,
    others: Mapping[str, object],
    *,
    story: bool,
    svg: Path | None,
    as_migrate: bool,
) -> None:
    """Rehearse as asked for. Raises UsageError: one of the `others` was given, which have no meaning `as_migrate`."""
    if not as_migrate:
        shows = story or svg is not None or output.output is OutputFormat.HTML
        rehearsal = action.carry_out(request, shows=shows)
        write_picture(svg, rehearsal)
        emit(rehearsal_document(rehearsal, story=story), output, action.status_of(rehearsal))
        return
    if name := next((name for name, value in others.items() if value), None):
        raise UsageError(f"{name} is invalid with --as-migrate: each seed draws what goes wrong, and when")
    migration = carry_out(request, story=story)
    status = ExitStatus.FALSE if migration.sum.broken else ExitStatus.DONE
    emit(migration_document(migration), output, status)


def carry_out(request: RehearsalRequest, *, story: bool) -> MigrationRehearsal:
    rehearsal = MigrationRehearsal(request=request)
    with Progress("rehearsing", total=len(request.seeds), before_data=True) as progress:
        for seed in request.seeds:
            rehearsal.sum.add(_play(request, seed))
            progress.advance(1)
    broken = rehearsal.sum.broken
    if broken or story:
        rehearsal.detailed = _play(request, broken[0].seed if broken else request.seeds[0], with_story=True)
    return rehearsal


def _play(request: RehearsalRequest, seed: int, *, with_story: bool = False) -> Migrated:
    try:
        return migrate_seed(request.plan, request.found, request.simulated, seed, with_story=with_story)
    except CannotCarryOutError as error:
        why = f"kohort migrate cannot carry out this plan: {error}"
        raise UsageError(f"{request.plan.group}: {why}") from None
    except (
        CannotRehearseError, InvalidSetting, UnknownAssignorError, NoCommonProtocolError, AssignorFailedError,
    ) as error:  # fmt: skip
        raise UsageError(f"{request.plan.group} cannot be rehearsed: {error}") from None


def migration_document(rehearsal: MigrationRehearsal) -> Document:
    request, total = rehearsal.request, rehearsal.sum
    longest = total.longest_round
    return Document(
        command="rehearse",
        data={
            "group": request.plan.group,
            "seed": request.seeds[0],
            "seeds": len(request.seeds),
            "faults": None,
            "settings": dict(request.settings),
            "safe": not total.broken,
            **{name: [] for name in ("rounds", "back", "computed", "mistakes")},
            "metrics": {},
            "unsafe": [
                {"seed": run.seed, "reason": reason, "replay": _replay(request, run.seed)}
                for run in total.broken
                for reason in run.broken
            ],
            "story": list(rehearsal.detailed.story if rehearsal.detailed else ()),
            "as_migrate": {
                **{phase.value: total.count(phase) for phase in _ENDS},
                "hooks": total.hooks,
                "longest_round_s": longest.longest_round_s if longest else None,
                "longest_round_seed": longest.seed if longest else None,
                "ends": [
                    {
                        "end": one.end.value,
                        "rule": one.rule or None,
                        "runs": one.runs,
                        "seed": one.seed,
                        "left": [{"group": text, "runs": runs} for text, runs in one.left.most_common()],
                        "rollback_rules": dict(one.back_rules.most_common()),
                    }
                    for one in total.ordered
                ],
            },
        },
        blocks=list(_blocks(rehearsal)),
        remarks=(
            *request.simulated.remarks,
            "each seed draws its troubles: commands that fail, hang, do nothing, restart another member or start one "
            "as it was, members that die, and a Kohort that is killed; half of the runs roll back when they stop",
        ),
    )


def _replay(request: RehearsalRequest, seed: int) -> str:
    words = ["kohort", "rehearse", "PLAN.yaml", "--as-migrate", "--seed", str(seed)]
    for file in request.config_files:
        words += ["--client-config", file]
    for name, value in request.settings.items():
        words += ["--set", f"{name}={value}"]
    return shlex.join([*words, "--story"])


def _verdict(rehearsal: MigrationRehearsal) -> str:
    total = rehearsal.sum
    if not total.broken:
        texts = ", ".join(f"{total.count(phase):,} {phase.value.replace('-', ' ')}" for phase in _ENDS)
        return f"All invariants hold in {counted(total.runs, 'run')} with {counted(total.hooks, 'command')}: {texts}."
    run = total.broken[0]
    more = f" {len(total.broken) - 1:,} more seeds are in --output json." if len(total.broken) > 1 else ""
    replay = _replay(rehearsal.request, run.seed)
    broken = f"Seed {run.seed}: {run.broken[0]}. `{replay}` prints its events."
    return f"An invariant does not hold. {broken}{more}"


def _left(ends: MigrationEnds) -> str:
    texts = "; ".join(f"{text} ({runs:,})" for text, runs in ends.left.most_common(_SHOWN))
    return texts + (f" and {len(ends.left) - _SHOWN} more" if len(ends.left) > _SHOWN else "")


def _blocks(rehearsal: MigrationRehearsal) -> Iterator[Block]:
    request, total = rehearsal.request, rehearsal.sum
    plan = request.plan
    path = plan.path or plan.destination.value
    yield Heading(f"{plan.group}: {path}, as kohort migrate carries it out", level=1)
    yield Text(_verdict(rehearsal), Role.BAD if total.broken else Role.GOOD)
    yield table_of(
        tuple(total.ordered),
        ("END", lambda one: one.end.value.replace("-", " ")),
        ("RULE", lambda one: one.rule or None),
        ("#RUNS", "runs"),
        ("#SEED", "seed"),
        ("GROUP-LEFT", _left),
    )
    if stopped := sum((one.back_rules for one in total.ordered), Counter[str]()):
        text = ", ".join(f"{rule} {runs:,}" for rule, runs in stopped.most_common())
        yield Text(f"Rollbacks that were stopped: {text}.")
    if total.longest_round is not None:
        run = total.longest_round
        yield Text(f"Longest round: {seconds_text(run.longest_round_s)} (seed {run.seed}).")
    if rehearsal.detailed is not None:
        yield Heading(f"Events of seed {rehearsal.detailed.seed}")
        yield Code(rehearsal.detailed.story or ("nothing happened",), language="text")
