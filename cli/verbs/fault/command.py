"""`kohort fault …`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions, option
from cli.verbs.fault.options import RuleOptions


class TopicChange(Enum):
    """What happens to a topic."""

    CREATE = "create"
    GROW = "grow"
    RECREATE = "recreate"
    DELETE = "delete"


Group = Annotated[str, typer.Argument(metavar="GROUP", help="The group.", show_default=False)]
Member = Annotated[
    str,
    typer.Argument(
        metavar="MEMBER",
        help="Its member id, instance id, or client id (all members with it).",
        show_default=False,
    ),
]


def delay(
    *,
    time: Annotated[
        str, typer.Argument(metavar="TIME", help="How long: 2s, 500ms, or 500ms-2s.", show_default=False)
    ],
    rule: RuleOptions,
    source: SourceOptions,
) -> None:
    """Delay requests: they are handled so much later."""
    from cli.verbs.fault.action import add_rule, delay_of

    add_rule(source, rule, "delay", delay_of(time))


def error(
    *,
    code: Annotated[
        str,
        typer.Argument(metavar="ERROR", help="By Kafka's name, such as NOT_COORDINATOR.", show_default=False),
    ],
    rule: RuleOptions,
    source: SourceOptions,
) -> None:
    """Answer requests with an error; they are not handled."""
    from cli.verbs.fault.action import add_rule

    add_rule(source, rule, "error", code.upper())


def drop(
    *,
    close: Annotated[
        bool, option("--close", "Close the connection. Otherwise it stays open, and no answer comes.")
    ] = False,
    rule: RuleOptions,
    source: SourceOptions,
) -> None:
    """Leave requests without an answer; they are not handled."""
    from cli.verbs.fault.action import add_rule

    add_rule(source, rule, "drop", "connection" if close else "answer")


def expire(*, group: Group, member: Member, source: SourceOptions) -> None:
    """End the session of a member now."""
    from cli.verbs.fault.action import do

    do(source, {"expire": member, "group": group})


def fence(
    *,
    group: Group,
    member: Annotated[
        str | None,
        typer.Argument(
            metavar="[MEMBER]",
            help="Its member id, instance id, or client id (all members with it).",
            show_default=False,
        ),
    ] = None,
    instance: Annotated[str | None, option("--instance", "A static member by its instance id.", "ID")] = None,
    source: SourceOptions,
) -> None:
    """Fence a member: another process takes a static one's place.

    A dynamic member is removed, as by an administrator.
    """
    from cli.errors import UsageError
    from cli.verbs.fault.action import do

    if (member is None) is (instance is None):
        raise UsageError("name the member, or its --instance")
    do(source, {"fence": member or instance, "group": group})


def disconnect(
    *,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="The client id.", show_default=False)],
    source: SourceOptions,
) -> None:
    """Close the connections of a client."""
    from cli.verbs.fault.action import do

    do(source, {"disconnect": client})


def move(
    *,
    group: Group,
    to: Annotated[
        int | None, option("--to", "The broker that it moves to; otherwise the next one.", "BROKER", min=0)
    ] = None,
    loading: Annotated[
        str, option("--loading", "How long the new coordinator loads: 2s, 500ms.", "TIME")
    ] = "0",
    source: SourceOptions,
) -> None:
    """Move the coordinator of a group to another broker.

    The old one answers NOT_COORDINATOR, the new one COORDINATOR_LOAD_IN_PROGRESS until it has loaded.
    """
    from cli.verbs.fault.action import do, seconds

    do(source, {"coordinator": "move", "group": group, "to": to, "for": seconds(loading)})


def crash(
    *,
    group: Group,
    for_: Annotated[str, option("--for", "How long it is away: 3s, 500ms.", "TIME")] = "0",
    source: SourceOptions,
) -> None:
    """Crash the broker that coordinates a group, and start it again."""
    from cli.verbs.fault.action import do, seconds

    do(source, {"coordinator": "crash", "group": group, "for": seconds(for_)})


def topic(
    *,
    change: Annotated[TopicChange, typer.Argument(help="What happens to it.", show_default=False)],
    name: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic.", show_default=False)],
    partitions: Annotated[
        int | None,
        typer.Argument(metavar="[PARTITIONS]", help="How many it has then.", show_default=False, min=1),
    ] = None,
    source: SourceOptions,
) -> None:
    """Create, grow, recreate (with another id) or delete a topic."""
    from cli.errors import UsageError
    from cli.verbs.fault.action import do

    if (partitions is None) is not (change is TopicChange.DELETE):
        needs = "has no number of partitions" if partitions else "needs the number of partitions"
        raise UsageError(f"topic {change.value} {needs}: kohort fault topic grow orders 12")
    key = "partitions" if change is TopicChange.GROW else change.value
    do(source, {"topic": name, key: True if partitions is None else partitions})


def list_rules(*, source: SourceOptions, output: OutputOptions) -> None:
    """List the faults in force."""
    from cli.output import emit
    from cli.verbs.fault.action import listed_rules

    emit(listed_rules(source), output)


def clear(
    *,
    ids: Annotated[
        list[int] | None,
        typer.Argument(metavar="[ID]…", help="Only these faults; otherwise all.", show_default=False),
    ] = None,
    source: SourceOptions,
) -> None:
    """Clear faults that are in force."""
    from cli.verbs.fault.action import clear_rules

    clear_rules(source, ids or ())
