"""The document of `kohort rehearse`: whether the plan is safe, and the costs of each round and of the rollback."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from cli.render.cells import Cell, duration_cell
from cli.render.document import Block, Code, Document, Heading, Table, Text, cells_of, columns, fields
from cli.render.lines import Role
from cli.verbs.rehearse.action import Rehearsal, RehearsalRequest
from cli.verbs.rehearse.picture import picture_of
from groups.counts import counted
from groups.times import seconds_text
from migration.model import Plan
from migration.rehearsal.mistakes import Inapplicable
from migration.rehearsal.rehearsed import (
    GroupSummary,
    Rehearsed,
    RollbackResult,
    RoundPlayed,
    as_number,
    figures_of,
)
from migration.rehearsal.symptoms import GateOutcome, MistakeResult, MistakeSymptoms, RefusedRequest

_FIGURES = ("rebalances", "moved", "without_owner_s", "read_twice", "commits_refused")
_COLUMNS = ("#REBALANCES", "#MOVED", "#UNOWNED-TIME", "#READ-TWICE", "#COMMITS-REFUSED")
_COMPUTED = ("rebalances", "moved", "without_owner_s")
_REHEARSED = (*_COMPUTED, "lasted_s")


def rehearsal_document(rehearsal: Rehearsal, *, story: bool) -> Document:
    """Rounds over all seeds: the median, and the worst of several; with `story`, events of a safe rehearsal too."""
    request, detailed = rehearsal.request, rehearsal.detailed
    lines = detailed.story if detailed is not None and (story or not detailed.is_safe) else None
    return Document(
        command="rehearse",
        data={
            "group": request.plan.group,
            "seed": request.seeds[0],
            "seeds": len(request.seeds),
            "faults": str(request.faults_file) if request.faults_file else None,
            "settings": dict(request.settings),
            "safe": rehearsal.is_safe,
            "rounds": [
                {
                    **fields(played[0], "step", "round"),
                    **_figures(played, median),
                    "worst": _figures(played, max),
                }
                for played in _of_rounds(rehearsal)
            ],
            "back": [
                {**fields(back, "step", "round"), **asdict(back.costs), **fields(back, "lasted_s", "arrived")}
                for back in _gone_back(rehearsal)
            ],
            "computed": list(_computed(rehearsal)),
            "metrics": dict(sorted(rehearsal.played[0].metrics.items())) if rehearsal.played else {},
            "mistakes": list(map(_data, rehearsal.mistakes)),
            "unsafe": list(_unsafe_data(rehearsal)),
            "story": list(lines or ()),
        },
        blocks=list(_blocks(rehearsal, lines)),
        remarks=tuple(rehearsal_remarks(rehearsal)),
    )


def _of_rounds(rehearsal: Rehearsal) -> Iterator[list[RoundPlayed]]:
    """For each round that any seed reached, the results of all seeds that reached it."""
    by_place: dict[tuple[int, int], list[RoundPlayed]] = {}
    for run in rehearsal.played:
        for played in run.rounds:
            by_place.setdefault((played.step, played.round), []).append(played)
    return iter(by_place[position] for position in sorted(by_place))


def _figures(played: Sequence[RoundPlayed], of: Callable[[list[Any]], Any]) -> dict[str, float | None]:
    """The median or the worst value of each figure; a gate that stayed closed in a seed has no time."""
    figures = {name: as_number(of([getattr(round_.costs, name) for round_ in played])) for name in _FIGURES}
    times = [round_.gate_open_after_s for round_ in played]
    return {**figures, "gate_open_after_s": None if None in times else as_number(of(times))}


def _gone_back(rehearsal: Rehearsal) -> list[RollbackResult]:
    return [run.back for run in (*rehearsal.played, *rehearsal.back) if run.back is not None]


def _computed(rehearsal: Rehearsal) -> Iterator[dict[str, Any]]:
    """For each step, the plan's figures, the median of the rehearsals, and the figures that gates measured."""
    for number, step in enumerate(rehearsal.request.plan.steps, 1):
        rehearsed = figures_of(rehearsal.played, number)
        if rehearsed is None:
            continue
        notes = rehearsal.request.notes
        measured = notes.measured(number) if notes is not None else None
        yield {
            "step": number,
            "computed": step.expectation and fields(step.expectation, *_COMPUTED),
            "rehearsed": fields(rehearsed.median, *_REHEARSED),
            "measured": measured and asdict(measured),
        }


def _unsafe_data(rehearsal: Rehearsal) -> Iterator[dict[str, object]]:
    for run in (*rehearsal.played, *rehearsal.back):
        for reason in run.unsafe:
            yield {"seed": run.seed, "reason": reason, "replay": _replay(run, rehearsal.request)}


