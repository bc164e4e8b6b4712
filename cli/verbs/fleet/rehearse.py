"""Carry out `kohort fleet rehearse`: rehearsals of every group of snapshots, as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import ExitStatus, UsageError
from cli.render.document import Block, Code, Document, Heading, Text, table_of
from cli.render.lines import Role
from cli.render.page import shortened_to
from cli.render.plots import LONGEST_NAME, Bar, Share, bars_plot, figures_plot
from cli.times import BOUNCE_BOUNDS_S, read_within
from cli.verbs.fleet.options import SparkOptions, combinations_of
from cli.verbs.fleet.report_page import Row, absent, check_reports, write_reports
from cli.verbs.fleet.sources import check_snapshots
from cli.verbs.fleet.spark import fleet_session, fleet_spinner, settings_of, tasks_shown
from coordinator.errors import InvalidSetting
from groups.counts import counted
from groups.times import duration_text
from migration.rehearsal.simulated_members import OF_PLANS, overrides_from

if TYPE_CHECKING:
    from pipeline.rehearsal.run import RehearsalRun

ROWS_SHOWN = 200  # Maximum rows of a table, over all settings; the Parquet tables contain all
BARS_SHOWN = 20
LINES_SHOWN = 60  # Maximum lines of a story: the last ones
_LONGEST_LINE = 5 * LONGEST_NAME
VERDICTS = {
    "safe": "safe",
    "unsafe": "unsafe",
    "blocked": "blocked",
    "unplayable": "cannot be rehearsed",
    "arrived": "already migrated",
    "threw": "Kohort's own code failed",
}
_DESTINATIONS = {"cooperative": "cooperative rebalancing", "consumer": "the consumer protocol"}
_AS_FOUND = "as found"  # The name of the settings if none is varied
_HOW_READ = (
    "Each figure is the worst of all seeds. Partition-seconds without an owner: two partitions that have no owner for "
    "a second make two seconds. Duration is from the first stop of each round to its open gate, added up."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRehearsalRequest:
    snapshots: tuple[str, ...]
    planned: Mapping[str, Any]  # Fields of `pipeline.audit.AuditSettings`, which needs Spark
    variations: tuple[Mapping[str, Any], ...] = ({},)  # Fields of `pipeline.rehearsal.Variation`
    groups: tuple[str, ...] = ()
    seeds: range
    as_migrate: bool = False
    out: str | None
    reports: tuple[Path, ...] = ()


def variations_of(vary: Sequence[str]) -> tuple[Mapping[str, object], ...]:
    """The values of `--vary`: fields of `Variation` for each combination. UsageError for invalid ones."""
    return tuple(map(_variation, combinations_of(vary)))


def _variation(values: Mapping[str, str]) -> Mapping[str, object]:
    settings = {name: value for name, value in values.items() if name not in OF_PLANS}
    fields: dict[str, Any] = {"settings": settings}
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
        overrides_from(settings)
    except InvalidSetting as error:
        of_plans = ", ".join(OF_PLANS)
        raise UsageError(f"--vary: {error}\nSettings of plans that can be varied: {of_plans}") from None
    return fields


def carry_out(request: FleetRehearsalRequest, options: SparkOptions) -> RehearsalRun:
    check_snapshots(request.snapshots)
    check_reports(request.reports)
    with fleet_spinner(options) as spinner, fleet_session(settings_of(options, input_bytes=0)) as spark:
        from pipeline.audit.judge import AuditSettings
        from pipeline.audit.run import Snapshots
        from pipeline.rehearsal.play import RehearsalSettings, Variation
        from pipeline.rehearsal.run import rehearse_fleet

        terms = RehearsalSettings(
            planned=AuditSettings(**request.planned),
            seeds=request.seeds,
            variations=tuple(Variation(**variation) for variation in request.variations),
            groups=frozenset(request.groups),
            as_migrate=request.as_migrate,
        )
        snapshots = Snapshots(paths=request.snapshots)
        progress = tasks_shown(spinner, "rehearsing groups")
        run = rehearse_fleet(spark, snapshots, terms, out=request.out, progress=progress)
    write_reports(request.reports, partial(rehearsal_report, run))
    return run


def fleet_rehearsal_document(request: FleetRehearsalRequest, run: RehearsalRun) -> Document:
    remarks = []
    if run.quarantined:
        things = counted(len(run.quarantined), "file or group")
        remarks.append(f"{things} could not be read; --output json shows which")
    return Document(
        command="fleet rehearse",
        data=_data(run),
        blocks=list(_blocks(run)),
        errors=absent(request.groups, run.rehearsals, "is in none of the snapshots"),
        remarks=tuple(remarks),
    )


def _data(run: RehearsalRun) -> dict[str, object]:
    counts = Counter(row["verdict"] for row in run.rehearsals)
    return {
        "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
        "groups": [dict(row) for row in run.rehearsals],
        "failures": [dict(row) for row in run.failures],
        "quarantined": [dict(row) for row in run.quarantined],
        "ends": [dict(row) for row in run.ends],
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
    if run.ends:
        yield Heading("How runs ended")
        yield table_of(run.ends, "END", "RULE", "#RUNS")
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


def rehearsal_report(run: RehearsalRun) -> Document:
    rows = run.rehearsals
    groups = len({(row["source"], row["group"]) for row in rows})
    by_settings: dict[str, list[Row]] = {}
    for row in rows:
        by_settings.setdefault(row["settings"], []).append(row)
    to = f", to {_DESTINATIONS[rows[0]['destination']]}" if rows else ""
    parts = chain(
        _opening(f"Rehearsals of {counted(groups, 'group')}{to}", rows, len(by_settings)),
        _settings(by_settings) if len(by_settings) > 1 else (),
        *(_order(settings, of_them, len(by_settings)) for settings, of_them in by_settings.items()),
        _not_safe(rows, len(by_settings)),
        _failures(run.failures),
        _not_read(run.quarantined),
    )
    return Document(command="fleet rehearse", data=_data(run), blocks=list(parts))


def _opening(title: str, rows: Sequence[Row], settings: int) -> Iterator[Block]:
    counts = Counter(row["verdict"] for row in rows)
    yield Heading(title, level=1)
    seeds = max((row["seeds"] for row in rows), default=0)
    under = f" under each of {settings} settings" if settings > 1 else ""
    yield Text(
        f"Every group was planned from its snapshot, and its plan rehearsed with {counted(seeds, 'seed')}{under}."
        f"{' These are counts of plans: one for each group and settings.' if settings > 1 else ''}"
    )
    yield figures_plot([(f"{counts[verdict]:,}", words) for verdict, words in VERDICTS.items()])
    yield Text(_HOW_READ, Role.FAINT)


def _settings(by_settings: Mapping[str, Sequence[Row]]) -> Iterator[Block]:
    safe = {
        settings: {(row["source"], row["group"]): row for row in rows if row["verdict"] == "safe"}
        for settings, rows in by_settings.items()
    }
    compared = [set(rows) for rows in safe.values() if rows]
    common = sorted(set.intersection(*compared)) if compared else []
    yield Heading("What each setting costs")
    yield Text(
        f"Of {counted(len(common), 'group')}, one after the other: the median of all seeds. Only groups "
        "count that are safe under every setting with any safe group."
    )
    sums: list[Row] = []
    for settings, rows in safe.items():
        unsafe = sum(row["verdict"] == "unsafe" for row in by_settings[settings])
        figures = {
            figure: sum(rows[group][f"{figure}_median"] for group in common) if rows else None
            for figure in ("rebalances", "moved", "without_owner_s", "read_twice", "duration_s")
        }
        sums.append({"name": _of_settings(settings), "safe": len(rows), "unsafe": unsafe, **figures})
    if common:
        yield Heading("Partition-seconds without an owner", level=3)
        known = [row for row in sums if row["safe"]]
        yield _bars(known, "without_owner_s", lambda row: row["name"], _seconds)
        yield Heading("Duration", level=3)
        yield _bars(known, "duration_s", lambda row: row["name"], _duration_cell)
    yield table_of(
        sums[:ROWS_SHOWN],
        ("Settings", lambda row: row["name"]),
        *_counts("Safe", "Unsafe"),
        *(_figures() if common else ()),
    )


def _order(settings: str, rows: Sequence[Row], of_settings: int) -> Iterator[Block]:
    safe = [row for row in rows if row["verdict"] == "safe"]
    if not safe and of_settings > 1:
        return
    under = f": {_of_settings(settings)}" if of_settings > 1 else ""
    yield Heading(f"Order of migration{under}")
    if not safe:
        yield Text("No group is safe.")
        return
    shown = safe[: max(1, ROWS_SHOWN // of_settings)]
    yield Text(
        f"{counted(len(safe), 'group')}, one after the other: "
        f"{_duration_cell(sum(row['duration_s'] for row in safe))} from the first stop to the last open gate, "
        f"{_seconds(sum(row['without_owner_s'] for row in safe))} without an owner over all partitions, "
        f"{counted(sum(row['read_twice'] for row in safe), 'record')} read twice. "
        "Groups whose plans have the fewest warnings come first, of these the cheapest."
    )
    bars, group = shown[:BARS_SHOWN], ("Group", lambda row: _short(row["group"]))
    yield _bars(bars, "without_owner_s", lambda row: f"{row['rank']}. {_short(row['group'])}", _seconds)
    yield table_of(
        shown,
        ("#Rank", lambda row: row["rank"]),
        group,
        *_clusters(shown),
        ("Path", lambda row: row["path"] and _short(row["path"])),
        *_counts("Warnings", "Members", "Rounds"),
        *_figures(),
    )


def merged(rows: Sequence[Row], settings: int) -> list[Row]:
    """The rows, with a single one for a result that is the same under all settings."""
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        what = row["source"], row["group"], row["verdict"], tuple(row["why"]), row["seeds"], row["unsafe"]
        alike.setdefault(what, []).append(row)
    every = {"settings": "every"} if settings > 1 else {}
    merged = ([{**same[0], **every}] if len(same) == settings else same for same in alike.values())
    return list(chain.from_iterable(merged))


def _not_safe(rows: Sequence[Row], settings: int) -> Iterator[Block]:
    others = [row for row in rows if row["verdict"] not in ("safe", "arrived")]
    if not others:
        return
    yield Heading("Not safe")
    yield Text(
        "A plan is unsafe where, from some seed, a gate opens too early or stays closed, or an invariant is violated. "
        "It is blocked where a rule of the plan forbids it."
    )
    order = ("threw", "unsafe", "unplayable", "blocked")
    others = sorted(merged(others, settings), key=lambda row: order.index(row["verdict"]))
    yield table_of(
        others[:ROWS_SHOWN],
        ("Group", lambda row: _short(row["group"])),
        *_clusters(others),
        *((("Settings", lambda row: _of_settings(row["settings"])),) if settings > 1 else ()),
        ("Verdict", lambda row: VERDICTS[row["verdict"]]),
        ("#Unsafe seeds", lambda row: f"{row['unsafe']:,} of {row['seeds']:,}" if row["seeds"] else "-"),
        ("Why", _reasons),
    )


def _failures(failures: Sequence[Row]) -> Iterator[Block]:
    if not failures:
        return
    yield Heading("What happened")
    yield Text("The first seed that failed of each group and settings, and the commands that replay it.")
    for row in failures:
        settings = _of_settings(row["settings"]) if row["settings"] else ""
        name = ", ".join(filter(None, (_short(row["group"]), settings)))
        yield Heading(f"{name}, seed {row['seed']}: {VERDICTS[row['verdict']]}", level=3)
        yield Text(_reasons(row))
        yield Code(tuple(row["commands"]))
        if row["story"]:
            lines = row["story"][-LINES_SHOWN:]
            yield Code(tuple(shortened_to(line, _LONGEST_LINE) for line in lines), language="text")


def _not_read(quarantined: Sequence[Row]) -> Iterator[Block]:
    if quarantined:
        yield Heading("Not read")
        yield table_of(
            quarantined[:ROWS_SHOWN],
            ("File", lambda row: _short(row["file"])),
            ("Why", lambda row: shortened_to(row["reason"], _LONGEST_LINE)),
        )


def _clusters(rows: Sequence[Row]) -> list[tuple[str, Callable[[Row], str]]]:
    def cluster(row: Row) -> str:
        return _short(row["cluster"] or row["source"])

    return [("Cluster", cluster)] if len(set(map(cluster, rows))) > 1 else []


def _bars(
    rows: Sequence[Row], figure: str, name: Callable[[Row], str], shown: Callable[[float | None], str]
) -> Block:
    most = max((row[figure] for row in rows), default=0) or 1
    bars = []
    for row in rows:
        value = shown(row[figure])
        part = Share(share=row[figure] / most, style="k2", title=f"{name(row)}: {value}")
        bars.append(Bar(name=name(row), parts=[part], value=value))
    return bars_plot(bars)


def _counts(*headings: str) -> list[tuple[str, Callable[[Row], str]]]:
    def column(heading: str) -> tuple[str, Callable[[Row], str]]:
        name = heading.lower().replace(" ", "_")
        return f"#{heading}", lambda row: "-" if row[name] is None else f"{row[name]:,}"

    return list(map(column, headings))


def _figures() -> list[tuple[str, Callable[[Row], str]]]:
    return [
        *_counts("Rebalances", "Moved"),
        ("#Without owner", lambda row: _seconds(row["without_owner_s"])),
        *_counts("Read twice"),
        ("#Duration", lambda row: _duration_cell(row["duration_s"])),
    ]


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:,.1f} s"


def _duration_cell(seconds: float | None) -> str:
    return "-" if seconds is None else duration_text(round(seconds) * 1000)


def _reasons(row: Row) -> str:
    return shortened_to("; ".join(row["why"]), _LONGEST_LINE)


def _of_settings(settings: str) -> str:
    return shortened_to(settings or _AS_FOUND, 3 * LONGEST_NAME)


def _short(name: str) -> str:
    return shortened_to(name, LONGEST_NAME)
