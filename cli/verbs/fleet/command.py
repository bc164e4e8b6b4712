"""`kohort fleet history`, `follow`, `audit`, `simulate`, `rehearse` and `what-if`."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, duration_option, option
from cli.render.output_format import StreamOutput
from cli.times import moment
from cli.verbs.fleet.options import AuditOptions, LiveOptions, LogOptions, SparkOptions, Vary
from cli.verbs.plan.options import ClientOptions
from cli.verbs.simulate.command import BrokenRule, Limit, Protocol, ProtocolOption
from cli.verbs.what_if.options import AlternativeOptions

Report = Annotated[
    list[Path] | None,
    option(
        "--report",
        "Write a page with plots (FILE.html), its text (FILE.md) or numbers (FILE.json); repeatable.",
        "FILE",
    ),
]

Out = Annotated[
    str | None, option("--out", "Write the tables there as Parquet, replacing earlier ones.", "DIR")
]
FirstSeed = Annotated[
    int, option("--seed", "First seed; the same seed always gives the same result.", "S", min=0, max=2**53)
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
            "With --group: its state at this time: 2026-03-01T12:00:00Z, milliseconds since 1970, or 2d ago as 2d.",
            "TIME",
        ),
    ] = None,
    since: Annotated[
        str | None,
        option("--since", "Only rebalances that started at this time or later: see --as-of.", "TIME"),
    ] = None,
    until: Annotated[
        str | None, option("--until", "Only rebalances that started by this time.", "TIME")
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
        Path | None, option("--svg", "Draw the rebalances of the one --group over time.", "FILE")
    ] = None,
    logs: LogOptions,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Compute the history of all groups from a log.

    Shows rebalances and their causes, owners and commits. Without --group there is a row per group, the groups
    that rebalanced longest first. What cannot be read is put into quarantine and reported; the run continues.
    Needs Spark; logs of less than 64 MB are read without starting it.

    \b
    Examples:
      kohort fleet history --log-dir /var/lib/kafka/data --report fleet.html
      kohort fleet history --log-dir /var/lib/kafka/data --group billing
    """
    from cli.output import emit
    from cli.render.output_format import FOR_PROGRAMS
    from cli.verbs.fleet.history import HistoryRequest, carry_out, fleet_history_document
    from cli.verbs.fleet.sources import source_of

    request = HistoryRequest(
        source=source_of(logs),
        out=out,
        groups=tuple(dict.fromkeys(groups or ())),
        as_of_ms=moment(as_of, "--as-of"),
        since_ms=moment(since, "--since"),
        until_ms=moment(until, "--until"),
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
            "Directory of the tables (Parquet); existing ones are extended. A local path, s3a://… or hdfs://…",
            "DIR",
        ),
    ],
    checkpoint: Annotated[
        str | None,
        option(
            "--checkpoint",
            "Directory of the stream's position; by default DIR-checkpoint, next to --out.",
            "DIR",
        ),
    ] = None,
    every: Annotated[
        float,
        duration_option("--every", "Time between observations: 1m, or a number of seconds.", "s", 1, 86_400),
    ] = 60.0,
    seconds: Annotated[
        float | None,
        duration_option("--for", "Stop after this long: 1h, or a number of seconds.", "s", 0, 31_536_000),
    ] = None,
    once: Annotated[
        bool, option("--once", "Read what is there, then exit; for a timer such as cron.")
    ] = False,
    output: Annotated[
        StreamOutput, option("--output -o", "A line of text per update, or a JSON document per line.")
    ] = StreamOutput.TABLE,
    live: LiveOptions,
    spark: SparkOptions,
) -> None:
    """Keep a fleet's history current from a live cluster.

    Uses Spark's Structured Streaming. Stop it with Ctrl-C. After a stop or a crash it continues from its
    checkpoint; no record is lost or counted twice. When it does not run, `kohort fleet history --out` shows what
    the tables contain.

    \b
    Examples:
      kohort fleet follow -b localhost:9092 --out history
    """
    from cli.output import write_next
    from cli.verbs.fleet.follow import FollowRequest, carry_out, followed_document, followed_line
    from cli.verbs.fleet.sources import live_of

    request = FollowRequest(
        source=live_of(live), out=out, checkpoint=checkpoint, every_s=None if once else every, seconds=seconds
    )
    shown = followed_document if output is StreamOutput.JSON else followed_line
    carry_out(request, spark, lambda seen: write_next(lambda stream: stream.write(shown(seen) + "\n")))


class AuditTo(Enum):
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


