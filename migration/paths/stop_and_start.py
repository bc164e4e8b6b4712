"""All members stop, all members start: the path if no online path exists.

A group without members takes the protocol of its first new member, under any migration policy. Committed offsets
stay.
"""

from collections.abc import Sequence

from groups.model import GroupType, MemberProtocol
from migration import model
from migration.paths import configuration
from migration.paths import path as dangers
from migration.paths.path import EAGER, GONE, STABLE, Path, PathContext, in_rounds, new_release

COOPERATIVE = "cooperative-sticky"
STOP, START = "stop-all", "start-all"


def stop_and_start(context: PathContext, *alternatives: model.Alternative) -> Path:
    return Path(name="stop and start", steps=(stop_all(context), _start(context)), alternatives=alternatives)


def start(context: PathContext) -> Path:
    return Path(name="start", steps=(_start(context),))


def classic_assignor(context: PathContext) -> str:
    """The assignor of the future classic group: the requested one, one that its members list, or Kafka's first
    default. A listed or default assignor is skipped if some library lacks it: every member must be able to list
    it."""
    if context.case.request.assignor:
        return context.case.request.assignor
    if context.case.destination is model.Destination.COOPERATIVE:
        return COOPERATIVE
    listed = [name for member in context.members for name in member.protocols or ()]
    if context.case.destination is model.Destination.EAGER:
        listed = [name for name in listed if name in EAGER]
    return next(filter(context.all_have, [*listed, "range"]), context.plain_assignor)


def stop_all(context: PathContext) -> model.Step:
    rounds = in_rounds(context, context.members, context.size)
    static = (
        (
            "A stopped static member stays in the group until its session expires (session.timeout.ms of a classic "
            "member, 45 s by default; group.consumer.session.timeout.ms of a member of the consumer protocol). Wait "
            "for it.",
        )
        if context.has_static
        else ()
    )
    return model.Step(
        id=STOP,
        title="Stop all members",
        actions=(*_stop_actions(context), *static),
        rounds=rounds.names,
        expect="Nothing is consumed from here until the next step is complete.",
        rollout=rounds.rollout(model.RoundAction.STOP, None),
        complete_when="The group is Empty.",
        gate=(GONE,),
        dangers=(
            model.Risk(
                what="A member is still running, or is started again.",
                symptom="The group does not become Empty; the check names the remaining members.",
                then=f"Stop it. Otherwise a member of the next step gets {dangers.INCONSISTENT}, or makes a mixed "
                "group.",
            ),
            model.Risk(
                what="A member is killed instead of stopped.",
                symptom="The group becomes Empty only when the session has expired; records that the member had not "
                "committed are consumed again.",
                then="Wait. Nothing is lost.",
            ),
        ),
        rollback="Start the members again with their old configuration.",
    )


def _start(context: PathContext) -> model.Step:
    consumer = context.case.destination is model.Destination.CONSUMER
    assignor = classic_assignor(context)
    incremental = context.old_assignor != COOPERATIVE and (consumer or assignor == COOPERATIVE)
    rounds = in_rounds(context, context.members, context.size)
    start = (
        model.MemberStart(protocol=MemberProtocol.CONSUMER, remote_assignor=context.remote_assignor)
        if consumer
        else model.MemberStart(assignors=(assignor,))
    )
    return model.Step(
        id=START,
        title=f"Start all members with {'the consumer protocol' if consumer else assignor}",
        actions=(
            *new_release(context),
            *(callbacks_change(context.libraries) if incremental else ()),
            *(regex_change(context) if consumer else ()),
            *_start_actions(context),
        ),
        round_action=model.RoundAction.START,
        rounds=rounds.names,
        config=_lines(context, assignor, consumer=consumer),
        expect="The group forms again and continues from the committed offsets.",
        rollout=rounds.rollout(model.RoundAction.START, start) if rounds.ids else None,
        complete_when=(
            "The group is of type consumer and Stable, and all its members speak the consumer protocol."
            if consumer
            else f"The group is of type classic, Stable on {assignor}, with all its members."
        ),
        gate=_started(context, assignor, consumer=consumer),
        strays=_strays(context, assignor, consumer=consumer),
        dangers=_start_dangers(context, assignor, consumer=consumer),
        rollback="Stop all members, wait until the group is Empty, and start them with their old configuration.",
    )


def _stop_actions(context: PathContext) -> tuple[str, ...]:
    if context.connector is not None:
        return (
            f"Stop the connector: PUT /connectors/{context.connector}/stop at any worker (Connect 3.5 or later; before "
            "3.5, delete the connector). Its tasks stop, and their committed offsets stay.",
        )
    return (
        "Make sure that no orchestrator, supervisor or autoscaler starts the members again.",
        "Stop every member of the group, cleanly, so that its offsets are committed.",
    )


def _start_actions(context: PathContext) -> tuple[str, ...]:
    if context.connector is not None:
        return (
            f"Add the lines below to the connector's configuration: PUT /connectors/{context.connector}/config, with "
            "the whole configuration.",
            f"Start its tasks: PUT /connectors/{context.connector}/resume. GET /connectors/{context.connector}/status "
            "shows their state.",
        )
    return ("Start one member with the lines below and check its log.", "Start all the others.")


