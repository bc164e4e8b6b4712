"""The document of `kohort gate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cli.render.document import Block, Document, Heading, fields, led, table_of
from cli.render.lines import Role
from cli.verbs.gate.action import GateAnswer, GateQuestion
from migration.gate.answers import GateResult

_ROLES = {True: Role.GOOD, False: Role.WARNING, None: Role.WARNING}
_ANSWERS = {True: "yes", False: "no", None: None}


def gate_document(question: GateQuestion, answer: GateAnswer) -> Document:
    """The answer first, then the checks, then the members that it waits for."""
    return Document(
        command="gate",
        data=_data(question, answer.result),
        blocks=list(_blocks(question, answer.result)),
        errors=answer.problems,
    )


def _data(question: GateQuestion, found: GateResult | None) -> dict[str, Any]:
    result = found or GateResult()
    strayed, steps = result.strayed, question.plan.steps
    return {
        "group": question.plan.group,
        "step": question.position + 1,
        "id": (question.step.id or None) if question.step else None,
        "round": question.round,
        "open": result.open,
        "reasons": list(result.reasons),
        "strayed": strayed is not None,
        "back_to": strayed
        and {
            "step": strayed.back_to + 1,
            "id": steps[strayed.back_to].id or None,
            "title": steps[strayed.back_to].title,
        },
        "refused": bool(result.differences),
        "differences": [fields(one, "what", "plan", "now") for one in result.differences],
        "waiting_for": [fields(one, "label", "id", "host", "why") for one in result.waiting_for],
        "checks": [fields(one, "check", "holds", "text") for one in result.checks],
    }


def _blocks(question: GateQuestion, result: GateResult | None) -> Iterator[Block]:
    if result is None:
        return
    yield Heading(_title(question), level=1)
    if result.differences:
        yield led(
            "Refused: the group does not match this plan, or no longer does. Make a new plan: kohort plan.",
            Role.BAD,
        )
        yield table_of(result.differences, ("SUBJECT", "what"), "PLAN", "NOW")
        return
    yield led(_answer(question, result), Role.BAD if result.strayed else _ROLES[result.open])
    holds = ("HOLDS", lambda check: _ANSWERS[check.holds])
    yield table_of(result.checks, holds, "CHECK", ("OBSERVED", "text"))
    if result.waiting_for:
        who = (("MEMBER", "label"), ("CONSUMER-ID", "id"))
        yield table_of(result.waiting_for, *who, "HOST", "WHY")
    if result.open is False and not result.strayed and question.step and question.step.dangers:
        yield Heading("Possible problems")
        yield table_of(question.step.dangers, ("PROBLEM", "what"), "SYMPTOM", ("ACTION", "then"))


def _title(question: GateQuestion) -> str:
    group, steps = question.plan.group, question.plan.steps
    if question.step is None:
        return f"{group}: before step 1 of {len(steps)}"
    of_round = f", round {question.round} of {len(question.step.rounds)}" if question.round else ""
    return f"{group}: step {question.position + 1} of {len(steps)}{of_round}: {question.step.title}"


def _answer(question: GateQuestion, result: GateResult) -> str:
    if result.strayed is not None:
        back = result.strayed.back_to
        title = question.plan.steps[back].title
        message = result.strayed.message.removesuffix(".")
        return f"Off plan: {message}. Go back to step {back + 1}: {title}."
    if result.open is False:
        return "Not complete: do not continue."
    if result.open is None:
        return "Unknown: do not continue until you know."
    return f"Open: {_next(question)}"


def _next(question: GateQuestion) -> str:
    steps, step = question.plan.steps, question.step
    if step is not None and question.round is not None and question.round < len(step.rounds):
        return f"continue with round {question.round + 1}: {', '.join(step.rounds[question.round])}."
    if step is not None and question.round is not None:
        return f"that was the last round. Now check the whole step (--step {question.position + 1})."
    following = question.position + 1
    if following < len(steps):
        return f"continue with step {following + 1}: {steps[following].title}."
    return "the plan is complete."
