"""Carry out `kohort fleet rehearse`: snapshots to rehearsals of every group, as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cli.counts import counted
from cli.errors import ExitStatus
from cli.render.document import Block, Document, Heading, table_of
from cli.verbs.fleet.options import SparkOptions
from cli.verbs.fleet.sources import check_snapshots
from cli.verbs.fleet.spark import FleetProgress, fleet_session, settings_of

if TYPE_CHECKING:
    from pipeline.rehearsal import RehearsalRun

VERDICTS = ("safe", "unsafe", "blocked", "unplayable", "arrived", "threw")


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRehearsalRequest:
    """What is asked."""

    snapshots: tuple[str, ...]
    planned: Mapping[str, Any]
    """Fields of `pipeline.audit.AuditSettings`, which exists only where Spark does."""
    seeds: range
    out: str | None


def carry_out(request: FleetRehearsalRequest, options: SparkOptions) -> RehearsalRun:
    """Plan and rehearse every group.

    :raises MissingSpark: the extra or Java is missing :raises CommandError: what Spark or a file system says
    """
    check_snapshots(request.snapshots)
    settings = settings_of(options, input_bytes=0)
    with FleetProgress(quiet=options.verbose) as progress, fleet_session(settings) as spark:
        from pipeline.audit import AuditSettings, Snapshots
        from pipeline.rehearsal import Terms, rehearse_fleet

        terms = Terms(planned=AuditSettings(**request.planned), seeds=request.seeds)
        snapshots = Snapshots(paths=request.snapshots)
        return rehearse_fleet(spark, snapshots, terms, out=request.out, progress=progress.rehearsals)


def fleet_rehearsal_document(run: RehearsalRun) -> Document:
    """Safe groups in the order in which to go, and why the others are not safe."""
    counts = Counter(row["verdict"] for row in run.rehearsals)
    remarks = []
    if run.quarantined:
        remarks.append(
            f"{counted(len(run.quarantined), 'file or group')} could not be read; --output json says which"
        )
    return Document(
        command="fleet rehearse",
        data={
            "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
            "groups": [dict(row) for row in run.rehearsals],
            "quarantined": [dict(row) for row in run.quarantined],
            "tables": dict(run.paths),
        },
        blocks=list(_blocks(run)),
        remarks=tuple(remarks),
    )


def _blocks(run: RehearsalRun) -> Iterator[Block]:
    safe = [row for row in run.rehearsals if row["verdict"] == "safe"]
    others = [row for row in run.rehearsals if row["verdict"] not in ("safe", "arrived")]
    if safe:
        yield Heading("In this order")
        names = ("rank", "group", "source", "warnings", "members", "rounds", "without_owner_s", "read_twice")
        yield table_of(
            safe,
            *(
                (
                    f"{'' if name in ('group', 'source') else '#'}{name.upper().replace('_', '-')}",
                    itemgetter(name),
                )
                for name in (*names, "duration_s")
            ),
        )
    if others:
        yield Heading("Not safe")
        yield table_of(
            others,
            ("GROUP", itemgetter("group")),
            ("SOURCE", itemgetter("source")),
            ("VERDICT", itemgetter("verdict")),
            ("#SEED", itemgetter("unsafe_seed")),
            ("WHY", lambda row: "; ".join(row["why"])),
        )


def status_of(run: RehearsalRun) -> ExitStatus:
    """FALSE where a plan is not safe, or Kohort's own code threw."""
    unsafe = any(row["verdict"] in ("unsafe", "threw") for row in run.rehearsals)
    return ExitStatus.FALSE if unsafe else ExitStatus.DONE
