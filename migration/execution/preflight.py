"""Whether a plan can be carried out at all, before anything is restarted; and which members share a process."""

from collections.abc import Iterator, Mapping

from groups.classic_streams import instance_of
from groups.counts import first_names
from groups.findings import Level
from migration.bridge import BRIDGE
from migration.execution.settings import UnknownLibraryError, settings_after
from migration.model import Plan, Step


class CannotCarryOutError(Exception):
    """No command can carry out the plan; the message says why, and what to do instead."""


def check_plan(plan: Plan) -> None:
    """Raises CannotCarryOutError: the plan is blocked, has a step for the application alone, or names members that it
    does not know."""
    reason = next(_reasons(plan), None)
    if reason is not None:
        raise CannotCarryOutError(reason)


def _reasons(plan: Plan) -> Iterator[str]:
    if plan.baseline is None:
        yield "the plan does not name the group that it was made for: make a new plan"
        return
    if plan.has_blocker:
        blockers = [finding.message for finding in plan.findings if finding.level is Level.BLOCKER]
        yield f"the plan is blocked: {' '.join(blockers)}"
    members = {member.id: member for member in plan.baseline.members}
    for number, step in enumerate(plan.steps, 1):
        yield from _reasons_of_step(number, step, members)
    for member in members.values():
        try:
            settings_after(plan.steps, member.library)
        except UnknownLibraryError as error:
            name = member.label
            yield f"{error}, and which of them {name} uses is not known: make the plan with --client {name}=LIBRARY"


def _reasons_of_step(number: int, step: Step, members: Mapping[str, object]) -> Iterator[str]:
    named = f"step {number} ({step.title})"
    if step.rollout is None or not any(step.rollout.rounds):
        if step.rounds:
            yield f"{named} has rounds, but not the ids of their members: make a new plan"
        elif not members:
            yield (
                f"the group had no members when the plan was made, so {named} names none to start. Start the "
                "application with the lines of the step and run its gate: kohort gate --wait; or make the plan with "
                "--offline while the members run"
            )
        else:
            yield f"{named} restarts no member of the plan: do it, then make a new plan"
        return
    temporary = {one.id for one in step.rollout.temporary_members}
    unknown = [
        seat
        for seats in step.rollout.rounds
        for seat in seats
        if seat not in members and seat not in temporary
    ]
    if unknown:
        yield f"{named} restarts {first_names(unknown)}, not among the members of the plan: make a new plan"


def processes_of(plan: Plan) -> Mapping[str, str]:
    """The process of each member that shares one, as far as client ids and libraries show it, by the ids of the plan:
    the threads of an instance of Kafka Streams, and the tasks of a connector, which start and stop together."""
    members = [one for one in (plan.baseline.members if plan.baseline else ()) if one.client_id != BRIDGE]
    if members and {member.library for member in members} == {"connect"}:
        return {member.id: plan.group for member in members}
    instances = {member.id: (instance_of(member.client_id), member.host) for member in members}
    return {id_: f"{name} {host}" for id_, (name, host) in instances.items() if name}