def _replay(run: Rehearsed, request: RehearsalRequest) -> str:
    words = ["kohort", "rehearse", "PLAN.yaml", "--seed", str(run.seed)]
    if run.back is not None:
        words += ["--stop-at", f"{run.back.step}.{run.back.round}"]
    if request.faults_file is not None:
        words += ["--faults", str(request.faults_file)]
    for file in request.config_files:
        words += ["--client-config", file]
    for name, value in request.settings.items():
        words += ["--set", f"{name}={value}"]
    return shlex.join([*words, "--story"])


def _blocks(rehearsal: Rehearsal, story: tuple[str, ...] | None) -> Iterator[Block]:
    request = rehearsal.request
    yield Heading(f"{request.plan.group}: {request.plan.path or request.plan.destination.value}", level=1)
    yield Text(_verdict(rehearsal), Role.GOOD if rehearsal.is_safe else Role.BAD)
    yield _rounds_table(rehearsal)
    if gone_back := _gone_back(rehearsal):
        yield Heading("Rollback to the start")
        rows: list[list[Cell]] = []
        for back in gone_back:
            end = duration_cell(back.lasted_s), "yes" if back.arrived else "no"
            rows.append([back.step, back.round, *cells_of(asdict(back.costs)), *end])
        yield Table(columns=columns("#STEP", "#ROUND", *_COLUMNS, "#LASTED", "ARRIVED"), rows=rows)
    measured = any(row["measured"] for row in _computed(rehearsal))
    yield Heading(f"Computed{', rehearsed and measured' if measured else ' and rehearsed'}, by step")
    yield _computed_table(rehearsal)
    if request.mistakes:
        yield from mistakes_blocks(rehearsal)
    picture = picture_of(request.plan.group, rehearsal.detailed) if rehearsal.detailed is not None else None
    if picture is not None:
        yield Heading("Owners")
        yield picture
    if rehearsal.detailed is not None and story is not None:
        yield Heading(f"Events of seed {rehearsal.detailed.seed}")
        yield Code(story or ("nothing happened",), language="text")


def _verdict(rehearsal: Rehearsal) -> str:
    seeds = counted(len(rehearsal.request.seeds), "seed")
    if rehearsal.is_safe:
        return f"Safe: rehearsed from {seeds}."
    first, *others = _unsafe_data(rehearsal)
    more = f" {len(others)} more reasons are in --output json." if others else ""
    return f"Not safe. Seed {first['seed']}: {first['reason']}. `{first['replay']}` prints its events.{more}"


def _rounds_table(rehearsal: Rehearsal) -> Table:
    several, plan = len(rehearsal.request.seeds) > 1, rehearsal.request.plan
    rows: list[list[Cell]] = []
    for played in _of_rounds(rehearsal):
        first = played[0]
        head: list[Cell] = [first.step, first.round, _round_members(plan, first)]
        rows.append([*head, *(["median"] if several else []), *cells_of(_figures(played, median))])
        if several:
            rows.append([*head, "worst", *cells_of(_figures(played, max))])
    names = ("#STEP", "#ROUND", "MEMBERS", *(("FIGURES",) if several else ()), *_COLUMNS, "#GATE-OPEN-AFTER")
    return Table(columns=columns(*names), rows=rows)


def _round_members(plan: Plan, played: RoundPlayed) -> str:
    step = plan.steps[played.step - 1]
    # The text of a step without members has no rounds: it is about a temporary member.
    rounds = step.rounds or (step.rollout.rounds if step.rollout else ())
    names = rounds[played.round - 1] if played.round <= len(rounds) else ()
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 2 else " ".join(names)


def _computed_table(rehearsal: Rehearsal) -> Table:
    rows: list[list[Cell]] = []
    for entry in _computed(rehearsal):
        for what in ("computed", "rehearsed", "measured"):
            figures = entry[what] or {}
            if figures or what != "measured":
                cells = cells_of({name: figures.get(name) for name in _REHEARSED})
                rows.append([entry["step"], what, *cells])
    return Table(columns=columns("#STEP", "FIGURES", *_COLUMNS[:3], "#LASTED"), rows=rows)


def rehearsal_remarks(rehearsal: Rehearsal) -> Iterator[str]:
    yield from rehearsal.request.simulated.remarks
    if rehearsal.request.faults_file is not None:
        yield f"rehearsed with the faults of {rehearsal.request.faults_file}"
    if rehearsal.request.settings:
        values = " ".join(f"{name}={value}" for name, value in rehearsal.request.settings.items())
        yield f"rehearsed with {values}; the plan was made for the current settings"
    misplaced = max((run.misplaced for run in rehearsal.played), default=0)
    if misplaced:
        why = "assignments depend on the history of the group"
        yield f"{counted(misplaced, 'partition')} started with another owner than observed: {why}"
    files = rehearsal.request.config_files
    settings = f"the settings of {', '.join(files)}" if files else "default client settings"
    yield (
        f"assumptions: 10 records a second in each partition, {settings} except where the plan changes them, and "
        f"restarts of {seconds_text(rehearsal.request.plan.bounce_s)}"
    )


_GATE = {
    GateOutcome.CLOSED: "stays closed",
    GateOutcome.SETTLED: "opens when settled",
    GateOutcome.OPENED: "OPENS",
}


