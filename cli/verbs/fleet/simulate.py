"""Carry out `kohort fleet simulate`: a document with verdicts and costs of scenarios by seed and settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import ExitStatus, UsageError
from cli.render.document import Block, Code, Document, Heading, Text, fields, table_of
from cli.render.page import shortened_to
from cli.render.plots import LONGEST_NAME, Bar, Share, bars_plot, figures_plot
from cli.verbs.fleet.options import SparkOptions, combinations_of
from cli.verbs.fleet.report_page import Row, check_reports, write_reports
from cli.verbs.fleet.spark import fleet_session, fleet_spinner, settings_of, tasks_shown
from cli.verbs.simulate.action import ScenarioSource, check_rule, check_settings, read
from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import Variant
from groups.counts import counted, share

if TYPE_CHECKING:
    from pipeline.simulation.play import SimulationCase
    from pipeline.simulation.run import SimulationRun

BYTES_PER_RUN = 256  # Bytes of a row of the largest table, which Spark processes in addition to the runs
ROWS_SHOWN = 200  # Maximum rows of a table in a report; the Parquet tables contain all
STYLES = {"as-written": "k0", "eager": "k3", "cooperative": "k4", "consumer": "k2"}
FIGURES = {
    "rebalances": "Rebalances",
    "without_owner_s": "Partition-seconds without an owner",
    "read_twice": "Records read twice",
    "converged_s": "Seconds until all groups settled",
}
_VERDICTS = {
    "held": "all invariants held",
    "known": "known weaknesses of Kafka's rules",
    "fallen": "an invariant was violated",
    "stopped": "stopped at --limit",
    "threw": "Kohort's own code failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRequest:
    """The runs: every source under every protocol, with all settings and from every seed."""

    sources: tuple[ScenarioSource, ...]
    variants: tuple[Variant, ...]
    settings: tuple[Mapping[str, str], ...]
    seeds: range
    limit: int
    break_rule: str | None
    out: str | None
    reports: tuple[Path, ...]

    def cases(self) -> list[SimulationCase]:
        from pipeline.simulation.play import SimulationCase

        return [
            SimulationCase(
                variant=variant, settings=settings, **fields(source, "called", "name", "scenario_of")
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
    check_rule(break_rule)
    sources = tuple(map(read, dict.fromkeys(scenarios)))
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise UsageError("two scenarios have the same name: rename one of the files")
    settings = combinations_of(vary, of=len(sources) * len(variants))
    for source, variant, varied in product(sources, variants, settings):
        check_settings(source, varied, variant, first)
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
    check_reports(request.reports)
    total = len(request.sources) * len(request.variants) * len(request.settings) * len(request.seeds)
    settings = settings_of(options, input_bytes=total * BYTES_PER_RUN)
    with fleet_spinner(options) as spinner, fleet_session(settings) as spark:
        from pipeline.simulation.play import RunOptions
        from pipeline.simulation.run import simulate

        terms = RunOptions(limit=request.limit, break_rule=request.break_rule)
        progress = tasks_shown(spinner, "simulating")
        run = simulate(spark, request.cases(), request.seeds, terms, out=request.out, progress=progress)
    write_reports(request.reports, partial(simulation_report, request, run))
    return run


def simulation_data(request: SimulationRequest, run: SimulationRun) -> dict[str, object]:
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
    return Document(
        command="fleet simulate",
        data=simulation_data(request, run),
        blocks=list(_blocks(run)),
        remarks=tuple(_remarks(run)),
    )


def _blocks(run: SimulationRun) -> Iterator[Block]:
    yield table_of(
        run.costs,
        *("SCENARIO", "PROTOCOL", "LIBRARIES", "SETTINGS", "#SEEDS", "##FALLEN", "#KNOWN"),
        ("#REBALANCES", "rebalances_median"),
        ("#UNOWNED-TIME", "without_owner_s_median"),
        ("#MAX-UNOWNED-TIME", "without_owner_s_worst"),
        ("#READ-TWICE", "read_twice_median"),
        ("#CONVERGED", "converged_s_median"),
    )
    if run.failures:
        yield Heading("Seeds that failed")
        yield table_of(run.failures, "VERDICT", "INVARIANT", ("PLAYS-IT-AGAIN", "command"))
    for row in run.failures:
        if row["verdict"] == "threw":
            yield Text(f"Seed {row['seed']} of {row['scenario']} threw {row['message']}")


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


def simulation_report(request: SimulationRequest, run: SimulationRun) -> Document:
    blocks = [
        Heading(f"Simulation of {counted(sum(run.verdicts.values()), 'run')}", level=1),
        figures_plot([(f"{run.verdicts[verdict]:,}", text) for verdict, text in _VERDICTS.items()]),
        *_costs(run.costs),
        *_distributions(run.spans),
        *_failures(run.failures),
    ]
    return Document(command="fleet simulate", data=simulation_data(request, run), blocks=blocks)


def _costs(costs: Sequence[Row]) -> Iterator[Block]:
    """The costs of each scenario, protocol and settings; bars are relative to the longest time without an owner."""
    yield Heading("What it costs")
    known = [row for row in costs if row["without_owner_s_median"] is not None]
    most = max((row["without_owner_s_median"] for row in known), default=0) or 1
    yield Text("Partition-seconds without an owner, the median of all seeds:")
    bars = []
    for row in known[:ROWS_SHOWN]:
        time_s, style = row["without_owner_s_median"], STYLES[row["protocol"]]
        value = f"{time_s:,.1f} s"
        part = Share(share=time_s / most, style=style, title=f"{_name(row)}: {value}")
        bars.append(Bar(name=_name(row), parts=[part], value=value))
    yield bars_plot(bars, _legend(known))
    figures = [(name, words, of) for name, words in FIGURES.items() for of in ("median", "p95")]
    yield table_of(
        costs[:ROWS_SHOWN],
        ("Scenario", lambda row: shortened_to(row["scenario"], LONGEST_NAME)),
        *("Protocol", "Libraries", "Settings"),
        ("#Seeds", lambda row: f"{row['seeds']:,}"),
        ("#Fell", lambda row: f"{row['fallen']:,}"),
        *((f"#{words}, {of}", _figure(f"{name}_{of}")) for name, words, of in figures),
    )


def _distributions(spans: Sequence[Row]) -> Iterator[Block]:
    for figure, words in FIGURES.items():
        of_figure = [row for row in spans if row["figure"] == figure]
        if not of_figure:
            continue
        counts: Counter[tuple[str, str, int | None]] = Counter()
        totals: Counter[tuple[str, str]] = Counter()
        for row in of_figure:
            group = row["protocol"], row["libraries"]
            counts[(*group, row["up_to"])] += row["seeds"]
            totals[group] += row["seeds"]
        yield Heading(words)
        limits = {row["up_to"] for row in of_figure}
        bars = []
        for limit in sorted(limits, key=lambda limit: inf if limit is None else limit):
            span = "more, or never" if limit is None else f"up to {limit:,}"
            for (protocol, libraries), total in totals.items():
                if count := counts[protocol, libraries, limit]:
                    name = f"{span}: {protocol}, {libraries}"
                    title = f"{name}: {count:,} of {counted(total, 'run')}"
                    part = Share(share=count / total, style=STYLES[protocol], title=title)
                    bars.append(Bar(name=name, parts=[part], value=f"{100 * count / total:.1f} %"))
        yield bars_plot(bars, _legend(of_figure))


def _failures(failures: Sequence[Row]) -> Iterator[Block]:
    if failures:
        yield Heading("Seeds that failed")
    for row in failures:
        yield Heading(f"{_name(row)}, seed {row['seed']}: {_VERDICTS[row['verdict']]}", level=3)
        yield Text((f"{row['invariant']}: " if row["invariant"] else "") + row["message"])
        yield Code((row["command"],))
        if row["story"]:
            yield Code(tuple(row["story"]), language="text")


def _legend(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    protocols = dict.fromkeys(row["protocol"] for row in rows)
    return [(STYLES[protocol], protocol, "") for protocol in protocols]


def _name(row: Row) -> str:
    parts = (row["scenario"], row["protocol"], row["libraries"], row["settings"])
    return shortened_to(", ".join(filter(None, parts)), LONGEST_NAME)


def _figure(name: str) -> Callable[[Row], str]:
    return lambda row: "-" if row[name] is None else f"{row[name]:,.4g}"
