"""Carry out `kohort fleet simulate`: a document with verdicts and costs of scenarios by seed and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import ExitStatus, UsageError
from cli.render.document import Block, Document, Heading, Table, Text, columns, table_of
from cli.verbs.fleet.options import SparkOptions, combinations_of
from cli.verbs.fleet.report_page import check_writable, write_report
from cli.verbs.fleet.simulate_page import simulation_page
from cli.verbs.fleet.spark import FleetProgress, fleet_session, settings_of
from cli.verbs.simulate.action import Source, check_rule, check_settings, read
from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import Variant
from groups.counts import share

if TYPE_CHECKING:
    from pipeline.simulation import Case, SimulationRun

BYTES_PER_RUN = 256
"""Bytes of a row of the largest table, which Spark processes in addition to the runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRequest:
    """The runs: every source under every protocol, with all settings and from every seed."""

    sources: tuple[Source, ...]
    variants: tuple[Variant, ...]
    settings: tuple[Mapping[str, str], ...]
    seeds: range
    limit: int
    break_rule: str | None
    out: str | None
    reports: tuple[Path, ...]

    def cases(self) -> list[Case]:
        """The cases, for the pipeline, which needs Spark."""
        from pipeline.simulation import Case

        return [
            Case(
                called=source.called,
                name=source.name,
                scenario_of=source.scenario_of,
                variant=variant,
                settings=settings,
            )
            for source, variant, settings in product(self.sources, self.variants, self.settings)
        ]


def request_of(
    scenarios: Sequence[str],
    variants: tuple[Variant, ...],
    vary: Sequence[str],
    *,
    first: int,
    count: int,
    limit: int | None,
    break_rule: str | None,
    out: str | None,
    reports: tuple[Path, ...],
) -> SimulationRequest:
    """The request of the options.

    :raises UsageError: there is no such scenario or rule, or settings that cannot be played
    """
    check_rule(break_rule)
    sources = tuple(map(read, dict.fromkeys(scenarios)))
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise UsageError("two scenarios have the same name: rename one of the files")
    settings = combinations_of(vary, of=len(sources) * len(variants))
    for source, variant, each in product(sources, variants, settings):
        check_settings(source, each, variant, first)
    return SimulationRequest(
        sources=sources,
        variants=variants,
        settings=settings,
        seeds=range(first, first + count),
        limit=limit or LIMIT,
        break_rule=break_rule,
        out=out,
        reports=reports,
    )


def carry_out(request: SimulationRequest, options: SparkOptions) -> SimulationRun:
    """Play every seed.

    :raises MissingSpark: the extra or Java is missing :raises CommandError: an error of Spark or a file system
    """
    for report in request.reports:
        check_writable("--report", report)
    total = len(request.sources) * len(request.variants) * len(request.settings) * len(request.seeds)
    settings = settings_of(options, input_bytes=total * BYTES_PER_RUN)
    with FleetProgress(quiet=options.verbose) as progress, fleet_session(settings) as spark:
        from pipeline.simulation import RunOptions, simulate

        run_options = RunOptions(limit=request.limit, break_rule=request.break_rule)
        run = simulate(
            spark, request.cases(), request.seeds, run_options, out=request.out, progress=progress.simulation
        )
    for file in request.reports:
        write_report(file, partial(simulation_page, run), partial(simulation_data, request, run))
    return run


def simulation_data(request: SimulationRequest, run: SimulationRun) -> dict[str, Any]:
    """The data of the document, for programs."""
    return {
        "first_seed": request.seeds[0],
        "seeds": len(request.seeds),
        "runs": sum(run.verdicts.values()),
        "verdicts": dict(run.verdicts),
        "costs": [dict(row) for row in run.costs],
        "spans": [dict(row) for row in run.spans],
        "failures": [dict(row) for row in run.failures],
        "tables": dict(run.paths),
    }


def simulation_document(request: SimulationRequest, run: SimulationRun) -> Document:
    """The costs of each scenario under each protocol and settings, and the seeds that failed."""
    return Document(
        command="fleet simulate",
        data=simulation_data(request, run),
        blocks=list(_blocks(run)),
        remarks=tuple(_remarks(run)),
    )


def _blocks(run: SimulationRun) -> Iterator[Block]:
    names = ("SCENARIO", "PROTOCOL", "LIBRARIES", "SETTINGS", "#SEEDS", "##FALLEN", "#KNOWN")
    yield table_of(
        run.costs,
        *((name, _column(name.strip("#").lower())) for name in names),
        ("#REBALANCES", _column("rebalances_median")),
        ("#UNOWNED-TIME", _column("without_owner_s_median")),
        ("#MAX-UNOWNED-TIME", _column("without_owner_s_worst")),
        ("#READ-TWICE", _column("read_twice_median")),
        ("#CONVERGED", _column("converged_s_median")),
    )
    if run.failures:
        yield Heading("Seeds that failed")
        yield Table(
            columns=columns("VERDICT", "INVARIANT", "PLAYS-IT-AGAIN"),
            rows=[[row["verdict"], row["invariant"], row["command"]] for row in run.failures],
        )
    for row in run.failures:
        if row["verdict"] == "threw":
            yield Text(f"Seed {row['seed']} of {row['scenario']} threw {row['message']}")


def _column(name: str) -> Any:
    from operator import itemgetter

    return itemgetter(name)


def _remarks(run: SimulationRun) -> Iterator[str]:
    words = {
        "fallen": "broke an invariant",
        "known": "broke an invariant, by a known weakness of Kafka's rules",
        "stopped": "were stopped before they finished (--limit)",
        "threw": "failed because of a bug in Kohort",
    }
    total = sum(run.verdicts.values())
    for verdict, text in words.items():
        if count := run.verdicts[verdict]:
            yield f"{share(count, total, 'run')} {text}"


def status_of(run: SimulationRun) -> ExitStatus:
    """FALSE if a run violated an invariant, as in `kohort simulate`."""
    return ExitStatus.DONE if run.verdicts["held"] == sum(run.verdicts.values()) else ExitStatus.FALSE
