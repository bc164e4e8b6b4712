"""The online path of a librdkafka cooperative-sticky group to the consumer protocol, with a bridge leader.

A leader of another library writes no user data into assignments: `kohort bridge` joins at the first place in the
order of succession, then the leader is restarted. Source: the field study, section 6 (10 of 10); docs/bridge.md.
"""

import shlex
from collections.abc import Sequence
from dataclasses import replace

from groups.model import GroupType, Member
from groups.succession import leader_of, leads
from migration import commands, model
from migration.bridge import BRIDGE, bridge_plan, subscribed_to
from migration.paths import configuration
from migration.paths.path import GONE, INCONSISTENT, STABLE, Path, PathContext, in_rounds
from migration.paths.rolling import first_member, offline, other_members

EMPTY_TOPIC = "kohort-bridge-empty"
COOPERATIVE = "cooperative-sticky"
START, RESTART_BLOCKING, LEAD = "start-bridge", "make-way", "bridge-leads"
BACK, STOP = "leader-back", "stop-bridge"
AS_IT_IS = model.MemberStart(assignors=(COOPERATIVE,))
LEADS: tuple[model.Condition, ...] = (
    STABLE,
    model.ProtocolIs(protocol=COOPERATIVE),
    model.Leads(client_id=BRIDGE),
    model.NoUserData(),
)
GONE_BRIDGE = model.Deviation(
    conditions=(STABLE, model.Absent(client_id=BRIDGE)), message="The bridge has left.", back_to=START
)


def bridge_leader(context: PathContext) -> Path:
    """Start the bridge, restart the leader, convert with one member (the bridge then leaves), restart the rest."""
    ordered = context.ordered(context.members)
    leader = leader_of(context.case.group)
    # The leader is restarted for the bridge, so another member is the first to speak the consumer protocol.
    first = next((member for member in ordered if member.id != leader), ordered[0])
    rest = [member for member in ordered if member is not first]
    blocking = _blocking_members(context)
    return Path(
        name="bridge leader",
        steps=(
            _start_bridge(context, has_place=not blocking),
            *((_restart_blocking(context, blocking),) if blocking else ()),
            *(() if leads(context.case.group, BRIDGE) else _leader_leaves(context, leader)),
            _convert(context, first),
            other_members(context, rest, fallen_back_to=START),
        ),
        alternatives=(
            _console_consumer(context),
            offline(),
            model.Alternative(
                title="One member at a time, as in librdkafka's migration guide",
                why_not="The broker refuses the first one with GROUP_ID_NOT_FOUND: librdkafka's cooperative-sticky "
                "leader has put user data into the assignments. It works on a fresh group, where no member has "
                "rejoined yet, so a trial proves nothing.",
            ),
            model.Alternative(
                title="A list of cooperative-sticky and range",
                why_not="librdkafka refuses to construct such a consumer (librdkafka issues 4368 and 3589).",
            ),
        ),
    )


def _blocking_members(context: PathContext) -> list[Member]:
    """Known followers that no new id can precede; they are restarted to get new ids."""
    if context.has_bridge:
        return []
    plan = bridge_plan(context.case.group)
    ids = {restart.member for restart in plan.restart or ()} - {plan.leader}
    return [member for member in context.members if member.id in ids]


def _console_consumer(context: PathContext) -> model.Alternative:
    kafka = context.case.request.connection.kafka
    return model.Alternative(
        title="Kafka's console consumer as the bridge, without `kohort bridge`",
        why_not="Its place in the order of succession is random, and it stays until you stop it. Use it where Kohort "
        f"cannot be a member. Create a topic without records (`kafka-topics.sh {kafka} --create --if-not-exists "
        f"--topic {EMPTY_TOPIC} --partitions 1`), and run in step 1 `kafka-console-consumer.sh {kafka} --topic "
        f"{EMPTY_TOPIC} --group {shlex.quote(context.group)} --command-property client.id={BRIDGE} --command-property "
        "enable.auto.commit=false --command-property group.protocol=classic --command-property "
        f"partition.assignment.strategy={configuration.JAVA_COOPERATIVE}` (before Kafka 4.2 the option is called "
        "--consumer-property). While the check reports that it does not come first, follow the check: usually, stop "
        "it with Ctrl-C, wait until it has exited, and start it again. In a large group, start several at once: one "
        "in the right place is enough. When the group is of type consumer and Stable, stop it with Ctrl-C and delete "
        "the topic.",
    )