def _data(result: MistakeResult | Inapplicable) -> dict[str, object]:
    if isinstance(result, Inapplicable):
        return {"mistake": result.mistake.value, "why_not": result.why}
    symptom = result.symptom
    return {
        "mistake": result.placed.mistake.value,
        "why_not": None,
        "step": result.placed.place[0],
        "round": result.placed.place[1],
        "what": result.placed.what,
        "seed": result.seed,
        "symptom": _words(symptom),
        "refused": [asdict(one) for one in symptom.refused],
        "group": _shown(symptom.shown),
        "planned_group": _shown(symptom.planned),
        "costs": asdict(symptom.costs),
        "fewest_members": symptom.fewest,
        "planned_fewest_members": symptom.planned_fewest,
        "planned_costs": asdict(symptom.planned_costs),
        "invariants": list(symptom.violations),
        "gate": {
            "outcome": result.outcome.value,
            **fields(result, "step", "round"),
            "closed_by": list(result.closed_by),
            "why": result.why,
        },
    }


def _shown(shown: GroupSummary) -> dict[str, object]:
    return {
        "type": shown.type and shown.type.value,
        "protocol": shown.protocol,
        "state": shown.state and shown.state.value,
        "members": shown.members,
        "consumer_members": shown.upgraded,
    }


def mistakes_blocks(rehearsal: Rehearsal) -> Iterator[Block]:
    yield Heading("Operator mistakes")
    if not rehearsal.mistakes:
        yield Text("The plan itself is not safe: mistakes were not played.")
        return
    names = ("MISTAKE", "#STEP", "#ROUND", "DESCRIPTION", "SYMPTOM", "GATE", "CLOSED-BY")
    yield Table(columns=columns(*names), rows=[_row(mistake) for mistake in rehearsal.mistakes])
    for result in rehearsal.undetected:
        (step, round_), name = result.placed.place, result.placed.mistake.value.replace("-", " ").capitalize()
        position = f"(step {step}, round {round_}, seed {result.seed})"
        yield Text(f"{name} {position}: {result.why}. The gate does not detect it.")


def _row(result: MistakeResult | Inapplicable) -> list[Cell]:
    if isinstance(result, Inapplicable):
        return [result.mistake.value, None, None, f"does not apply: {result.why}", None, None, None]
    return [
        result.placed.mistake.value,
        *result.placed.place,
        result.placed.what,
        _words(result.symptom),
        _GATE[result.outcome],
        " ".join(result.closed_by) or None,
    ]


def _words(symptom: MistakeSymptoms) -> str:
    return "; ".join((*_refused(symptom.refused), *_group(symptom), *_costs(symptom))) or "no symptom"


def _refused(refused: tuple[RefusedRequest, ...]) -> Iterator[str]:
    members: dict[str, list[str]] = {}
    for refusal in refused:
        members.setdefault(refusal.error, []).append(refusal.member)
    for error, names in members.items():
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        yield f"{error} at {', '.join(names[:2])}{more}"


def _group(symptom: MistakeSymptoms) -> Iterator[str]:
    shown, planned = symptom.shown, symptom.planned
    for summary in symptom.passed:
        yield f"the group is {_kind(summary)} for a while"
    if (shown.type, shown.protocol) != (planned.type, planned.protocol):
        yield f"the group is {_kind(shown)}, not {_kind(planned)}"
    if shown.state is not planned.state:
        yield f"it is {shown.state.value if shown.state else 'gone'}"
    if shown.members != planned.members:
        yield f"{shown.members} of {counted(planned.members, 'member')}"
    elif shown.upgraded != planned.upgraded:
        yield f"{shown.upgraded} of {counted(shown.members, 'member')} on the consumer protocol, not {planned.upgraded}"
    if symptom.fewest < min(symptom.planned_fewest, shown.members):
        yield f"{counted(symptom.fewest, 'member')} at a time, not {symptom.planned_fewest}"


def _kind(shown: GroupSummary) -> str:
    if shown.type is None:
        return "gone"
    return f"{shown.type.value} ({shown.protocol})" if shown.protocol else shown.type.value


def _costs(symptom: MistakeSymptoms) -> Iterator[str]:
    costs, planned = symptom.costs, symptom.planned_costs
    if costs.rebalances > planned.rebalances:
        yield f"{counted(costs.rebalances, 'rebalance')}, not {planned.rebalances}"
    if costs.without_owner_s >= planned.without_owner_s + 1:
        yield f"{costs.without_owner_s:.0f} partition-seconds without an owner, not {planned.without_owner_s:.0f}"
    if costs.read_twice > planned.read_twice:
        yield f"{counted(costs.read_twice, 'record')} read twice, not {planned.read_twice}"
    if costs.commits_refused > planned.commits_refused:
        yield f"{costs.commits_refused} commits refused, not {planned.commits_refused}"
    if symptom.violations:
        yield f"{' '.join(symptom.violations)} broken"
