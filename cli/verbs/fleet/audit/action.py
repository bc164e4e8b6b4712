"""Carrying out `kohort fleet audit`: snapshots and logs to verdicts, and what was asked for of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import UsageError
from cli.verbs.fleet.audit.view import Audit
from cli.verbs.fleet.files import check_writable, write_report
from cli.verbs.fleet.options import AuditOptions, LogOptions, SparkOptions
from cli.verbs.fleet.progress import FleetProgress
from cli.verbs.fleet.sources import LiveTopic, LogPaths, bytes_below, check_snapshots, source_of
from cli.verbs.fleet.spark import fleet_session, settings_of
from groups.model import Cause, Problem
from migration.client_config import ClientConfig
from migration.clients import ToldClients
from migration.model import Destination

if TYPE_CHECKING:
    from pipeline.audit import AuditRun, Snapshots
    from pipeline.history import Logs


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What is asked."""

    snapshots: tuple[str, ...] = ()
    logs: LogPaths | None = None
    destinations: tuple[Destination, ...]
    told: ToldClients
    configs: tuple[ClientConfig, ...] = ()
    regexes: tuple[str, ...] = ()
    concurrency: int = 1
    bounce_s: float
    groups: tuple[str, ...] = ()
    out: str | None = None
    reports: tuple[Path, ...] = ()
    for_programs: bool = False
    """All groups are told, not only those that are named."""

    def sources(self) -> list[Snapshots | Logs]:
        """For the pipeline."""
        from pipeline.audit import Snapshots

        found: list[Snapshots | Logs] = []
        if self.snapshots:
            found.append(Snapshots(paths=self.snapshots))
        if self.logs is not None:
            found.append(self.logs.logs())
        return found

    @property
    def places(self) -> tuple[str, ...]:
        """For people."""
        return (*self.snapshots, *(self.logs.places if self.logs else ()))


def sources_of(options: AuditOptions) -> tuple[tuple[str, ...], LogPaths | None]:
    """Snapshots and logs that the options name; where they name none, what other commands would read.

    :raises UsageError: a live cluster :raises CommandError: nothing is there
    """
    snapshots = tuple(dict.fromkeys(options.snapshots or ()))
    check_snapshots(snapshots)
    logs = LogOptions(log_dirs=options.log_dirs, embedded=options.embedded, topics_file=options.topics_file)
    if snapshots and not (options.log_dirs or options.embedded):
        if options.topics_file is not None:
            raise UsageError("--topics is for a broker's log; it makes no sense without --log-dir")
        return snapshots, None
    source = source_of(logs, snapshots_too=True)
    if isinstance(source, LiveTopic):
        raise UsageError(
            "an audit reads snapshots and logs: `kohort snapshot -o FILE` saves a live cluster for --snapshots"
        )
    return (*snapshots, *source.snapshots), source if source.paths else None


def carry_out(request: AuditRequest, options: SparkOptions) -> Audit:
    """Judge every group.

    :raises MissingSpark: the extra or Java is missing :raises CommandError: what Spark or a file system says
    """
    for report in request.reports:
        check_writable("--report", report)
    settings = settings_of(options, input_bytes=_input_bytes(request))
    with FleetProgress(quiet=options.verbose) as progress, fleet_session(settings) as spark:
        from pipeline.audit import AuditSettings, audit

        judged = AuditSettings(
            destinations=request.destinations,
            told=request.told,
            configs=request.configs,
            regexes=request.regexes,
            concurrency=request.concurrency,
            bounce_s=request.bounce_s,
        )
        run = audit(spark, request.sources(), judged, out=request.out, progress=progress.audit)
        progress.say("reading tables")
        return _answer(request, run)


def _input_bytes(request: AuditRequest) -> int | None:
    """Of snapshots and logs; None where they are elsewhere, and it is not known."""
    size = request.logs.size if request.logs else 0
    if size is None or any("://" in path for path in request.snapshots):
        return None
    return size + sum(bytes_below(Path(path), "*") for path in request.snapshots)


def _answer(request: AuditRequest, run: AuditRun) -> Audit:
    from pipeline.overview import of_groups, plain

    rows: Sequence[dict[str, Any]] = ()
    regexes: Sequence[dict[str, Any]] = ()
    if request.groups or request.for_programs:
        order = ("source", "group")
        rows = list(plain(of_groups(run.audit, request.groups).orderBy(*order, "destination")))
        regexes = list(plain(of_groups(run.regexes, request.groups).orderBy(*order, "pattern", "library")))
    if request.reports:
        from pipeline.report.measure import numbers_of

        numbers = numbers_of({"audit": run.audit}, made=datetime.now(UTC), sources=request.places)
        for file in request.reports:
            write_report(file, numbers)
    there = {row["group"] for row in rows}
    missing = [group for group in request.groups if group not in there]
    return Audit(
        groups=run.groups,
        verdicts=run.verdicts,
        blocked_by=run.blocked_by,
        first=run.first,
        regexes_lost=run.regexes_lost,
        rows=rows,
        regexes=regexes,
        quarantined=run.quarantined,
        quarantined_total=run.quarantined_total,
        tables=run.paths,
        shows_groups=bool(request.groups),
        problems=tuple(
            Problem(subject=group, message="is in none of the sources", cause=Cause.ABSENT)
            for group in missing
        ),
    )
