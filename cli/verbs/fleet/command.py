"""`kohort fleet history`, `follow`, `audit`, `simulate` and `rehearse`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, option
from cli.render.output_format import StreamOutput
from cli.verbs.fleet.options import AuditOptions, LiveOptions, LogOptions, SparkOptions, Vary
from cli.verbs.plan.options import ClientOptions
from cli.verbs.simulate.options import BrokenRule, Limit, Protocol, ProtocolOption

Report = Annotated[
    list[Path] | None,
    option(
        "--report", "Write a page with plots (FILE.html), or its numbers (FILE.json); repeatable.", "FILE"
    ),
]


def fleet_history(
    *,
    groups: Annotated[
        list[str] | None, option("--group", "Only this group, rebalance by rebalance; repeatable.", "GROUP")
    ] = None,
    as_of: Annotated[
        str | None,
        option(
            "--as-of",
            "With --group: what it was at 2026-03-01T12:00:00Z, milliseconds since 1970, or -2d ago.",
            "TIME",
        ),
    ] = None,
    since: Annotated[
        str | None, option("--since", "Only rebalances that began at this time or after it.", "TIME")
    ] = None,
    until: Annotated[
        str | None, option("--until", "Only rebalances that began by this time.", "TIME")
    ] = None,
    out: Annotated[
        str | None,
        option(
            "--out",
            "Keep the tables there, as Parquet; a later run adds what is new. A local path, s3a://… or hdfs://…",
            "DIR",
        ),
    ] = None,
    report: Report = None,
    svg: Annotated[
        Path | None, option("--svg", "Draw the rebalances of the one --group along the time.", "FILE")
    ] = None,
    logs: LogOptions,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Work out the history of all groups from a log, with Spark: rebalances and their causes, owners, commits.

    Without --group, a row per group, those that rebalanced longest first. What cannot be read is put into quarantine
    and told; it does not end the run.
    """
    from cli.output import emit
    from cli.render.output_format import FOR_PROGRAMS
    from cli.verbs.fleet.history import HistoryRequest, carry_out, fleet_history_document, moment_of
    from cli.verbs.fleet.sources import source_of

    request = HistoryRequest(
        source=source_of(logs),
        out=out,
        groups=tuple(dict.fromkeys(groups or ())),
        as_of_ms=moment_of("--as-of", as_of),
        since_ms=moment_of("--since", since),
        until_ms=moment_of("--until", until),
        reports=tuple(report or ()),
        svg=svg,
        for_programs=output.output in FOR_PROGRAMS,
    )
    emit(fleet_history_document(carry_out(request, spark)), output)


def fleet_follow(
    *,
    out: Annotated[
        str,
        option(
            "--out",
            "The tables, as Parquet; those that are there are added to. A local path, s3a://… or hdfs://…",
            "DIR",
        ),
    ],
    checkpoint: Annotated[
        str | None,
        option(
            "--checkpoint",
            "Where the stream keeps how far it is; beside --out (DIR-checkpoint) unless told.",
            "DIR",
        ),
    ] = None,
    every: Annotated[
        float, option("--every", "From one look to the next.", "SECONDS", min=1, max=86_400)
    ] = 60.0,
    seconds: Annotated[
        float | None, option("--for", "End after so many seconds.", "SECONDS", min=0, max=31_536_000)
    ] = None,
    once: Annotated[
        bool, option("--once", "Read what there is now, then end: for a timer of your own.")
    ] = False,
    output: Annotated[
        StreamOutput, option("--output", "A line of text for what comes, or a JSON document a line.")
    ] = StreamOutput.TABLE,
    live: LiveOptions,
    spark: SparkOptions,
) -> None:
    """Keep the tables of a history up to date from a live cluster, with Spark's Structured Streaming.

    Ends with Ctrl-C. Started again, even after a crash, it goes on from its checkpoint; nothing is lost or doubled.
    `kohort fleet history --out` shows what the tables say, while nothing follows into them.
    """
    from cli.errors import UsageError
    from cli.output import write_line
    from cli.verbs.fleet.follow import FollowRequest, carry_out, followed_document, followed_line
    from cli.verbs.fleet.sources import live_of

    if once and seconds is not None:
        raise UsageError("--once ends when everything is read; --for makes no sense with it")
    request = FollowRequest(
        source=live_of(live), out=out, checkpoint=checkpoint, every_s=None if once else every, seconds=seconds
    )
    as_json = output is StreamOutput.JSON
    carry_out(
        request, spark, lambda seen: write_line(followed_document(seen) if as_json else followed_line(seen))
    )


class AuditTo(Enum):
    """`--to`."""

    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


