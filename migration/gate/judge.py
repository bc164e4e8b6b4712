"""The whole result of a gate, with the conditions of every gate, which no plan contains.

Before a step continues, restarted members must have rejoined as planned, and the group must have settled: a
cooperative group is Stable for a moment between two rebalances, and if the next round starts then, some members
(aiokafka) stall until a session expires. A plan for another group or an outdated plan is refused (`differences`), but
it may have been carried out up to any step. A group that has left the plan has a step to return to
(`find_deviation`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from groups.counts import counted
from groups.model import Group, GroupState, GroupType, Member, MemberProtocol, Partitions
from migration import model
from migration.gate.checks import check_condition
from migration.gate.observation import (
    Check,
    GateObservation,
    GateResult,
    ObservedDeviation,
    PlanMismatch,
    StepOutcome,
    await_all,
    is_named,
    name_all,
    no,
    outcomes,
    undecided,
    yes,
)

STEADY_S = 1.0
"""Interval between the two observations before a gate opens: a cooperative group is briefly Stable between two
rebalances."""


def judge_gate(observed: GateObservation, *, accept_drift: bool = False) -> GateResult:
    """The result of a gate, or (at -1) whether the first step can start; `accept_drift`: of topics, members."""
    changed = tuple(one for one in differences(observed) if not (one.drift and accept_drift))
    if changed:
        return GateResult(differences=changed)
    if observed.step is None:
        matches = yes("plan", "the group matches the plan")
        gone = no("plan", f"there is no group {observed.plan.group}")
        return GateResult(checks=(check_settled(observed), gone if observed.group is None else matches))
    return GateResult(strayed=find_deviation(observed), checks=_checks(observed, observed.step))


def needs_leader(step: model.Step | None) -> bool:
    """Whether a step's gate needs the leader, which a live source reads at additional cost."""
    if step is None:
        return False
    asked = (*step.gate, *step.between, *(one for stray in step.strays for one in stray.conditions))
    return any(isinstance(one, model.Precedes | model.Leads) for one in asked)


def _checks(observed: GateObservation, step: model.Step) -> tuple[Check, ...]:
    conditions: Sequence[model.Condition] = step.gate
    if observed.round is not None:
        # In a step that replaces members, the members of the rounds so far must be replaced.
        kinds = [{type(one) for one in asked} for asked in (step.gate, step.between)]
        conditions = (*step.between, *((model.Replaced(),) if model.Replaced in kinds[0] - kinds[1] else ()))
    if not conditions:
        text = "the plan has no condition for this step that a broker can answer"
        return (undecided("gate", text, by_waiting=False),)
    implied = (_all_rejoined(observed, conditions), _rejoined_as_planned(observed, step))
    return (
        *(check_condition(one, observed) for one in conditions),
        *(check for check in implied if check is not None),
        check_settled(observed),
    )


def _all_rejoined(observed: GateObservation, conditions: Sequence[model.Condition]) -> Check | None:
    """Check that every stopped member has rejoined; None if the plan counts or does not restart members."""
    counted = any(isinstance(one, model.MemberCount) for one in conditions)
    restarted = any(isinstance(one, model.Replaced) for one in conditions)
    since = observed.membership_diff
    if counted or not restarted or since is None:
        return None
    if not since.missing:
        return yes("back", "every stopped member has rejoined")
    awaited = await_all(since.missing, "has left, and no member replaced it")
    return no("back", f"no member replaced {name_all(since.missing)}", awaited=awaited)