def fleet_audit(
    *,
    to: Annotated[
        list[AuditTo] | None, option("--to", "Target of the migration, both by default; repeatable.")
    ] = None,
    groups: Annotated[
        list[str] | None, option("--group", "Show the findings for this group; repeatable.", "GROUP")
    ] = None,
    clients: ClientOptions,
    out: Annotated[
        str | None,
        option("--out", "Write the tables there as Parquet, replacing those of an earlier audit.", "DIR"),
    ] = None,
    report: Report = None,
    sources: AuditOptions,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Find which groups of a fleet are ready to migrate.

    Lists the groups to start with, and what blocks the others. Findings are those of `kohort plan`; assignments
    and regexes are those of `dry-run` and `validate-regex`, compared with Java's own regular expressions. What
    cannot be read is put into quarantine and reported. Needs Spark.

    \b
    Examples:
      kohort fleet audit --snapshots snapshots/ --report readiness.html
    """
    from cli.output import emit
    from cli.render.output_format import FOR_PROGRAMS
    from cli.verbs.fleet.audit import AuditRequest, carry_out, fleet_audit_document, sources_of
    from cli.verbs.plan.action import client_settings
    from migration.model import Destination

    snapshots, logs = sources_of(sources)
    destinations = tuple(Destination(target.value) for target in dict.fromkeys(to or AuditTo))
    request = AuditRequest(
        snapshots=snapshots,
        logs=logs,
        judged={"destinations": destinations, **client_settings(clients)},
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
        int, option("--seeds", "Number of seeds to play of each.", "N", min=1, max=100_000_000)
    ] = 100,
    seed: FirstSeed = 1,
    protocol: Protocol = ProtocolOption.AS_WRITTEN,
    vary: Vary = None,
    break_: BrokenRule = None,
    limit: Limit = None,
    out: Out = None,
    report: Report = None,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Simulate scenarios from many seeds.

    Shows verdicts, costs by protocol and setting, and failures, each with the `kohort simulate` command that
    repeats it. Exit status: 0 all invariants hold in every run; 1 one does not, a run was stopped, or Kohort
    failed in one. Needs Spark.

    \b
    Examples:
      kohort fleet simulate crash downgrade --seeds 1000
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
    to: Annotated[AuditTo, option("--to", "Target of the migration.")],
    seeds: Annotated[
        int, option("--seeds", "Number of seeds to rehearse each group with.", "N", min=1, max=1_000_000)
    ] = 1,
    seed: FirstSeed = 1,
    as_migrate: Annotated[
        bool, option("--as-migrate", "Play how `kohort migrate` carries plans out, with commands that fail.")
    ] = False,
    vary: Vary = None,
    groups: Annotated[list[str] | None, option("--group", "Only this group; repeatable.", "GROUP")] = None,
    clients: ClientOptions,
    out: Out = None,
    report: Report = None,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Plan and rehearse the migration of many groups.

    Shows which are safe, and in which order to migrate them: those with the fewest warnings first, of these the
    cheapest first. Results are those of `kohort plan` and `kohort rehearse`. Exit status: 0 no plan is unsafe; 1 a
    plan is unsafe (its seed is listed), or Kohort failed on one. Needs Spark.

    \b
    Examples:
      kohort fleet rehearse --snapshots snapshots/ --to consumer
    """
    from cli.output import emit
    from cli.verbs.fleet import rehearse
    from cli.verbs.plan.action import client_settings
    from migration.model import Destination

    request = rehearse.FleetRehearsalRequest(
        snapshots=tuple(dict.fromkeys(snapshots)),
        planned={"destinations": (Destination(to.value),), **client_settings(clients)},
        variations=rehearse.variations_of(vary or ()),
        groups=tuple(dict.fromkeys(groups or ())),
        seeds=range(seed, seed + seeds),
        as_migrate=as_migrate,
        out=out,
        reports=tuple(report or ()),
    )
    run = rehearse.carry_out(request, spark)
    emit(rehearse.fleet_rehearsal_document(request, run), output, rehearse.status_of(run))


def fleet_what_if(
    *,
    tables: Annotated[
        str,
        option("--tables", "The tables of kohort fleet history --out: a path, s3a://… or hdfs://…", "DIR"),
    ],
    alternatives: AlternativeOptions,
    since: Annotated[
        str | None,
        option("--since", "From this time on, as for kohort what-if; all of it by default.", "TIME"),
    ] = None,
    until: Annotated[str | None, option("--until", "Until this time.", "TIME")] = None,
    seeds: Annotated[
        int, option("--seeds", "Number of seeds to play of each group.", "N", min=1, max=1_000)
    ] = 5,
    spark: SparkOptions,
    output: OutputOptions,
) -> None:
    """Play the past of a fleet as it might have been.

    Plays every group of a history under the alternatives, as `kohort what-if` does, and adds up the fleet; groups
    that lost most are first. Groups whose simulation does not agree with their log are not added up. Needs Spark.

    \b
    Examples:
      kohort fleet what-if --tables history --protocol consumer
    """
    from cli.output import emit
    from cli.verbs.fleet.what_if import carry_out, fleet_what_if_document

    rows = carry_out(tables, alternatives, moment(since, "--since"), moment(until, "--until"), seeds, spark)
    emit(fleet_what_if_document(rows, seeds), output)
