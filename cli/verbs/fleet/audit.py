"""Carry out `kohort fleet audit`: judge the groups of snapshots and logs, and make the requested document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import UsageError
from cli.render.document import Block, Document, Heading, Table, Text, columns, table_of
from cli.verbs.fleet.options import AuditOptions, LogOptions, SparkOptions
from cli.verbs.fleet.report_page import Row, absent, check_reports, history_page, write_reports
from cli.verbs.fleet.sources import LiveTopic, LogPaths, bytes_below, check_snapshots, source_of
from cli.verbs.fleet.spark import fleet_session, fleet_spinner, settings_of, tasks_shown
from groups.model import Problem
from migration.rules.clients import about_unknown

if TYPE_CHECKING:
    from pipeline.audit.run import AuditRun
    from pipeline.history import Logs


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    snapshots: tuple[str, ...] = ()
    logs: LogPaths | None = None
    judged: Mapping[str, Any]  # Fields of `pipeline.audit.AuditSettings`, which needs Spark
    groups: tuple[str, ...] = ()
    out: str | None = None
    reports: tuple[Path, ...] = ()
    for_programs: bool = False  # Whether all groups are shown, or only the named ones


def sources_of(options: AuditOptions) -> tuple[tuple[str, ...], LogPaths | None]:
    """Snapshots and logs that the options name; by default, the source of other commands."""
    snapshots = tuple(dict.fromkeys(options.snapshots or ()))
    check_snapshots(snapshots)
    logs = LogOptions(log_dirs=options.log_dirs, embedded=options.embedded, topics_file=options.topics_file)
    if snapshots and not (options.log_dirs or options.embedded):
        if options.topics_file is not None:
            raise UsageError("--topics needs --log-dir: it applies to a broker's log only")
        return snapshots, None
    source = source_of(logs, snapshots_too=True)
    if isinstance(source, LiveTopic):
        saves = "`kohort snapshot --file FILE` saves a live cluster for --snapshots"
        raise UsageError(f"an audit reads snapshots and logs: {saves}")
    return (*snapshots, *source.snapshots), source if source.paths else None


def carry_out(request: AuditRequest, options: SparkOptions) -> Audit:
    check_reports(request.reports)
    settings = settings_of(options, input_bytes=_input_bytes(request))
    with fleet_spinner(options) as spinner, fleet_session(settings) as spark:
        from pipeline.audit.judge import AuditSettings
        from pipeline.audit.run import Snapshots, audit

        sources: list[Snapshots | Logs] = [Snapshots(paths=request.snapshots)] if request.snapshots else []
        sources += [request.logs.logs()] if request.logs else []
        progress = tasks_shown(spinner, "checking groups")
        run = audit(spark, sources, AuditSettings(**request.judged), out=request.out, progress=progress)
        spinner.show("reading tables")
        return _answer(request, run)


def _input_bytes(request: AuditRequest) -> int | None:
    size = request.logs.size if request.logs else 0
    if size is None or any("://" in path for path in request.snapshots):
        return None
    return size + sum(bytes_below(Path(path), "*") for path in request.snapshots)


def _answer(request: AuditRequest, run: AuditRun) -> Audit:
    from pipeline.overview import of_groups, plain

    rows: Sequence[Row] = ()
    regexes: Sequence[Row] = ()
    if request.groups or request.for_programs:
        order = ("source", "group")
        rows = list(plain(of_groups(run.audit, request.groups).orderBy(*order, "destination")))
        regexes = list(plain(of_groups(run.regexes, request.groups).orderBy(*order, "pattern", "library")))
    if request.reports:
        from pipeline.report.measure import numbers_of

        places = (*request.snapshots, *(request.logs.places if request.logs else ()))
        numbers = numbers_of({"audit": run.audit}, made=datetime.now(UTC), sources=places)
        write_reports(request.reports, partial(history_page, numbers))
    problems = absent(request.groups, rows, "is in none of the sources")
    return Audit(run=run, rows=rows, regexes=regexes, shows_groups=bool(request.groups), problems=problems)


FIRST_SHOWN = 20
QUARANTINE_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    run: AuditRun
    rows: Sequence[Row]  # Rows in the schema AUDIT; empty if only sums were requested
    regexes: Sequence[Row]  # Rows in the schema AUDIT_REGEXES
    shows_groups: bool = False  # Whether tables show groups; data contain all groups
    problems: tuple[Problem, ...] = ()


def fleet_audit_document(audit: Audit) -> Document:
    total, remarks = audit.run.quarantined_total, []
    if total:
        things = f"{total} file{'' if total == 1 else 's or groups'}"
        remarks.append(f"{things} could not be read; --output json shows which, and why")
    unknown = max((by_verdict.get("unknown", 0) for by_verdict in audit.run.verdicts.values()), default=0)
    return Document(
        command="fleet audit",
        data=_data(audit),
        blocks=list(_named(audit) if audit.shows_groups else _sums(audit.run)),
        errors=audit.problems,
        remarks=(*remarks, *about_unknown(unknown)),
    )


def _data(audit: Audit) -> dict[str, object]:
    run = audit.run
    destinations = []
    for destination, verdicts in run.verdicts.items():
        blocked = run.blocked_by.get(destination, {}).items()
        reasons = [{"rule": rule, "groups": count} for rule, count in blocked]
        first = [asdict(group) for group in run.first.get(destination, ())]
        of_it = {"destination": destination, "verdicts": dict(verdicts)}
        destinations.append({**of_it, "blocked_by": reasons, "first": first})
    return {
        "audited": run.groups,
        "destinations": destinations,
        "regexes_lost": run.regexes_lost,
        "groups": [dict(row) for row in audit.rows],
        "regexes": [dict(row) for row in audit.regexes],
        "quarantined": [asdict(row) for row in run.quarantined],
        "quarantined_total": run.quarantined_total,
        "tables": dict(run.paths),
    }


def _sums(run: AuditRun) -> Iterator[Block]:
    outcomes = ("ready", "warnings", "blocked", "unknown", "arrived")
    yield Table(
        columns=columns("TO", "##GROUPS", "##READY", "##WARNINGS", "##BLOCKED", "##UNKNOWN", "##ARRIVED"),
        rows=[
            (destination, sum(verdicts.values()), *(verdicts.get(outcome, 0) for outcome in outcomes))
            for destination, verdicts in run.verdicts.items()
        ],
    )
    for destination in run.verdicts:
        reasons = list(run.blocked_by.get(destination, {}).items())
        first = run.first.get(destination, ())[:FIRST_SHOWN]
        if reasons:
            yield Heading(f"What blocks the migration to {destination}")
            yield Table(columns=columns("RULE", "##GROUPS"), rows=reasons)
        if first:
            yield Heading(f"Which to migrate to {destination} first")
            names = ("#RANK", "GROUP", "SOURCE", "VERDICT", "##MEMBERS", "##PARTITIONS", "#GAIN", "#RISK")
            yield table_of(first, *names, ("PATH", "path"))
    if run.regexes_lost:
        lost = "regexes match fewer topics, or none, once the broker evaluates them"
        yield Text(f"{run.regexes_lost} {lost}: see the table audit_regexes.")
    if run.quarantined:
        yield Heading("Not read")
        yield table_of(run.quarantined[:QUARANTINE_SHOWN], "FILE", ("NOT-READ", "reason"))


def _named(audit: Audit) -> Iterator[Block]:
    yield table_of(
        audit.rows,
        *("GROUP", "SOURCE", ("TO", "destination")),
        ("VERDICT", lambda row: "arrived" if row["arrived"] else row["verdict"]),
        *("#RANK", "#GAIN", "#RISK"),
        ("#MOVED", lambda row: row["dry_run"] and row["dry_run"]["moved"]),
        ("PATH", "path"),
    )
    findings = [{**row, **finding} for row in audit.rows for finding in row["findings"]]
    if findings:
        to, what = ("TO", "destination"), ("FINDING", "message")
        yield table_of(findings, "GROUP", to, "LEVEL", "RULE", what, "REMEDY")
    if audit.regexes:
        topics = [(f"##{who.upper()}", f"{who}_topics") for who in ("broker", "client", "java")]
        rewritten = ("REWRITE", "rewritten")
        yield table_of(audit.regexes, "GROUP", "PATTERN", "VALID", "LIBRARY", *topics, rewritten)