def fleet_audit(
    *,
    to: Annotated[
        list[AuditTo] | None, option("--to", "Where the groups are to go; both unless told; repeatable.")
    ] = None,
    groups: Annotated[
        list[str] | None, option("--group", "Show what was found of this group; repeatable.", "GROUP")
    ] = None,
    clients: ClientOptions,
    out: Annotated[
        str | None,
        option("--out", "Write the tables there, as Parquet, in place of those of an earlier audit.", "DIR"),
    ] = None,
    report: Report = None,
    sources: AuditOptions,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Judge every group of a fleet, with Spark: which are ready to migrate, which come first, what blocks the others.

    The findings are those of `kohort plan`, the dry run and the regexes those of `dry-run` and `validate-regex`, with
    Java's own regular expressions beside. What cannot be read is put into quarantine and told.
    """
    from cli.output import emit
    from cli.render.output_format import FOR_PROGRAMS
    from cli.verbs.fleet.audit import AuditRequest, carry_out, fleet_audit_document, sources_of
    from cli.verbs.plan.action import what_clients_are
    from migration.model import Destination

    snapshots, logs = sources_of(sources)
    request = AuditRequest(
        snapshots=snapshots,
        logs=logs,
        judged={
            "destinations": tuple(Destination(each.value) for each in dict.fromkeys(to or AuditTo)),
            **what_clients_are(clients),
        },
        groups=tuple(dict.fromkeys(groups or ())),
        out=out,
        reports=tuple(report or ()),
        for_programs=output.output in FOR_PROGRAMS,
    )
    emit(fleet_audit_document(carry_out(request, spark)), output)


def fleet_simulate(
    *,
    scenarios: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO…",
            help="Scenarios that ship with Kohort, by name; random draws one from each seed; or files.",
        ),
    ],
    seeds: Annotated[
        int, option("--seeds", "Play so many seeds of each.", "N", min=1, max=100_000_000)
    ] = 100,
    seed: Annotated[
        int, option("--seed", "The first seed; one that failed fails again.", "S", min=0, max=2**53)
    ] = 1,
    protocol: Protocol = ProtocolOption.AS_WRITTEN,
    vary: Vary = None,
    break_: BrokenRule = None,
    limit: Limit = None,
    out: Annotated[
        str | None,
        option("--out", "Write the tables there, as Parquet, in place of earlier ones.", "DIR"),
    ] = None,
    report: Report = None,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Simulate scenarios from many seeds, with Spark: verdicts, costs by protocol and setting, and what failed.

    Each run is that of `kohort simulate`; what fails is listed with the command that plays it again on one machine.
    Exits with 0: all invariants hold in every run; 1: one does not, a run was stopped, or its code threw.
    """
    from cli.output import emit
    from cli.verbs.fleet.simulate import carry_out, request_of, simulation_document, status_of
    from cli.verbs.simulate.action import variants_of

    request = request_of(
        scenarios,
        variants_of(protocol.value),
        vary or (),
        first=seed,
        count=seeds,
        limit=limit,
        break_rule=break_,
        out=out,
        reports=tuple(report or ()),
    )
    run = carry_out(request, spark)
    emit(simulation_document(request, run), output, status_of(run))


def fleet_rehearse(
    *,
    snapshots: Annotated[
        list[str],
        option(
            "--snapshots",
            "Snapshots of any clusters: a directory with all below it, or a file; repeatable.",
            "DIR",
        ),
    ],
    to: Annotated[AuditTo, option("--to", "Where the groups are to go.")],
    seeds: Annotated[
        int, option("--seeds", "Rehearse each from so many seeds.", "N", min=1, max=1_000_000)
    ] = 1,
    seed: Annotated[
        int, option("--seed", "The first seed; one that failed fails again.", "S", min=0, max=2**53)
    ] = 1,
    vary: Vary = None,
    groups: Annotated[list[str] | None, option("--group", "Only this group; repeatable.", "GROUP")] = None,
    clients: ClientOptions,
    out: Annotated[
        str | None,
        option("--out", "Write the tables there, as Parquet, in place of earlier ones.", "DIR"),
    ] = None,
    report: Report = None,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Plan and rehearse every group of a fleet's snapshots, with Spark: which are safe, and in which order to go.

    Each is what `kohort plan` and `kohort rehearse` give. Safe groups come with the fewest warnings first, of these the
    cheapest first. Exits with 0: no plan is unsafe; 1: one is (its seed is listed), or Kohort's own code threw.
    """
    from cli.output import emit
    from cli.verbs.fleet.rehearse import (
        FleetRehearsalRequest,
        carry_out,
        fleet_rehearsal_document,
        status_of,
        variations_of,
    )
    from cli.verbs.plan.action import what_clients_are
    from migration.model import Destination

    request = FleetRehearsalRequest(
        snapshots=tuple(dict.fromkeys(snapshots)),
        planned={"destinations": (Destination(to.value),), **what_clients_are(clients)},
        variations=variations_of(vary or ()),
        groups=tuple(dict.fromkeys(groups or ())),
        seeds=range(seed, seed + seeds),
        out=out,
        reports=tuple(report or ()),
    )
    run = carry_out(request, spark)
    emit(fleet_rehearsal_document(request, run), output, status_of(run))
