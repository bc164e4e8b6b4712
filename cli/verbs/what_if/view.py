"""The answer of `kohort what-if` as a document: whether the simulation agrees with the log, then the alternatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from cli.render.cells import Cell, duration_cell
from cli.render.document import Block, Bullets, Document, Heading, Plot, Table, Text, columns
from cli.render.lines import Role
from cli.render.output_format import PAGES, OutputFormat
from cli.render.plots import Bar, Share, bars_plot
from cli.verbs.what_if.action import GroupWhatIf, WhatIfAnswer
from coordinator.simulation.alternatives import WhatIfAlternative
from coordinator.simulation.calibration import TOLERANCE, ComparedFigure
from coordinator.simulation.what_if import PlayedPast, WhatIfCost
from groups.counts import counted
from groups.times import format_moment, seconds_text

_HEADINGS = ("#REBALANCES", "#MOVED", "#UNOWNED-TIME", "#UNREAD-TIME", "#READ-TWICE")
_WORDS = {
    "rebalances": "rebalances",
    "moved": "moved partitions",
    "without_owner_s": "without an owner by the log",
}
"""The figures that a log has: they are compared with what was observed, the others with the simulated past."""
_UNREAD = (
    "Figures are the medians of the seeds. UNOWNED-TIME is what a log shows, and the past is compared by it: an eager "
    "group writes when its members have stopped already, and no group writes when a process dies. UNREAD-TIME is the "
    "whole time in which no running member had the partitions; as observed, the time without a commit."
)


def what_if_document(answer: WhatIfAnswer, output: OutputFormat) -> Document:
    if output is OutputFormat.CSV:
        blocks: list[Block] = [_csv_table(answer.groups)]
    else:
        blocks = [block for group in answer.groups for block in _section(answer, group, output)]
    return Document(
        command="what-if",
        data={
            "source": answer.source,
            "from": _moment(answer.since),
            "to": _moment(answer.until),
            "seeds": answer.seeds,
            "groups": list(map(_group_data, answer.groups)),
        },
        blocks=blocks,
        errors=(*answer.problems, *answer.unplayed),
    )


def _moment(time: int) -> str:
    return format_moment(time // 1000)


# As text.


def _section(answer: WhatIfAnswer, group: GroupWhatIf, output: OutputFormat) -> Iterator[Block]:
    if output in PAGES or len(answer.groups) > 1:
        yield Heading(f"{group.group}: what if", level=1 if len(answer.groups) == 1 else 2)
    yield from _calibration(group)
    if output in PAGES and group.alternatives:
        yield Text("Median and range of the time in which partitions were not read:")
        yield _plot(group)
    yield _table(group)
    if group.same:
        yield Text(f"Nothing changes with: {'; '.join(one.name for one in group.same)}.", Role.FAINT)
    yield Text(_UNREAD, Role.FAINT)
    span = f"{_moment(group.past.since)} to {_moment(group.past.until)}"
    rate = f"{group.past.scenario.records_per_s:.3g} records a second in each partition"
    assumptions = (f"{counted(answer.seeds, 'seed')} of {span}, {rate}", *group.past.assumptions)
    yield Bullets(tuple(f"{text[0].upper()}{text[1:]}." for text in assumptions))


def _calibration(group: GroupWhatIf) -> Iterator[Block]:
    calibration = group.calibration
    if calibration.agrees:
        pairs = (f"{_value(one, one.simulated)} {_WORDS[one.name]} (observed: {_value(one, one.observed)})"
                 for one in calibration.figures)  # fmt: skip
        yield Text(f"The simulation agrees with the log: {', '.join(pairs)}.", Role.GOOD)
        return
    yield Text(
        "The simulation does not agree with the log: do not rely on the figures of the alternatives.",
        Role.BAD,
    )
    differing = [figure for figure in calibration.figures if not figure.agrees]
    reasons = [
        f"{_WORDS[one.name]}: {_value(one, one.observed)} observed, {_value(one, one.simulated)} simulated "
        f"({_value(one, one.lowest)} to {_value(one, one.highest)}); a difference of {_value(one, one.tolerated)} "
        "is tolerated"
        for one in differing
    ]
    for episode in calibration.episodes:
        times = dict.fromkeys((_moment(episode.since), _moment(episode.until)))
        seen = counted(episode.observed, "rebalance")
        reasons.append(f"{' to '.join(times)}: {seen} observed, {episode.simulated} simulated")
    yield Bullets(tuple(f"{text[0].upper()}{text[1:]}." for text in reasons))


def _value(figure: ComparedFigure, value: float) -> str:
    return seconds_text(value) if figure.name.endswith("_s") else f"{value:,.0f}"


def _table(group: GroupWhatIf) -> Table:
    """The median of each alternative, with the range of the seeds and the change below it. The change is compared with
    what was observed, or where the log does not have a figure, with the simulated past."""
    rows: list[list[Cell]] = [["observed", *_cells(group.observed)]]
    for played in (group.simulated, *group.alternatives):
        rows.append([played.alternative.name, *_cells(played.median)])
        rows += [["  lowest", *_cells(played.lowest)], ["  highest", *_cells(played.highest)]]
        if played is not group.simulated:
            rows.append(["  change", *_changes(_change_of(group, played))])
    return Table(columns=columns("ALTERNATIVE", *_HEADINGS), rows=rows)


def _csv_table(groups: Sequence[GroupWhatIf]) -> Table:
    rows: list[list[Cell]] = []
    for group in groups:
        rows.append([group.group, "observed", "observed", *_cells(group.observed)])
        for played in (group.simulated, *group.alternatives):
            of_seeds = {"median": played.median, "lowest": played.lowest, "highest": played.highest}
            if played is not group.simulated:
                of_seeds["change"] = _change_of(group, played)
            rows += [
                [group.group, played.alternative.name, figures, *_cells(cost)]
                for figures, cost in of_seeds.items()
            ]
    return Table(columns=columns("GROUP", "ALTERNATIVE", "FIGURES", *_HEADINGS), rows=rows)


def _cells(cost: WhatIfCost) -> list[Cell]:
    return [duration_cell(value) if name.endswith("_s") else value for name, value in asdict(cost).items()]


def _changes(cost: WhatIfCost) -> list[Cell]:
    texts = (
        (seconds_text(value) if name.endswith("_s") else f"{value:,}", value)
        for name, value in asdict(cost).items()
    )
    return [f"{'+' if value > 0 else ''}{text}" for text, value in texts]


def _change_of(group: GroupWhatIf, played: PlayedPast) -> WhatIfCost:
    """The change of the median."""
    observed, simulated, median = map(asdict, (group.observed, group.simulated.median, played.median))
    before = {name: (observed if name in _WORDS else simulated)[name] for name in median}
    return WhatIfCost(**{name: round(median[name] - before[name], 3) for name in median})


def _plot(group: GroupWhatIf) -> Plot:
    """A bar for each alternative: what every seed had, and the rest of the range."""
    shown = (group.simulated, *group.alternatives)
    widest = max((played.highest.unread_s or 0.0 for played in shown), default=0.0) or 1.0
    bars = []
    for played in shown:
        low, middle, high = (one.unread_s or 0.0 for one in (played.lowest, played.median, played.highest))
        spread = f"{seconds_text(low)} to {seconds_text(high)}"
        parts = (
            Share(share=low / widest, style="k1", title=f"at least {seconds_text(low)}"),
            Share(share=(high - low) / widest, style="t1", title=spread),
        )
        bars.append(Bar(name=played.alternative.name, parts=parts, value=seconds_text(middle)))
    return bars_plot(bars)


# For programs.


def _group_data(group: GroupWhatIf) -> dict[str, object]:
    calibration = group.calibration
    return {
        "group": group.group,
        "from": _moment(group.past.since),
        "to": _moment(group.past.until),
        "observed": asdict(group.observed),
        "simulated": _played_data(group.simulated),
        "alternatives": [
            {
                **_alternative_data(played.alternative),
                **_played_data(played),
                "change": asdict(_change_of(group, played)),
            }
            for played in group.alternatives
        ],
        "unchanged": [_alternative_data(alternative) for alternative in group.same],
        "calibration": {
            "agrees": calibration.agrees,
            "tolerance": TOLERANCE,
            "observed": {figure.name: figure.observed for figure in calibration.figures},
            "simulated": {figure.name: figure.simulated for figure in calibration.figures},
            "figures": [{**asdict(figure), "agrees": figure.agrees} for figure in calibration.figures],
            "episodes": [
                {
                    "from": _moment(episode.since),
                    "to": _moment(episode.until),
                    "observed": episode.observed,
                    "simulated": episode.simulated,
                }
                for episode in calibration.episodes
            ],
        },
        "records_per_s": round(group.past.scenario.records_per_s, 3),
        "commit_interval_ms": group.past.commit_interval_ms,
        "assumptions": list(group.past.assumptions),
    }


def _alternative_data(alternative: WhatIfAlternative) -> dict[str, object]:
    protocol = alternative.protocol.value
    return {
        "name": alternative.name,
        "protocol": None if protocol == "as-written" else protocol,
        "assignor": alternative.assignor,
        "static": alternative.static,
        "settings": dict(alternative.settings),
    }


def _played_data(played: PlayedPast) -> dict[str, object]:
    return {
        **asdict(played.median),
        "lowest": asdict(played.lowest),
        "highest": asdict(played.highest),
    }
