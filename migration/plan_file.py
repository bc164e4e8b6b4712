"""Converts a plan to plain data and back: `kohort plan --output yaml|json` prints it, `kohort gate` reads it.

The data follow the dataclasses of `migration.model`; conditions are tagged by their kind (`{check: state-in, …}`),
and fields derived from others are written but ignored on reading. An unknown field is refused: a gate that ignored an
unknown condition would open too early.
"""

from collections.abc import Iterator
from typing import Any

from groups.trees import Malformed, Path, Trees, count_values, shown, tag_of
from groups.yaml_files import check_kind, check_newest
from migration import model as conditions
from migration.model import Condition, Plan, Step

FORMAT_VERSION = 1
MAX_VALUES = 2_000_000  # The most values in a plan: 40 times as many as in a plan for 500 members

_TREES = Trees(
    advice="a newer Kohort may have written it; make a new plan with this one",
    # Fields that every JSON document of Kohort has around its data, and fields derived from others.
    extra={Plan: ("kohort", "command", "errors", "client", "verdict"), Step: ("step", "danger")},
)


def plan_to_data(plan: Plan) -> dict[str, Any]:
    written = _TREES.write(Plan, plan)
    first = {name: written.pop(name) for name in ("group", "from", "to")}
    findings, steps = written.pop("findings"), written.pop("steps")
    numbered = [
        {"step": number, **data, "danger": risk_text(step)}
        for number, (step, data) in enumerate(zip(plan.steps, steps, strict=True), 1)
    ]
    derived = {"client": ", ".join(plan.clients) or None, "verdict": plan.verdict.value}
    return {**first, **derived, **written, "findings": findings, "steps": numbered}


def risk_text(step: Step) -> str:
    return " ".join(f"{danger.what} {danger.symptom} {danger.then}" for danger in step.dangers)


def condition_tag(condition: Condition) -> str:
    """The name of a condition's kind in plan files: `state-in`."""
    return tag_of(type(condition))


def plan_from_data(data: object) -> Plan:
    """The plan that `plan_to_data` wrote; Malformed names the wrong field. Numbers may be texts, as in YAML."""
    check_kind(data, "plan")
    if isinstance(data, dict) and "kohort" in data:
        check_newest(data, FORMAT_VERSION)
    if not isinstance(data, dict) or "steps" not in data:
        raise Malformed("this is not a plan; `kohort plan GROUP --to … --output yaml` writes one")
    if count_values(data, MAX_VALUES + 1) > MAX_VALUES:
        raise Malformed(f"a plan has at most {MAX_VALUES} values")
    plan: Plan = _TREES.read(Plan, data)
    for position, step in enumerate(data["steps"]):
        number = step.get("step", position + 1)
        if str(number) != str(position + 1):  # a step was removed or moved
            found = f"expected {position + 1}, found {shown(number)}"
            raise Malformed(f"{found}: a step is missing or in the wrong place", "steps", position, "step")
    for path, message in _inconsistencies(plan):
        raise Malformed(message, *path)
    return plan


def _inconsistencies(plan: Plan) -> Iterator[tuple[Path, str]]:
    """Errors beyond types: ids that do not exist, bounds that exclude every value."""
    if not plan.group:
        yield (("group",), "is empty")
    if plan.concurrency < 1:
        yield (("concurrency",), "expected at least 1")
    ids = [step.id for step in plan.steps]
    for position, step in enumerate(plan.steps):
        here: Path = ("steps", position)
        if step.id and step.id in ids[:position]:
            yield (*here, "id"), f"the id {step.id!r} is used twice"
        if step.id.isdecimal():
            number = f"{step.id!r} is a number"
            yield (*here, "id"), f"{number}: steps have numbers in addition to their ids"
        for index, stray in enumerate(step.strays):
            place = (*here, "strays", index)
            if stray.back_to not in ids or not stray.back_to:
                yield (*place, "back_to"), f"no step has the id {stray.back_to!r}"
            if not stray.conditions:
                yield (*place, "conditions"), "is empty"
            yield from _invalid_conditions(stray.conditions, (*place, "conditions"))
        for name in ("gate", "between"):
            yield from _invalid_conditions(getattr(step, name), (*here, name))
    if plan.baseline is not None:
        seen: set[str] = set()
        for position, member in enumerate(plan.baseline.members):
            if member.id in seen:
                yield ("baseline", "members", position, "id"), f"{member.id!r} is listed twice"
            seen.add(member.id)


def _invalid_conditions(entries: tuple[Condition, ...], path: Path) -> Iterator[tuple[Path, str]]:
    for position, condition in enumerate(entries):
        here = (*path, position)
        if isinstance(condition, conditions.MemberCount):
            least, most = condition.at_least, condition.at_most
            if least is None and most is None:
                yield here, "expected at_least, at_most or both"
            if least == 0 and most is None:
                yield (*here, "at_least"), "expected at least 1: every group has at least 0 members"
            if least is not None and most is not None and least > most:
                yield (*here, "at_most"), f"{most} is less than at_least, {least}"
        if isinstance(condition, conditions.Speaking) and condition.at_least == 0:
            yield (*here, "at_least"), "expected at least 1: it is always true of 0 members"
        if isinstance(condition, conditions.StateIn) and not condition.states:
            yield (*here, "states"), "is empty"