def _start_bridge(context: PathContext, *, has_place: bool) -> model.Step:
    """The step that starts the bridge; `has_place`: whether a new id may come first without a restart."""
    actions: tuple[str, ...] = (
        "Run the first command below. It changes nothing: it shows the leader, and which members restart in which "
        "order.",
        "Run the second command in its own terminal, and leave it running. It asks before it joins, and prints a line "
        "for each step: `rejoin`, then `restart` with the member to restart (the next step here).",
    )
    connection = context.case.request.connection
    shell = [commands.bridge(context.group, connection, runs=runs) for runs in (False, True)]
    if context.has_bridge:
        there = "A bridge is already a member: leave it running, and continue with the check. A second one is refused."
        actions, shell = (there,), []
    first = " that comes first of all members but the leader in the broker's order of succession"
    return model.Step(
        id=START,
        title="Start the bridge: a temporary member that owns nothing",
        actions=actions,
        shell=tuple(shell),
        expect="The bridge joins under an id that comes first after the leader, is assigned nothing and commits "
        "nothing. Cooperative members keep what they own in the rebalance that it causes.",
        rollout=model.Rollout(
            action=model.RoundAction.START,
            rounds=((BRIDGE,),),
            start=AS_IT_IS,
            temporary_members=(model.TemporaryMember(id=BRIDGE, topics=subscribed_to(COOPERATIVE)),),
        ),
        complete_when=f"The group is Stable, and the bridge is a member{first if has_place else ''}.",
        gate=(*_with_all_members(context), *((model.Precedes(client_id=BRIDGE),) if has_place else ())),
        dangers=(
            model.Risk(
                what="Kohort cannot be a member: its own client does not support the login, or it must not run there.",
                symptom="`the bridge cannot log in to …`, exit status 4.",
                then="Use Kafka's console consumer as the bridge (under `Paths not taken`): the checks recognize both "
                "by their client id.",
            ),
            model.Risk(
                what="The bridge lists other assignors than cooperative-sticky (a console consumer).",
                symptom=f"It exits with {INCONSISTENT}.",
                then="Start it with exactly the command line given.",
            ),
        ),
        rollback="Stop the bridge with Ctrl-C: it leaves the group.",
    )


def _with_all_members(context: PathContext) -> tuple[model.Condition, ...]:
    """The group is Stable with all its members and the bridge."""
    return (STABLE, model.Present(client_id=BRIDGE), model.MemberCount(at_least=context.size + 1))


def _restart_blocking(context: PathContext, blocking: Sequence[Member]) -> model.Step:
    rounds = in_rounds(context, blocking, 1)
    return model.Step(
        id=RESTART_BLOCKING,
        title="Restart the members that come before every new id",
        actions=(
            "Restart the members below with their configuration unchanged. They are in the first bin of the broker's "
            "map of members: no bridge can come before them, and the bridge asks for each.",
            "A new id may fall into the first bin again. The bridge and the check of the step name the member: "
            "restart it once more.",
        ),
        rounds=rounds.names,
        expect="Each member rejoins under a new id, in a new place. The bridge rejoins where that gives it a better "
        "place. Records of a restarted member wait for seconds.",
        rollout=rounds.rollout(model.RoundAction.RESTART, AS_IT_IS),
        complete_when="The bridge comes first of all members but the leader in the broker's order of succession.",
        between=(*_with_all_members(context), model.Replaced()),
        gate=(*_with_all_members(context), model.Replaced(), model.Precedes(client_id=BRIDGE)),
        rollback="Stop the bridge. Nothing else has changed.",
    )


def _leader_leaves(context: PathContext, leader: str | None) -> tuple[model.Step, ...]:
    """Restart the leader; a static leader is stopped until its session has expired, and started again."""
    candidates = [member for member in context.members if leader in (member.id, None)]
    rounds = in_rounds(context, candidates, 1)
    stops = leader is not None and candidates[0].instance is not None
    members = model.MemberCount(at_least=context.size + (0 if stops else 1))
    lead = model.Step(
        id=LEAD,
        title=f"{'Stop' if stops else 'Restart'} the leader: the bridge leads",
        actions=_how_it_leaves(context, leader, stops=stops),
        rounds=rounds.names,
        expect="The leader leaves, the bridge leads, and the next assignments come from it, without user data. "
        f"Records of the {'stopped' if stops else 'restarted'} member wait"
        + (" until its session has ended." if stops else " for seconds."),
        rollout=rounds.rollout(
            *((model.RoundAction.STOP, None) if stops else (model.RoundAction.RESTART, AS_IT_IS))
        ),
        complete_when="The bridge leads, and no member's assignment carries user data.",
        between=(STABLE, members, model.Replaced(), model.Precedes(client_id=BRIDGE)),
        gate=(*LEADS, members),
        # If the leader is unknown, others may restart first: the bridge may rejoin then, and be absent for a moment.
        strays=() if leader is None else (GONE_BRIDGE,),
        dangers=(
            model.Risk(
                what="A member other than the bridge has become the leader: it joined meanwhile and took the bridge's "
                "place in the order.",
                symptom="The gate does not open: the assignments still carry user data, or the bridge does not lead.",
                then="Restart the member that the bridge's last line names. With a console consumer, start again with "
                "step 1.",
            ),
        ),
        rollback="Stop the bridge. A librdkafka member leads again; nothing else has changed.",
    )
    if not stops:
        return (lead,)
    back = model.Step(
        id=BACK,
        title="Start the former leader again",
        actions=(f"Start {context.names[candidates[0].id]} again, with its configuration unchanged.",),
        rounds=rounds.names,
        expect="It rejoins as a follower. Cooperative members revoke only the partitions that it gets.",
        rollout=rounds.rollout(model.RoundAction.START, AS_IT_IS),
        complete_when="The group is Stable with all its members, and the bridge leads.",
        gate=(*LEADS, model.MemberCount(at_least=context.size + 1)),
        strays=(GONE_BRIDGE,),
        rollback=lead.rollback,
    )
    return (lead, back)


