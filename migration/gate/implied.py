"""What holds at every gate without being written in the plan."""

from __future__ import annotations

from collections.abc import Sequence

from migration.conditions import Condition, MemberCount, Replaced, Speaking
from migration.gate.answers import Check, await_all, count, name_all
from migration.gate.sight import Sight
from migration.gate.turnover import is_named
from migration.model import Step


def implied_conditions(step: Step, conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Of a round: a step that is complete when its members are replaced asks after each round for those so far."""
    of_step = any(isinstance(one, Replaced) for one in step.gate)
    return (Replaced(),) if of_step and not any(isinstance(one, Replaced) for one in conditions) else ()


def implied_checks(sight: Sight, step: Step, conditions: Sequence[Condition]) -> tuple[Check, ...]:
    """Restarted members have come back, and as they should."""
    found = (_all_are_back(sight, conditions), _come_back_as_they_should(sight, step))
    return tuple(check for check in found if check is not None)


def _all_are_back(sight: Sight, conditions: Sequence[Condition]) -> Check | None:
    """None where the plan counts the members itself, or does not restart them."""
    counted = any(isinstance(one, MemberCount) for one in conditions)
    restarted = any(isinstance(one, Replaced) for one in conditions)
    since = sight.turnover
    if counted or not restarted or since is None:
        return None
    if not since.missing:
        return Check(check="back", holds=True, text="everybody who was stopped has come back")
    return Check(
        check="back",
        holds=False,
        text=f"nobody came in the place of {name_all(since.missing)}",
        awaited=await_all(since.missing, "has gone, and nobody came in its place"),
    )


def _come_back_as_they_should(sight: Sight, step: Step) -> Check | None:
    """None where the step does not end in a protocol, or nobody noted who was there.

    Where it is not to be spoken by all, those who the rounds so far name; others may come back as they were.
    """
    speaking = next((one for one in step.gate if isinstance(one, Speaking)), None)
    since = sight.turnover
    if speaking is None or since is None:
        return None
    wanted, came = speaking.protocol, since.new
    if speaking.at_least is not None:
        due = {name for names in step.rounds[: sight.round] for name in names}
        came = tuple(one for one in came if is_named(one, due))
    spoken = {member.id: member.protocol for member in sight.members}
    wrong = [one for one in came if spoken[one.id] not in (wanted, None)]
    if not wrong:
        who = (
            "whoever came since" if speaking.at_least is None else "whoever was to be restarted and came back"
        )
        return Check(check="as-planned", holds=True, text=f"{who} speaks the {wanted.value} protocol")
    return Check(
        check="as-planned",
        holds=False,
        text=f"{count(len(wrong), 'member')} came back without the {wanted.value} protocol: {name_all(wrong)}",
        awaited=await_all(wrong, f"came back without the {wanted.value} protocol"),
    )