def _lines(context: PathContext, assignor: str, *, consumer: bool) -> tuple[str, ...]:
    if consumer:
        return configuration.consumer(context.libraries, context.old_assignor, context.offered)
    if context.case.destination is model.Destination.CLASSIC:
        return configuration.classic(context.libraries, [assignor])
    return configuration.assignors(context.libraries, [assignor])


def _started(context: PathContext, assignor: str, *, consumer: bool) -> tuple[model.Condition, ...]:
    everybody = model.MemberCount(at_least=max(context.size, 1))
    if consumer:
        speaking = model.Speaking(protocol=MemberProtocol.CONSUMER)
        return (model.TypeIs(type=GroupType.CONSUMER), STABLE, everybody, speaking)
    return (model.TypeIs(type=GroupType.CLASSIC), STABLE, everybody, model.ProtocolIs(protocol=assignor))


def _strays(context: PathContext, assignor: str, *, consumer: bool) -> tuple[model.Deviation, ...]:
    restart_from = START if context.is_empty else STOP
    if consumer:
        classic_left = model.Speaking(protocol=MemberProtocol.CLASSIC, at_least=1)
        return (
            model.Deviation(
                conditions=(model.TypeIs(type=GroupType.CONSUMER), STABLE, classic_left),
                message="The group has a member of the classic protocol: it was started with its old configuration. "
                "Restart that member.",
                back_to=START,
            ),
            model.Deviation(
                conditions=(model.TypeIs(type=GroupType.CLASSIC), STABLE, model.MemberCount(at_least=1)),
                message="The group has formed with the classic protocol: its members were started with their old "
                "configuration.",
                back_to=restart_from,
            ),
        )
    old = context.case.group.protocol
    was_other = old and old != assignor and context.case.group.type is GroupType.CLASSIC
    formed_as_it_was = model.Deviation(
        conditions=(model.TypeIs(type=GroupType.CLASSIC), STABLE, model.ProtocolIs(protocol=old or "")),
        message=f"The group has formed on {old} again: its members were started with their old configuration.",
        back_to=restart_from,
    )
    return (
        *((formed_as_it_was,) if was_other else ()),
        model.Deviation(
            conditions=(model.TypeIs(type=GroupType.CONSUMER), model.MemberCount(at_least=1)),
            message="The group has formed with the consumer protocol: a member was started with "
            "group.protocol=consumer.",
            back_to=restart_from,
        ),
    )


def _start_dangers(context: PathContext, assignor: str, *, consumer: bool) -> tuple[model.Risk, ...]:
    mixed = model.Risk(
        what="A member starts with its old configuration.",
        symptom="The check reports a member of the classic protocol."
        if consumer
        else f"Members with the old or with the new configuration cannot join: {dangers.INCONSISTENT}.",
        then="Stop that member and start it with the lines of this step.",
    )
    cooperative = not consumer and assignor == COOPERATIVE
    return (
        mixed,
        *((dangers.leftovers(context),) if consumer else ()),
        *(dangers.read_while_rebalancing(context) if cooperative else ()),
        *dangers.of_statics(context),
    )


def callbacks_change(libraries: Sequence[str]) -> tuple[str, ...]:
    """Code changes for an application with rebalance callbacks, as things to do."""
    asked: list[str] = []
    if "librdkafka" in libraries or not libraries:
        asked.append(
            "librdkafka, code: a rebalance callback now gets the added or revoked partitions, not the full set, and "
            "not once per rebalance. Replace assign() and unassign() in it by incremental_assign() and "
            "incremental_unassign() (confluent-kafka's KIP-848 migration guide). Start the release with this change "
            "in this step, not earlier."
        )
    if "java" in libraries or not libraries:
        asked.append(
            "Java, code: a ConsumerRebalanceListener now gets the added or revoked partitions, not the full set. "
            "onPartitionsLost is called for partitions that are already lost. commitSync may throw "
            "RebalanceInProgressException."
        )
    if "connect" in libraries:
        asked.append(
            "Connect, plugin: SinkTask.open() and close() now get the added or revoked partitions, not the full set. "
            "Make sure that the connector's version supports that (the HDFS sink did not: kafka-connect-hdfs pull "
            "711)."
        )
    if "franz-go" in libraries:
        asked.append(
            "franz-go, code: OnPartitionsAssigned and OnPartitionsRevoked now get the added or revoked partitions, "
            "not the full set."
        )
    return tuple(asked)


def regex_change(context: PathContext) -> tuple[str, ...]:
    """Changes for subscriptions by regex under the consumer protocol, as things to do."""
    if not context.has_regex:
        return ()
    asked: list[str] = []
    if "librdkafka" in context.libraries:
        asked.append(
            "librdkafka, regex: from now on the broker matches a topic that starts with ^, against the whole name and "
            "with another engine: ^t must become ^t.*. `kohort validate-regex PATTERN --from librdkafka` lists the "
            "topics that are lost or gained, and rewrites the pattern where it can. Start the release with the new "
            "pattern in this step, not earlier."
        )
    if "java" in context.libraries:
        asked.append(
            "Java, regex: subscribe(Pattern) still matches in the client; keep it for now. Before you change to "
            "subscribe(SubscriptionPattern), which the broker matches, run `kohort validate-regex PATTERN --from "
            "java`: it shows what changes."
        )
    return tuple(asked)