def _rejoined_as_planned(observed: GateObservation, step: model.Step) -> Check | None:
    """Check that new members speak the step's protocol, as many as must; None if that cannot be judged."""
    speaking = next((one for one in step.gate if isinstance(one, model.Speaking)), None)
    since = observed.membership_diff
    if speaking is None or since is None:
        return None
    protocol, came = speaking.protocol, since.new
    if speaking.at_least is not None:
        due = {name for names in step.rounds[: observed.round] for name in names}
        came = tuple(one for one in came if is_named(one, due))
    spoken = {member.id: member.protocol for member in observed.members}
    wrong = [one for one in came if spoken[one.id] not in (protocol, None)]
    if not wrong:
        who = "every new member" if speaking.at_least is None else "every restarted member"
        return yes("as-planned", f"{who} speaks the {protocol.value} protocol")
    what = f"rejoined without the {protocol.value} protocol"
    text = f"{counted(len(wrong), 'member')} {what}: {name_all(wrong)}"
    return no("as-planned", text, awaited=await_all(wrong, what))


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
    late = [model.PlannedMember.of(member) for member in group.members if _is_reconciling(group, member)]
    if late:
        text = f"{counted(len(late), 'member')} not yet at the target assignment: {name_all(late)}"
        return no(NAME, text, awaited=await_all(late, "has not reached its target assignment"))
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
    """Partitions that have lost their owner since the plan was made; empty if some had none even then."""
    baseline = observed.plan.baseline
    if baseline is None or not observed.members or any(member.owned is None for member in observed.members):
        return
    if sum(member.partitions for member in baseline.members) < sum(baseline.partitions.values()):
        return
    for topic in sorted(baseline.partitions):
        owned = {number for member in observed.members for number in (member.owned or {}).get(topic, ())}
        for number in range(observed.partitions.get(topic, 0)):
            if number not in owned:
                yield f"{topic}-{number}"


GONE = "gone"


def differences(observed: GateObservation) -> tuple[PlanMismatch, ...]:
    """Differences between the group that the plan was made for and the present one; empty without a baseline."""
    baseline = observed.plan.baseline
    if baseline is None:
        return ()
    cluster = tuple(_cluster(observed, baseline))
    if cluster or observed.group is None:
        return cluster
    changes = [*_kind(observed), *_partitions(observed, baseline), *_topics(observed, baseline)]
    if observed.position < 0:
        changes += _members(observed)
    return tuple(changes)


def is_mixed(observed: GateObservation) -> bool:
    return {member.protocol for member in observed.members} >= set(MemberProtocol)


def _cluster(observed: GateObservation, baseline: model.Baseline) -> Iterator[PlanMismatch]:
    now = observed.cluster.id
    if None not in (baseline.cluster, now) and baseline.cluster != now:
        yield PlanMismatch(what="cluster id", plan=str(baseline.cluster), now=str(now))


def _kind(observed: GateObservation) -> Iterator[PlanMismatch]:
    """A type or an assignor that no step leads to."""
    group, ways = observed.group, outcomes(observed.plan)
    if observed.position < 0:
        ways = ways[:1]
    if group is None or group.type is GroupType.UNKNOWN:
        return
    kinds = {way.type for way in ways}
    if None not in kinds and group.type not in kinds:
        # One unplanned member of the other protocol is enough for a mixed group; the operator can stop it.
        if not (is_mixed(observed) and observed.position >= 0):
            planned = _either(way.type.value for way in ways if way.type)
            yield PlanMismatch(what="group type", plan=planned, now=group.type.value)
        return
    names = [way.protocol for way in ways if way.type in (group.type, None)]
    if group.protocol and None not in names and group.protocol not in names:
        yield PlanMismatch(what="assignor", plan=_either(str(name) for name in names), now=group.protocol)


def _partitions(observed: GateObservation, baseline: model.Baseline) -> Iterator[PlanMismatch]:
    for topic, then in sorted(baseline.partitions.items()):
        now, what = observed.partitions.get(topic, then), f"partitions of {topic}"
        if now != then:
            yield PlanMismatch(what=what, plan=str(then), now=str(now) if now else GONE, drift=True)


def _topics(observed: GateObservation, baseline: model.Baseline) -> Iterator[PlanMismatch]:
    """Changed subscriptions; only if all members show theirs, and none has a regex that the broker matches."""
    members = [member for member in observed.members if member.client.id not in observed.temporary_ids]
    if not members or not observed.is_settled or not baseline.topics:
        return
    now: set[str] = set()
    for member in members:
        if member.subscription is None or member.subscription.regex:
            return
        owned = [topic for topic, numbers in (member.owned or {}).items() if numbers]
        now.update(member.subscription.topics, owned)
    gone = {topic for topic, count in observed.partitions.items() if not count}
    for topic in sorted(set(baseline.topics) - now - gone):
        yield PlanMismatch(what=f"topic {topic}", plan="read", now="not subscribed to", drift=True)
    for topic in sorted(now - set(baseline.topics)):
        yield PlanMismatch(what=f"topic {topic}", plan="not read", now="subscribed to", drift=True)


