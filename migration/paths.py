"""The ways from one protocol to another, as steps.

Which way is right depends on the client library: `choose_path` decides, and each way is a function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coordinator.model import GroupState
from migration.clients import MemberClient
from migration.commands import describe_members, list_if
from migration.model import Destination, Step
from migration.rules import Case

COOPERATIVE_CLASS = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
_JAVA_CLASSES = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": COOPERATIVE_CLASS,
}


def choose_path(case: Case) -> tuple[Step, ...]:
    """The steps for a case that no rule blocks; none when the group has arrived."""
    if has_arrived(case):
        return ()
    if case.destination is Destination.CONSUMER:
        return _offline_to_consumer(case) if case.group.state is GroupState.EMPTY else _roll_to_consumer(case)
    libraries = [client.library for client in case.clients.values() if client.library]
    if case.group.state is GroupState.EMPTY:
        return (_start_cooperative(case),)
    if not all(library.two_bounces for library in libraries):
        return (_stop(case), _start_cooperative(case))
    if all("cooperative-sticky" in (member.protocols or ()) for member in case.group.members):
        # Java's default since 3.0 lists both already.
        return (_last_bounce(case, "The only bounce"),)
    return (_first_bounce(case), _last_bounce(case, "Second bounce"))


def has_arrived(case: Case) -> bool:
    """Whether the group is where it is to go."""
    if case.destination is Destination.CONSUMER:
        return case.group.type.value == "consumer" and all(
            member.protocol is not None and member.protocol.value == "consumer"
            for member in case.group.members
        )
    return case.group.protocol == "cooperative-sticky"


def _first_bounce(case: Case) -> Step:
    old = _old_assignor(case)
    return Step(
        title="First bounce: every member knows both assignors",
        actions=(
            "Restart the members one by one with cooperative-sticky first and the old assignor behind it.",
            "Wait for Stable after each restart.",
        ),
        config=_strategy_lines(case.clients, ["cooperative-sticky", old]),
        expect=f"The group stays on {old}: every rebalance still revokes everything, each time a member restarts.",
        commands=(_look(case),),
        complete_when="The group's protocol turns to cooperative-sticky: the last member has the new list.",
        danger="A member with cooperative-sticky alone is refused with INCONSISTENT_GROUP_PROTOCOL while any "
        "member does not know it.",
        way_back=f"Restart the changed members with {old} alone.",
    )


def _last_bounce(case: Case, title: str) -> Step:
    old = _old_assignor(case)
    return Step(
        title=f"{title}: only the cooperative assignor is left",
        actions=(
            "Restart the members one by one with cooperative-sticky alone.",
            "Wait for Stable after each restart.",
        ),
        config=_strategy_lines(case.clients, ["cooperative-sticky"]),
        expect="A restarted member keeps what it owns in later rebalances; the others still revoke everything.",
        commands=(_look(case), describe_members(case.group.id)),
        complete_when="Every member has been restarted and the group is Stable on cooperative-sticky.",
        danger=f"A forgotten member with the old list alone ({old}) can no longer join.",
        way_back="The same in reverse: both assignors first, then the old one alone.",
    )


def _old_assignor(case: Case) -> str:
    return case.group.protocol or "range"


def _look(case: Case) -> str:
    return list_if(case.group.id, "--protocol cooperative-sticky")


def _stop(case: Case) -> Step:
    return Step(
        title="Stop all members",
        actions=("Stop every member of the group, cleanly, so that offsets are committed.",),
        expect="Nothing is consumed until the next step.",
        commands=(f"kohort list --match '^{case.group.id}$' --state Empty",),
        complete_when="The group is Empty.",
        danger="A member that is left running keeps the old protocol, and new ones cannot join it "
        "(INCONSISTENT_GROUP_PROTOCOL).",
        way_back="Start the members again as they were.",
    )


def _start_cooperative(case: Case) -> Step:
    return Step(
        title="Start all members with the cooperative assignor",
        actions=("Start the members with cooperative-sticky alone.",),
        config=_strategy_lines(case.clients, ["cooperative-sticky"]),
        expect="The group forms anew and goes on from the committed offsets.",
        commands=(_look(case),),
        complete_when="The group is Stable on cooperative-sticky with all its members.",
        danger="Callbacks are incremental now: an application that calls assign() in them must call "
        "incremental_assign().",
        way_back="Stop all members and start them with the old assignor.",
    )


def _roll_to_consumer(case: Case) -> tuple[Step, ...]:
    group = case.group.id
    look = describe_members(group)
    return (
        Step(
            title="Convert the group with one member",
            actions=(
                "Choose one member. Stop it, wait for Stable, then start it with the consumer protocol.",
                "Wait for Stable.",
            ),
            config=_consumer_lines(case.clients, case.group.protocol),
            expect="The first member on the consumer protocol converts the group; classic members stay in it and "
            "rejoin once.",
            commands=(list_if(group, "--type consumer --state Stable"), look),
            complete_when="The group's type is consumer, it is Stable, and the new member is UPGRADED.",
            danger="A refusal is GROUP_ID_NOT_FOUND at the new member (fatal: the group id does not exist); the "
            "broker's log holds the reason, and the group is left as it was.",
            way_back="Stop the new member and start it as it was: with the last one gone the group is classic again.",
        ),
        Step(
            title="Roll the other members",
            actions=(
                "One by one: stop the classic member, start it with the consumer protocol, wait for Stable.",
            ),
            config=_consumer_lines(case.clients, case.group.protocol),
            expect="Members of both protocols side by side; partitions move a few at a time.",
            commands=(look,),
            complete_when="Every member is UPGRADED and the group is Stable.",
            danger="A static member's successor must not start before it has stopped.",
            way_back="Restart the members one by one as they were; wait for Stable after each.",
        ),
    )


def _offline_to_consumer(case: Case) -> tuple[Step, ...]:
    group = case.group.id
    return (
        Step(
            title="Start the members with the consumer protocol",
            actions=("The group is Empty: start its members with the consumer protocol.",),
            config=_consumer_lines(case.clients, case.group.protocol),
            expect="An empty group takes whatever protocol its first member speaks; offsets stay.",
            commands=(list_if(group, "--type consumer --state Stable"),),
            complete_when="The group's type is consumer and it is Stable.",
            danger="A member that starts with the classic protocol while others speak the new one mixes the group.",
            way_back="Stop all members and start them as they were.",
        ),
    )


def _libraries(clients: Mapping[str | None, MemberClient]) -> list[str]:
    return sorted({client.library.name for client in clients.values() if client.library}) or [
        "java",
        "librdkafka",
    ]


def _strategy_lines(clients: Mapping[str | None, MemberClient], assignors: Sequence[str]) -> tuple[str, ...]:
    lines: list[str] = []
    for library in _libraries(clients):
        names = (
            [_JAVA_CLASSES.get(name, name) for name in assignors] if library == "java" else list(assignors)
        )
        lines += [f"# {library}", f"partition.assignment.strategy={','.join(names)}"]
    return tuple(lines)


def _consumer_lines(clients: Mapping[str | None, MemberClient], protocol: str | None) -> tuple[str, ...]:
    assignor = "range" if protocol == "range" else "uniform"
    lines: list[str] = []
    for library in _libraries(clients):
        gone = ["partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms"]
        gone += ["group.protocol.type"] if library == "librdkafka" else []
        lines += [f"# {library}", "group.protocol=consumer", f"group.remote.assignor={assignor}"]
        lines += [f"# remove: {name}" for name in gone]
    return tuple(lines)