def _how_it_leaves(context: PathContext, leader: str | None, *, stops: bool) -> tuple[str, ...]:
    if leader is None:
        static = (
            "Keep a static leader stopped until its session has expired: restarted at once, it leads again."
        )
        return (
            "The leader is not known from this source. The bridge's line `restart` names it; so do the broker's log "
            "(`Assignment received from leader M for group G for generation N`) and `kohort bridge` or `kohort "
            "describe --migration` of a live cluster. Restart that member alone, with its configuration unchanged: it "
            "stays on the classic protocol.",
            "If none of these shows the leader, restart the members one at a time, and run the gate of this step "
            "(without --wait) after each. As soon as it opens, the step is complete: do not restart the others.",
            *((static,) if context.has_static else ()),
        )
    if stops:
        return (
            f"Stop {context.names[leader]}, the leader of the group, and keep it stopped until its session has expired "
            "(session.timeout.ms, 45 s by default). It is static: if it rejoins earlier, it leads again.",
        )
    return (
        f"Restart {context.names[leader]}, the leader of the group, with its configuration unchanged: it stays on the "
        "classic protocol.",
    )


def _convert(context: PathContext, first: Member) -> model.Step:
    """The step that starts the first member of the consumer protocol, after which the bridge leaves."""
    step = first_member(context, [first])
    return replace(
        step,
        actions=(
            *step.actions,
            "Between stop and start, wait until the bridge prints `lead` again: then no partition changes owners.",
        ),
        expect=f"{step.expect} The bridge leaves by itself when the group is of type consumer and Stable (its line "
        "`converted`), and exits. From then on the broker assigns, and the leader no longer matters.",
        rollout=replace(step.rollout, leaving=(BRIDGE,)) if step.rollout else None,
        complete_when=f"{step.complete_when} The bridge has left.",
        gate=(*step.gate, model.Absent(client_id=BRIDGE)),
        strays=(
            model.Deviation(
                conditions=(model.TypeIs(type=GroupType.CLASSIC), STABLE, model.Absent(client_id=BRIDGE)),
                message="The group is classic and the bridge has left: a librdkafka member leads and writes user data.",
                back_to=START,
            ),
            *step.strays,
        ),
        dangers=(
            *step.dangers,
            model.Risk(
                what="The bridge exits before the group is of type consumer.",
                symptom="The group is classic, a librdkafka member leads, and the first member of the consumer "
                "protocol gets GROUP_ID_NOT_FOUND.",
                then="Start again with step 1.",
            ),
            model.Risk(
                what="The bridge does not leave.",
                symptom=f"The group is of type consumer and Stable, and the check reports that {BRIDGE} is a member.",
                then="A console consumer stays until it is stopped: press Ctrl-C where it runs.",
            ),
        ),
        rollback=f"{step.rollback} Once the bridge has left, the leader writes user data again: start again with step "
        "1.",
    )


def stop_leftover_bridge(context: PathContext) -> model.Step:
    """The step that stops a bridge that the plan does not need: a classic member would keep the gates closed."""
    return model.Step(
        id=STOP,
        title="Stop the bridge that an earlier plan left",
        actions=(
            f"Stop every member with the client id {BRIDGE}, with Ctrl-C where it runs. It is not one of the members "
            "below.",
        ),
        expect="No partition of the real topics moves: the bridge owns none of them.",
        complete_when="The bridge has left, and the group is Stable, or Empty if it had no other members.",
        gate=(STABLE if context.size else GONE, model.Absent(client_id=BRIDGE)),
        dangers=(
            model.Risk(
                what="It is not known where the bridge runs.",
                symptom=f"`kohort describe --members` shows {BRIDGE} and its host.",
                then="Stop its process on that host.",
            ),
        ),
        rollback="None needed: the bridge consumes nothing.",
    )
