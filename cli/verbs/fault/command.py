"""`kohort fault …`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions, option
from cli.verbs.fault.options import RuleOptions


class TopicChange(Enum):
    """A change of a topic."""

    CREATE = "create"
    GROW = "grow"
    RECREATE = "recreate"
    DELETE = "delete"


Group = Annotated[str, typer.Argument(metavar="GROUP", help="Group id.", show_default=False)]
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
    """Delay the handling of requests.

    \b
    Examples:
      kohort fault delay 2s --api Heartbeat --group billing -b localhost:9092
    """
    from cli.verbs.fault.action import add_rule, delay_of

    add_rule(source, rule, "delay", delay_of(time))


def error(
    *,
    code: Annotated[
        str,
        typer.Argument(
            metavar="ERROR", help="Kafka's name of the error, such as NOT_COORDINATOR.", show_default=False
        ),
    ],
    rule: RuleOptions,
    source: SourceOptions,
) -> None:
    """Answer requests with an error; they are not handled.

    \b
    Examples:
      kohort fault error NOT_COORDINATOR --group billing -b localhost:9092
    """
    from cli.verbs.fault.action import add_rule

    add_rule(source, rule, "error", code.upper())


def drop(
    *,
    close: Annotated[
        bool, option("--close", "Close the connection; otherwise it stays open without an answer.")
    ] = False,
    rule: RuleOptions,
    source: SourceOptions,
) -> None:
    """Drop requests: they are not handled or answered.

    \b
    Examples:
      kohort fault drop --api OffsetCommit --times 3 -b localhost:9092
    """
    from cli.verbs.fault.action import add_rule

    add_rule(source, rule, "drop", "connection" if close else "answer")


def expire(*, group: Group, member: Member, source: SourceOptions) -> None:
    """Expire the session of a member.

    \b
    Examples:
      kohort fault expire billing billing-1 -b localhost:9092
    """
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
    """Fence a member, as if another process took its place.

    A dynamic member is removed, as if an administrator removed it.

    \b
    Examples:
      kohort fault fence billing --instance billing-1 -b localhost:9092
    """
    from cli.errors import UsageError
    from cli.verbs.fault.action import do

    if (member is None) is (instance is None):
        raise UsageError("name the member, or its --instance")
    do(source, {"fence": member or instance, "group": group})


def disconnect(
    *,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="Client id.", show_default=False)],
    source: SourceOptions,
) -> None:
    """Close the connections of a client.

    \b
    Examples:
      kohort fault disconnect billing-1 -b localhost:9092
    """
    from cli.verbs.fault.action import do

    do(source, {"disconnect": client})


def move(
    *,
    group: Group,
    to: Annotated[
        int | None, option("--to", "Broker to move to; by default the next one.", "BROKER", min=0)
    ] = None,
    loading: Annotated[
        str, option("--loading", "How long the new coordinator loads: 2s, 500ms.", "TIME")
    ] = "0",
    source: SourceOptions,
) -> None:
    """Move the coordinator of a group to another broker.

    The old one answers NOT_COORDINATOR, the new one COORDINATOR_LOAD_IN_PROGRESS until it has loaded.

    \b
    Examples:
      kohort fault move billing --loading 2s -b localhost:9092
    """
    from cli.times import milliseconds
    from cli.verbs.fault.action import do

    do(
        source,
        {"coordinator": "move", "group": group, "to": to, "for": milliseconds(loading, "--loading") / 1000},
    )


def crash(
    *,
    group: Group,
    for_: Annotated[str, option("--for", "How long it is down: 3s, 500ms.", "TIME")] = "0",
    source: SourceOptions,
) -> None:
    """Crash and restart the coordinator of a group.

    \b
    Examples:
      kohort fault crash billing --for 3s -b localhost:9092
    """
    from cli.times import milliseconds
    from cli.verbs.fault.action import do

    do(source, {"coordinator": "crash", "group": group, "for": milliseconds(for_, "--for") / 1000})


def topic(
    *,
    change: Annotated[
        TopicChange,
        typer.Argument(metavar="CHANGE", help="create, grow, recreate or delete.", show_default=False),
    ],
    name: Annotated[str, typer.Argument(metavar="TOPIC", help="Topic.", show_default=False)],
    partitions: Annotated[
        int | None,
        typer.Argument(metavar="[PARTITIONS]", help="New number of partitions.", show_default=False, min=1),
    ] = None,
    source: SourceOptions,
) -> None:
    """Create, grow, recreate or delete a topic.

    A recreated topic has another topic id.

    \b
    Examples:
      kohort fault topic grow orders 12 -b localhost:9092
    """
    from cli.errors import UsageError
    from cli.verbs.fault.action import do

    if (partitions is None) is not (change is TopicChange.DELETE):
        needs = "has no number of partitions" if partitions else "needs the number of partitions"
        raise UsageError(f"topic {change.value} {needs}: kohort fault topic grow orders 12")
    key = "partitions" if change is TopicChange.GROW else change.value
    do(source, {"topic": name, key: True if partitions is None else partitions})


def list_rules(*, source: SourceOptions, output: OutputOptions) -> None:
    """List active faults.

    \b
    Examples:
      kohort fault list -b localhost:9092
    """
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
    """Clear active faults.

    \b
    Examples:
      kohort fault clear -b localhost:9092
    """
    from cli.verbs.fault.action import clear_rules

    clear_rules(source, ids or ())
