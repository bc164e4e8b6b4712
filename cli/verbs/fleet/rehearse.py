"""Carry out `kohort fleet rehearse`: rehearsals of every group of snapshots, as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import ExitStatus, UsageError
from cli.render.document import Block, Code, Document, Heading, Text, table_of
from cli.times import BOUNCE_BOUNDS_S, read_within
from cli.verbs.fleet.options import SparkOptions, combinations_of
from cli.verbs.fleet.rehearse_page import VERDICTS, merged, rehearsal_page
from cli.verbs.fleet.report_page import check_writable, write_report
from cli.verbs.fleet.sources import check_snapshots
from cli.verbs.fleet.spark import FleetProgress, fleet_session, settings_of
from coordinator.errors import InvalidSetting
from groups.counts import counted
from groups.model import Cause, Problem
from migration.rehearsal.simulated_members import OF_PLANS, overrides_from

if TYPE_CHECKING:
    from pipeline.rehearsal import RehearsalRun


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRehearsalRequest:
    """A request for rehearsals."""

    snapshots: tuple[str, ...]
    planned: Mapping[str, Any]
    """Fields of `pipeline.audit.AuditSettings`, which exists only if Spark is installed."""
    variations: tuple[Mapping[str, Any], ...] = ({},)
    """Fields of `pipeline.rehearsal.Variation`."""
    groups: tuple[str, ...] = ()
    seeds: range
    out: str | None
    reports: tuple[Path, ...] = ()


def variations_of(vary: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """The values of `--vary`: fields of `Variation` for each combination. UsageError for invalid ones."""
    return tuple(map(_variation, combinations_of(vary)))


def _variation(values: Mapping[str, str]) -> Mapping[str, Any]:
    fields: dict[str, Any] = {
        "settings": {name: value for name, value in values.items() if name not in OF_PLANS}
    }
    if (text := values.get("concurrency")) is not None:
        if not text.isdecimal() or int(text) < 1:
            raise UsageError(f"--vary concurrency: members that are restarted together, not {text!r}")
        fields["concurrency"] = int(text)
    if (text := values.get("bounce-seconds")) is not None:
        try:
            fields["bounce_s"] = read_within(text, "s", *BOUNCE_BOUNDS_S)
        except ValueError as error:
            raise UsageError(f"--vary bounce-seconds: {error}") from None
    try:
        overrides_from(fields["settings"])
    except InvalidSetting as error:
        raise UsageError(
            f"--vary: {error}\nSettings of plans that can be varied: {', '.join(OF_PLANS)}"
        ) from None
    return fields


def carry_out(request: FleetRehearsalRequest, options: SparkOptions) -> RehearsalRun:
    """Plan and rehearse every group.

    :raises MissingSpark: the extra or Java is missing :raises CommandError: an error of Spark or a file system
    """
    check_snapshots(request.snapshots)
    for report in request.reports:
        check_writable("--report", report)
    settings = settings_of(options, input_bytes=0)
    with FleetProgress(quiet=options.verbose) as progress, fleet_session(settings) as spark:
        from pipeline.audit import AuditSettings, Snapshots
        from pipeline.rehearsal import RehearsalSettings, Variation, rehearse_fleet

        terms = RehearsalSettings(
            planned=AuditSettings(**request.planned),
            seeds=request.seeds,
            variations=tuple(Variation(**each) for each in request.variations),
            groups=frozenset(request.groups),
        )
        snapshots = Snapshots(paths=request.snapshots)
        run = rehearse_fleet(spark, snapshots, terms, out=request.out, progress=progress.rehearsals)
    for file in request.reports:
        write_report(file, partial(rehearsal_page, run), partial(_data, run))
    return run


def fleet_rehearsal_document(request: FleetRehearsalRequest, run: RehearsalRun) -> Document:
    """Safe groups in the order of migration, and why the others are not safe."""
    remarks = []
    if run.quarantined:
        remarks.append(
            f"{counted(len(run.quarantined), 'file or group')} could not be read; --output json shows which"
        )
    there = {row["group"] for row in run.rehearsals}
    return Document(
        command="fleet rehearse",
        data=_data(run),
        blocks=list(_blocks(run)),
        errors=tuple(
            Problem(subject=group, message="is in none of the snapshots", cause=Cause.ABSENT)
            for group in request.groups
            if group not in there
        ),
        remarks=tuple(remarks),
    )


def _data(run: RehearsalRun) -> dict[str, Any]:
    counts = Counter(row["verdict"] for row in run.rehearsals)
    return {
        "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
        "groups": [dict(row) for row in run.rehearsals],
        "failures": [dict(row) for row in run.failures],
        "quarantined": [dict(row) for row in run.quarantined],
        "tables": dict(run.paths),
    }


def _blocks(run: RehearsalRun) -> Iterator[Block]:
    safe = [row for row in run.rehearsals if row["verdict"] == "safe"]
    others = [row for row in run.rehearsals if row["verdict"] not in ("safe", "arrived")]
    settings = len({row["settings"] for row in run.rehearsals})
    varied = ["SETTINGS"] if settings > 1 else []
    if safe:
        yield Heading("In this order")
        yield table_of(
            safe,
            *("#RANK", "GROUP", *varied, "SOURCE", "##WARNINGS", "##MEMBERS", "#ROUNDS"),
            ("#UNOWNED-TIME", "without_owner_s"),
            *("#READ-TWICE", "#DURATION"),
        )
    if others:
        yield Heading("Not safe")
        yield table_of(
            merged(others, settings),
            *("GROUP", *varied, "SOURCE", "VERDICT"),
            ("#SEED", "unsafe_seed"),
            ("WHY", lambda row: "; ".join(row["why"])),
        )
    for row in run.failures[:1]:
        yield Heading(f"Replay of {row['group']} with seed {row['seed']}")
        yield Code(tuple(row["commands"]))
        if len(run.failures) > 1:
            yield Text("The commands and stories of the other groups are in --report and --output json.")


def status_of(run: RehearsalRun) -> ExitStatus:
    """FALSE if a plan is not safe or Kohort's own code failed."""
    unsafe = any(row["verdict"] in ("unsafe", "threw") for row in run.rehearsals)
    return ExitStatus.FALSE if unsafe else ExitStatus.DONE
