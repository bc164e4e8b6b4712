"""A report on a fleet as a document with plots; long names are shortened, so its size is limited."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from cli.errors import UsageError
from cli.output import render, write_file
from cli.render.document import Block, Document, Heading, Picture, Text, table_of
from cli.render.lines import Role
from cli.render.output_format import OutputFormat
from cli.render.page import shortened_to
from cli.render.plots import LONGEST_NAME, Bar, Series, Share, bars_plot, columns_plot, figures_plot
from cli.verbs.fleet.rebalances_svg import CAUSE_STYLES, rebalances_drawing
from groups.counts import counted
from groups.model import Cause, Problem
from groups.times import duration_text
from pipeline.report.numbers import (
    CAUSES,
    PROTOCOLS,
    SPANS,
    STAGES,
    VERDICTS,
    GroupCost,
    GroupTimeline,
    Period,
    ProtocolCost,
    Readiness,
    Reason,
    ReportNumbers,
)

Row: TypeAlias = Mapping[str, Any]  # A row of one of the pipeline's tables; times in ms since 1970
STAGE_STYLES = ("k3", "k4", "k2")
PROTOCOL_STYLES = ("k3", "k2")
VERDICT_STYLES = ("k2", "k3", "none", "k0")
_TOTALS = {
    **{name: name for name in ("records", "groups", "rebalances")},
    "storms": "storms of rebalances",
    "commits": "commits of offsets",
    "resets": "commits that set offsets back",
    "zombies": "members that commit nothing",
}
SOURCES_SHOWN = 8
HOW_READ = (
    "Times are UTC. A rebalance is a generation of a classic group, or a group epoch of one of the consumer protocol. "
    "Time rebalancing is the sum of the rebalances whose duration the log contains, and - if it contains none. Time "
    "without owner is partition-time: two partitions that have no owner for a second make two seconds."
)


def history_page(numbers: ReportNumbers) -> Document:
    parts = chain(
        _opening(numbers),
        _rebalances(numbers),
        _worst(numbers.worst),
        *(_timeline(timeline) for timeline in numbers.timelines if timeline.marks),
        _without_owner(numbers.protocols),
        *(_readiness(readiness) for readiness in numbers.readiness),
        _migration(numbers),
    )
    return Document(command="fleet history", data=numbers.as_data(), blocks=list(parts))


def _title(numbers: ReportNumbers) -> str:
    if numbers.first is None or numbers.last is None:
        return "Consumer groups: readiness" if numbers.readiness else "Consumer groups: no history"
    first, last = _day(numbers.first.date()), _day(numbers.last.date())
    return f"Consumer groups, {first}" if first == last else f"Consumer groups, {first} to {last}"


def _opening(numbers: ReportNumbers) -> Iterator[Block]:
    yield Heading(_title(numbers), level=1)
    sources = [_name(source) for source in numbers.sources[:SOURCES_SHOWN]]
    if (more := len(numbers.sources) - len(sources)) > 0:
        sources.append(f"{more:,} more")
    origin = f" from {', '.join(sources)}" if sources else ""
    yield Text(f"Created {_time(numbers.made)}{origin}.", Role.FAINT)
    if numbers.totals is not None:
        counts = [(f"{getattr(numbers.totals, name):,}", words) for name, words in _TOTALS.items()]
        rebalancing = (_seconds(numbers.totals.rebalancing_s), "rebalancing")
        yield figures_plot([*counts[:3], rebalancing, *counts[3:]])
    if numbers.quarantined:
        things = counted(numbers.quarantined, "thing")
        yield Text(f"{things} could not be read: the table quarantine names file and position.")
    if numbers.totals is not None:
        yield Text(HOW_READ, Role.FAINT) if numbers.totals.records else Text("There are no records.")


def _rebalances(numbers: ReportNumbers) -> Iterator[Block]:
    if numbers.totals is None or not numbers.periods:
        return
    step = "day" if numbers.step_days == 1 else f"{numbers.step_days} days"
    yield Heading(f"Rebalances per {step}")
    if not numbers.totals.rebalances:
        yield Text("There were none.")
        return
    most = max(numbers.periods, key=lambda period: period.rebalances)
    when, total = _span(most.day, numbers.step_days), counted(numbers.totals.rebalances, "rebalance")
    when = f"on {when}" if numbers.step_days == 1 else f"from {when}"
    yield Text(f"Most rebalances happened {when}: {most.rebalances:,} of {total}.")
    by_cause = list(zip(*(period.causes for period in numbers.periods), strict=True))
    series = [
        Series(name=cause, style=style, values=values, total=f"{sum(values):,}")
        for cause, style, values in zip(CAUSES, CAUSE_STYLES, by_cause, strict=True)
    ]
    titles = [_period_title(period, numbers.step_days) for period in numbers.periods]
    days = [_day(period.day) for period in numbers.periods]
    yield columns_plot(f"Rebalances per {step}, by cause", series, days, titles)


def _period_title(period: Period, step_days: int) -> str:
    by_cause = zip(CAUSES, period.causes, strict=True)
    causes = ", ".join(f"{cause} {count:,}" for cause, count in by_cause if count)
    head = f"{_span(period.day, step_days)}: {counted(period.rebalances, 'rebalance')}"
    return f"{head} ({causes}), {_duration_text(period.rebalancing_s)}" if period.rebalances else head


def _worst(worst: Sequence[GroupCost]) -> Iterator[Block]:
    if not worst:
        return
    yield Heading("The worst groups")
    first = worst[0]
    name, often = _name(first.group), counted(first.rebalances, "rebalance")
    if first.rebalancing_s:
        yield Text(f"{name} rebalanced longest: {_seconds(first.rebalancing_s)} in {often}.")
    else:
        unknown = all(group.rebalancing_s is None for group in worst)
        why = "The log contains no durations" if unknown else "No rebalance took any time"
        yield Text(f"{why}; {name} rebalanced most often: {often}.")
    stages = {group.stage for group in worst}
    styles = zip((*STAGES, None), (*STAGE_STYLES, "k0"), strict=True)
    legend = [(style, stage or "neither", "") for stage, style in styles if stage in stages]
    yield bars_plot(_cost_bars(worst), legend)
    yield table_of(
        worst,
        ("Group", lambda group: _name(group.group)),
        ("Type", lambda group: group.type + (f", {group.stage}" if group.stage == "mixed" else "")),
        *_numbers("Rebalances"),
        ("#Rebalancing", lambda group: _seconds(group.rebalancing_s)),
        ("#Without owner", lambda group: _seconds(group.without_owner_s)),
        *_numbers("Joined", "Left", "Storms", "Zombies"),
        ("#Members at most", lambda group: f"{group.members_most:,}"),
    )


def _cost_bars(worst: Sequence[GroupCost]) -> list[Bar]:
    """Bars by time, or by number if no duration is known."""
    timed = bool(worst[0].rebalancing_s)
    lengths = [(group.rebalancing_s or 0.0) if timed else group.rebalances for group in worst]
    bars = []
    for group, length in zip(worst, lengths, strict=True):
        name = _name(group.group)
        title = f"{name}: {counted(group.rebalances, 'rebalance')}, {_duration_text(group.rebalancing_s)}"
        style = _style(group.stage, STAGES, STAGE_STYLES)
        part = Share(share=length / max(lengths), style=style, title=title)
        value = _seconds(group.rebalancing_s) if timed else f"{group.rebalances:,}"
        bars.append(Bar(name=group.group, parts=[part], value=value))
    return bars


def _numbers(*headings: str) -> list[tuple[str, Callable[[object], str]]]:
    def column(name: str) -> tuple[str, Callable[[object], str]]:
        return f"#{name}", lambda item: f"{getattr(item, name.lower()):,}"

    return list(map(column, headings))


def _timeline(timeline: GroupTimeline) -> Iterator[Block]:
    yield Heading(_name(timeline.group), level=3)
    count = sum(mark.rebalances for mark in timeline.marks)
    first, last = (_time(timeline.marks[position].start) for position in (0, -1))
    text = f"{counted(count, 'rebalance')}, {first}" + (f" to {last}." if last != first else ".")
    yield Picture(text=text, drawing=partial(rebalances_drawing, timeline))


def _without_owner(protocols: Sequence[ProtocolCost]) -> Iterator[Block]:
    if not protocols:
        return
    yield Heading("Time without owner under each protocol")
    means = {cost.protocol: _seconds(cost.without_owner_s / cost.rebalances) for cost in protocols}
    yield Text("; ".join(f"{protocol}: {mean} per rebalance" for protocol, mean in means.items()) + ".")
    interrupted = [cost for cost in protocols if any(cost.interruptions)]
    if interrupted:
        yield Text("How long a partition had no owner, each time:")
        styles = {cost.protocol: _style(cost.protocol, PROTOCOLS, PROTOCOL_STYLES) for cost in interrupted}
        bars = [
            _interruptions(cost, index, name, styles[cost.protocol])
            for index, name in enumerate(SPANS)
            for cost in interrupted
        ]
        totals = {cost.protocol: f"{sum(cost.interruptions):,}" for cost in interrupted}
        yield bars_plot(bars, [(styles[protocol], protocol, total) for protocol, total in totals.items()])
    yield table_of(
        protocols,
        "Protocol",
        *_numbers("Groups", "Rebalances"),
        ("#Median", lambda cost: _seconds(cost.median_s)),
        ("#95th percentile", lambda cost: _seconds(cost.p95_s)),
        ("#Longest", lambda cost: _seconds(cost.longest_s)),
        *_numbers("Moved", "Revoked"),
        ("#Without owner", lambda cost: _seconds(cost.without_owner_s)),
    )


def _interruptions(cost: ProtocolCost, index: int, name: str, style: str) -> Bar:
    count, total = cost.interruptions[index], sum(cost.interruptions)
    title = f"{cost.protocol}, {name}: {count:,} of {total:,}"
    part = Share(share=count / total, style=style, title=title)
    return Bar(name=f"{name}, {cost.protocol}", parts=[part], value=f"{count:,}")


def _readiness(readiness: Readiness) -> Iterator[Block]:
    yield Heading(f"Readiness for {_name(readiness.destination)}")
    open_groups = readiness.groups - readiness.arrived
    arrived = f", of which {readiness.arrived:,} are already migrated" if readiness.arrived else ""
    yield Text(f"{counted(readiness.groups, 'group')}{arrived}.")
    if not open_groups:
        return
    verdicts = list(zip(VERDICTS, VERDICT_STYLES, readiness.verdicts, strict=True))
    parts = [
        Share(share=count / open_groups, style=style, title=f"{verdict}: {count:,} of {open_groups:,}")
        for verdict, style, count in verdicts
    ]
    bar = Bar(name="To be migrated", parts=parts, value=f"{open_groups:,}")
    yield bars_plot([bar], [(style, verdict, f"{count:,}") for verdict, style, count in verdicts])
    yield from _reasons(readiness.reasons)
    if readiness.first:
        yield Heading("Which to migrate first", level=3)
        yield table_of(
            readiness.first,
            "#Rank",
            ("Group", lambda group: _name(group.group)),
            ("Cluster", lambda group: _name(group.cluster or group.source)),
            "Verdict",
            ("Path", lambda group: group.path and _name(group.path)),
            *("#Restarts", "#Moved"),
            ("#Gain", lambda group: _seconds(group.gain_s)),
            "#Risk",
        )
        gain = "the partition-time without owner that a restart of one member costs less at the destination"
        yield Text(f"Gain is {gain}.", Role.FAINT)


def _reasons(reasons: Sequence[Reason]) -> Iterator[Block]:
    if not reasons:
        return
    yield Heading("By reason", level=3)
    most = max(reason.groups for reason in reasons)
    styles = {"blocker": "none", "warning": "k3"}
    bars = []
    for reason in reasons:
        title = f"{_name(reason.rule)}: {counted(reason.groups, 'group')}"
        part = Share(share=reason.groups / most, style=styles.get(reason.level, "k0"), title=title)
        name = f"{_name(reason.rule)} ({reason.level})"
        bars.append(Bar(name=name, parts=[part], value=f"{reason.groups:,}"))
    yield bars_plot(bars)
    yield table_of(
        reasons,
        ("Reason", lambda reason: _name(reason.rule)),
        "Level",
        *_numbers("Groups"),
        ("For example", lambda reason: _name(reason.example)),
        ("Finding", lambda reason: shortened_to(reason.message, 5 * LONGEST_NAME)),
    )


def _migration(numbers: ReportNumbers) -> Iterator[Block]:
    if not any(sum(period.stages) for period in numbers.periods):
        return
    yield Heading("Migration to the consumer protocol")
    last = numbers.periods[-1]
    arrived, total = last.stages[STAGES.index("consumer")], sum(last.stages)
    yield Text(
        f"At the end {arrived:,} of {counted(total, 'group')} of consumers used the consumer protocol, and "
        f"{last.stages[STAGES.index('mixed')]:,} had members of both protocols."
    )
    by_stage = list(zip(*(period.stages for period in numbers.periods), strict=True))
    series = [
        Series(name=stage, style=style, values=values, total=f"{values[-1]:,}")
        for stage, style, values in zip(STAGES, STAGE_STYLES, by_stage, strict=True)
    ]
    titles = []
    for period in numbers.periods:
        stages = [f"{stage} {count:,}" for stage, count in zip(STAGES, period.stages, strict=True)]
        titles.append(f"{_span(period.day, numbers.step_days)}: {', '.join(stages)}")
    days = [_day(period.day) for period in numbers.periods]
    yield columns_plot("Groups by stage of migration", series, days, titles)


def _name(text: str) -> str:
    return shortened_to(text, LONGEST_NAME)


def _style(kind: str | None, kinds: Sequence[str], styles: Sequence[str]) -> str:
    return styles[kinds.index(kind)] if kind in kinds else "k0"


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else duration_text(round(seconds * 1000))


def _duration_text(seconds: float | None) -> str:
    return "duration not known" if seconds is None else _seconds(seconds)


def _day(day: date) -> str:
    return f"{day.day} {day:%b} {day.year}"


def _span(day: date, step_days: int) -> str:
    """The days of a column; the last may be after the end of the log."""
    if step_days == 1:
        return _day(day)
    last = min(step_days - 1, (date.max - day).days)
    return f"{_day(day)} to {_day(day + timedelta(days=last))}"


def _time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def absent(groups: Sequence[str], rows: Sequence[Row], message: str) -> tuple[Problem, ...]:
    there = {row["group"] for row in rows}
    missing = [group for group in groups if group not in there]
    return tuple(Problem(subject=group, message=message, cause=Cause.ABSENT) for group in missing)


def check_writable(option: str, file: Path) -> None:
    """UsageError if a file cannot be written; called before the run, which may take hours."""
    if file.is_dir():
        raise UsageError(f"{option} {file}: is a directory; name a file in it")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"{option} {file}: the directory {file.parent} does not exist")


def check_reports(files: Iterable[Path]) -> None:
    for file in files:
        check_writable("--report", file)


def write_reports(files: Iterable[Path], report: Callable[[], Document]) -> None:
    """Write a report as a page, or as its data if the name ends in .json, or for a runbook if in .md."""
    for file in files:
        document, suffix, page = report(), file.suffix.lower(), StringIO()
        if suffix == ".json":
            write_file(file, [json.dumps(document.data, indent=2, ensure_ascii=False), "\n"])
        else:
            render(document, OutputFormat.MARKDOWN if suffix == ".md" else OutputFormat.HTML, page)
            write_file(file, [page.getvalue()])
