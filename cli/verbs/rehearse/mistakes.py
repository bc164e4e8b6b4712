"""The part of the document of `kohort rehearse` about operator mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from cli.render.cells import Cell
from cli.render.document import Block, Heading, Table, Text, columns
from cli.verbs.rehearse.action import Rehearsal
from groups.counts import counted
from migration.rehearsal.mistakes import Inapplicable
from migration.rehearsal.rehearsed import GroupSummary
from migration.rehearsal.symptoms import GateOutcome, MistakeResult, Refused, Symptom

_GATE = {
    GateOutcome.CLOSED: "stays closed",
    GateOutcome.SETTLED: "opens when settled",
    GateOutcome.OPENED: "OPENS",
}


def mistakes_data(rehearsal: Rehearsal) -> list[dict[str, Any]]:
    """An item for each mistake and step; for a mistake that does not apply here, the reason."""
    return [_data(each) for each in rehearsal.mistakes]


def _data(each: MistakeResult | Inapplicable) -> dict[str, Any]:
    if isinstance(each, Inapplicable):
        return {"mistake": each.mistake.value, "why_not": each.why}
    symptom = each.symptom
    return {
        "mistake": each.placed.mistake.value,
        "why_not": None,
        "step": each.placed.place[0],
        "round": each.placed.place[1],
        "what": each.placed.what,
        "seed": each.seed,
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
            "outcome": each.outcome.value,
            "step": each.step,
            "round": each.round,
            "closed_by": list(each.closed_by),
            "why": each.why,
        },
    }


def _shown(shown: GroupSummary) -> dict[str, Any]:
    return {
        "type": shown.type and shown.type.value,
        "protocol": shown.protocol,
        "state": shown.state and shown.state.value,
        "members": shown.members,
        "consumer_members": shown.upgraded,
    }


def mistakes_blocks(rehearsal: Rehearsal) -> Iterator[Block]:
    """The table of mistakes, and the mistakes that no gate detects."""
    yield Heading("Operator mistakes")
    if not rehearsal.mistakes:
        yield Text("The plan itself is not safe: mistakes were not played.")
        return
    yield Table(
        columns=columns("MISTAKE", "#STEP", "#ROUND", "DESCRIPTION", "SYMPTOM", "GATE", "CLOSED-BY"),
        rows=[_row(each) for each in rehearsal.mistakes],
    )
    for each in rehearsal.undetected:
        yield Text(f"{_name(each)}: {each.why}. The gate does not detect it.")


def _name(each: MistakeResult) -> str:
    place = f"step {each.placed.place[0]}, round {each.placed.place[1]}"
    return f"{each.placed.mistake.value.replace('-', ' ').capitalize()} ({place}, seed {each.seed})"


def _row(each: MistakeResult | Inapplicable) -> list[Cell]:
    if isinstance(each, Inapplicable):
        return [each.mistake.value, None, None, f"does not apply: {each.why}", None, None, None]
    return [
        each.placed.mistake.value,
        *each.placed.place,
        each.placed.what,
        _words(each.symptom),
        _GATE[each.outcome],
        " ".join(each.closed_by) or None,
    ]


def _words(symptom: Symptom) -> str:
    """The symptoms of a mistake, in one line."""
    return "; ".join((*_refused(symptom.refused), *_group(symptom), *_costs(symptom))) or "no symptom"


def _refused(refused: tuple[Refused, ...]) -> Iterator[str]:
    members: dict[str, list[str]] = {}
    for each in refused:
        members.setdefault(each.error, []).append(each.member)
    for error, names in members.items():
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        yield f"{error} at {', '.join(names[:2])}{more}"


def _group(symptom: Symptom) -> Iterator[str]:
    shown, planned = symptom.shown, symptom.planned
    for each in symptom.passed:
        yield f"the group is {_kind(each)} for a while"
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


def _costs(symptom: Symptom) -> Iterator[str]:
    """Figures that are worse than planned."""
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