def _members(observed: GateObservation) -> Iterator[PlanMismatch]:
    """Members that joined or left before the first step; a restarted member counts as the same."""
    since = observed.since_plan
    missing, surplus = (since.missing, since.surplus) if since else ((), ())
    for members, plan, now in ((missing, "there", GONE), (surplus, "not there", "there")):
        for one in members:
            name = one.label if one.label == one.id else f"{one.label} ({one.id})"
            yield PlanMismatch(what=f"member {name}", plan=plan, now=now, drift=True)


def _either(names: Iterator[str]) -> str:
    return " or ".join(dict.fromkeys(names))


def find_deviation(observed: GateObservation) -> ObservedDeviation | None:
    """The first deviation found: first those that the plan lists, then those of every plan."""
    if observed.group is None or observed.position < 0:
        return None
    kinds = (_of_plan, _reverted, _old_member_rejoined, _unplanned)
    return next((deviation for kind in kinds for deviation in kind(observed)), None)


def _of_plan(observed: GateObservation) -> Iterator[ObservedDeviation]:
    ids = [step.id for step in observed.plan.steps]
    whole = observed if observed.round is None else replace(observed, round=None)
    for stray in observed.step.strays if observed.step else ():
        if all(check_condition(one, whole).holds for one in stray.conditions):
            yield ObservedDeviation(message=stray.message, back_to=ids.index(stray.back_to))


def _reverted(observed: GateObservation) -> Iterator[ObservedDeviation]:
    """The group has the type or assignor of an earlier step; if the gate has been open, not of a later one."""
    ways, group, position = outcomes(observed.plan), observed.group, observed.position
    if group is None or group.state is not GroupState.STABLE:
        return
    begin = position + 1 if observed.was_open else position
    now = StepOutcome(type=group.type, protocol=group.protocol or None)
    end = len(ways) if observed.was_open else position + 2
    if any(_agree(now, way) for way in ways[begin:end]):
        return
    for index in range(begin - 1, -1, -1):
        if _agree(now, ways[index]) and not _agree(now, ways[index + 1]):
            message = f"the group reverted: it is {now}, and was {ways[index + 1]} after step {index + 1}"
            yield ObservedDeviation(message=message, back_to=index)
            return


def _agree(now: StepOutcome, way: StepOutcome) -> bool:
    if way.type is not None and now.type is not way.type:
        return False
    return None in (way.protocol, now.protocol) or now.protocol == way.protocol


def _old_member_rejoined(observed: GateObservation) -> Iterator[ObservedDeviation]:
    """After a completed step all members spoke one protocol, and now some member speaks another."""
    last = observed.position + 1 if observed.was_open else observed.position
    for index in range(last - 1, -1, -1):
        spoken = [one for one in observed.plan.steps[index].gate if isinstance(one, model.Speaking)]
        protocols = [one.protocol for one in spoken if one.at_least is None]
        if not protocols:
            continue
        others = [one for one in observed.members if one.protocol not in (protocols[-1], None)]
        back = [model.PlannedMember.of(one) for one in others if one.client.id not in observed.temporary_ids]
        if back:
            yield ObservedDeviation(
                message=f"after step {index + 1} every member spoke the {protocols[-1].value} protocol, and "
                f"{name_all(back)} does not: stop it, or restart it with the configuration of that step",
                back_to=index,
            )
        return


def _unplanned(observed: GateObservation) -> Iterator[ObservedDeviation]:
    """Members of a protocol that the plan does not use, or more members than it has."""
    kinds, group = {way.type for way in outcomes(observed.plan)}, observed.group
    is_mixed_consumer = group is not None and group.type is GroupType.CONSUMER and is_mixed(observed)
    if is_mixed_consumer and not kinds & {GroupType.CONSUMER, None}:
        new = [
            model.PlannedMember.of(one) for one in observed.members if one.protocol is MemberProtocol.CONSUMER
        ]
        yield ObservedDeviation(
            message=f"no step of this plan uses the consumer protocol, and {name_all(new)} speaks it: stop it. The "
            "group is classic again when the last such member has left",
            back_to=observed.position,
        )
    others = check_condition(model.OthersAlso(), observed)
    if others.holds and group and group.state is GroupState.STABLE:
        killed = "A killed member stays until its session expires"
        message = f"{others.text}. Stop it, or make a new plan that includes it. {killed}"
        yield ObservedDeviation(message=message, back_to=observed.position, by_waiting=True)
