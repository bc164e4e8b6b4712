"""The whole result of a gate, with the conditions of every gate, which no plan contains.

Before a step continues, restarted members must have rejoined as planned, and the group must have settled. The state
Stable is not enough: a cooperative group is Stable for a moment between two rebalances, with partitions without an
owner. If the next round starts then, some members (aiokafka) stall until a session expires.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from groups.counts import counted
from groups.model import Group, GroupState, GroupType, Member, Partitions
from migration.gate.answers import Check, GateResult, await_all, name_all, no, undecided, yes
from migration.gate.checks import check_condition
from migration.gate.observation import GateObservation, is_named
from migration.gate.staleness import differences, find_deviation
from migration.model import Condition, Leads, MemberCount, PlannedMember, Precedes, Replaced, Speaking, Step


def judge_gate(observed: GateObservation, *, accept_drift: bool = False) -> GateResult:
    """Evaluate the gate of a step or of a round, or (at position -1) whether the first step can start.

    With `accept_drift`, a group whose topics or members have changed is judged all the same.
    """
    found = tuple(each for each in differences(observed) if not (each.drift and accept_drift))
    if found:
        return GateResult(differences=found)
    if observed.step is None:
        return GateResult(checks=(check_settled(observed), _group_exists(observed)))
    return GateResult(strayed=find_deviation(observed), checks=_checks(observed, observed.step))


def needs_leader(step: Step | None) -> bool:
    """Whether a step's gate needs the leader, which a live source reads at additional cost."""
    if step is None:
        return False
    asked = (*step.gate, *step.between, *(one for stray in step.strays for one in stray.conditions))
    return any(isinstance(one, Precedes | Leads) for one in asked)


def _checks(observed: GateObservation, step: Step) -> tuple[Check, ...]:
    of_round = (*step.between, *implied_conditions(step, step.between))
    conditions = step.gate if observed.round is None else of_round
    if not conditions:
        return (
            undecided(
                "gate", "the plan has no condition for this step that a broker can answer", by_waiting=False
            ),
        )
    checks = tuple(check_condition(one, observed) for one in conditions)
    return (*checks, *implied_checks(observed, step, conditions), check_settled(observed))


def _group_exists(observed: GateObservation) -> Check:
    if observed.group is not None:
        return yes("plan", "the group matches the plan")
    return no("plan", f"there is no group {observed.plan.group}")


def implied_conditions(step: Step, conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Conditions of a round: in a step that replaces members, the members of the rounds so far must be replaced."""
    of_step = any(isinstance(one, Replaced) for one in step.gate)
    return (Replaced(),) if of_step and not any(isinstance(one, Replaced) for one in conditions) else ()


def implied_checks(
    observed: GateObservation, step: Step, conditions: Sequence[Condition]
) -> tuple[Check, ...]:
    """Checks that restarted members have rejoined as planned."""
    found = (_all_rejoined(observed, conditions), _rejoined_as_planned(observed, step))
    return tuple(check for check in found if check is not None)


def _all_rejoined(observed: GateObservation, conditions: Sequence[Condition]) -> Check | None:
    """Check that every stopped member has rejoined; None if the plan counts or does not restart members."""
    counted = any(isinstance(one, MemberCount) for one in conditions)
    restarted = any(isinstance(one, Replaced) for one in conditions)
    since = observed.membership_diff
    if counted or not restarted or since is None:
        return None
    if not since.missing:
        return yes("back", "every stopped member has rejoined")
    return no(
        "back",
        f"no member replaced {name_all(since.missing)}",
        awaited=await_all(since.missing, "has left, and no member replaced it"),
    )


def _rejoined_as_planned(observed: GateObservation, step: Step) -> Check | None:
    """Check that new members speak the step's protocol; None without one, or if earlier members were not recorded.

    If only some members must speak it, only those of the rounds so far are checked; others may rejoin unchanged.
    """
    speaking = next((one for one in step.gate if isinstance(one, Speaking)), None)
    since = observed.membership_diff
    if speaking is None or since is None:
        return None
    wanted, came = speaking.protocol, since.new
    if speaking.at_least is not None:
        due = {name for names in step.rounds[: observed.round] for name in names}
        came = tuple(one for one in came if is_named(one, due))
    spoken = {member.id: member.protocol for member in observed.members}
    wrong = [one for one in came if spoken[one.id] not in (wanted, None)]
    if not wrong:
        who = "every new member" if speaking.at_least is None else "every restarted member"
        return yes("as-planned", f"{who} speaks the {wanted.value} protocol")
    return no(
        "as-planned",
        f"{counted(len(wrong), 'member')} rejoined without the {wanted.value} protocol: {name_all(wrong)}",
        awaited=await_all(wrong, f"rejoined without the {wanted.value} protocol"),
    )


NAME = "rest"
SHOWN = 5


def check_settled(observed: GateObservation) -> Check:
    """Check that no rebalance is in progress, no member is reconciling, and every partition has an owner."""
    group = observed.group
    if group is None:
        return yes(NAME, "there is no group to rebalance")
    if group.state is GroupState.UNKNOWN:
        return undecided(NAME, "whether a rebalance is in progress is unknown")
    if not observed.is_settled:
        return no(NAME, f"a rebalance is in progress: the group is {group.state.value}")
    late = [PlannedMember.of(member) for member in group.members if _is_reconciling(group, member)]
    if late:
        return no(
            NAME,
            f"{counted(len(late), 'member')} not yet at the target assignment: {name_all(late)}",
            awaited=await_all(late, "has not reached its target assignment"),
        )
    unowned = list(islice(_unowned(observed), SHOWN + 1))
    if unowned:
        more = " and more" if len(unowned) > SHOWN else ""
        shown = ", ".join(unowned[:SHOWN])
        return no(NAME, f"no member owns {shown}{more}: another rebalance is expected")
    return yes(NAME, "the group has settled")


def check_steady(before: Group | None, after: Group | None) -> Check:
    """Check that two observations, a moment apart, are equal."""
    if before == after:
        return yes("steady", "two observations are equal")
    return no("steady", "the group changed between two observations: it has not settled")


def _is_reconciling(group: Group, member: Member) -> bool:
    if group.type is not GroupType.CONSUMER:
        return False
    if None not in (member.epoch, group.assignment_epoch) and member.epoch != group.assignment_epoch:
        return True
    if member.owned is None or member.target is None:
        return False
    return _taken(member.owned) != _taken(member.target)


def _taken(partitions: Partitions) -> dict[str, tuple[int, ...]]:
    return {topic: tuple(sorted(numbers)) for topic, numbers in partitions.items() if numbers}


def _unowned(observed: GateObservation) -> Iterator[str]:
    """Partitions that had an owner when the plan was made, and no longer do.

    Empty if some partitions had no owner even then: a custom assignor, or a topic that the leader may not see.
    """
    baseline = observed.plan.baseline
    if baseline is None or not observed.members or any(member.owned is None for member in observed.members):
        return
    if sum(member.partitions for member in baseline.members) < sum(baseline.partitions.values()):
        return
    owned = {
        (topic, number)
        for member in observed.members
        for topic, numbers in (member.owned or {}).items()
        for number in numbers
    }
    for topic in sorted(baseline.partitions):
        for number in range(observed.partitions.get(topic, 0)):
            if (topic, number) not in owned:
                yield f"{topic}-{number}"
