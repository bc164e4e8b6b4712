"""`kohort members remove`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from cli.consent import ConsentOptions
from cli.options import OutputOptions, SourceOptions, option

_which = partial(option, rich_help_panel="Members")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberOptions:
    """The members to remove: all that any of the options names."""

    members: Annotated[list[str] | None, _which("--member", "The member with this id; repeatable.", "ID")] = (
        None
    )
    instances: Annotated[
        list[str] | None, _which("--instance", "The static member with this instance id; repeatable.", "ID")
    ] = None
    clients: Annotated[
        list[str] | None, _which("--client-id", "All members with this client id; repeatable.", "ID")
    ] = None
    hosts: Annotated[list[str] | None, _which("--host", "All members on this host; repeatable.", "HOST")] = (
        None
    )
    everyone: Annotated[bool, _which("--all", "All members of the group.")] = False


def remove(
    *,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The group to remove members from.")],
    members: MemberOptions,
    reason: Annotated[
        str | None,
        option("--reason", "Reason for the broker's log; at most 255 characters.", "TEXT"),
    ] = None,
    consent: ConsentOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Remove dead or stuck members from a group.

    Their partitions are reassigned at once; a member that is still running rejoins. Shows the members, their
    partitions and the effect; nothing is changed without --execute.

    \b
    Examples:
      kohort members remove billing --member billing-1 -b localhost:9092
    """
    from cli.changing import carry_out
    from cli.errors import UsageError
    from cli.selection import opened_for_change
    from cli.verbs.members.action import plan_members_removal
    from groups.removal import MemberChoice

    choice = MemberChoice(
        ids=tuple(members.members or ()),
        instances=tuple(members.instances or ()),
        clients=tuple(members.clients or ()),
        hosts=tuple(members.hosts or ()),
        everyone=members.everyone,
    )
    if choice.is_empty:
        raise UsageError(
            "one of --member ID, --instance ID, --client-id ID, --host HOST or --all is required"
        )
    if choice.everyone and choice.names:
        raise UsageError("--all cannot be used with --member, --instance, --client-id or --host")
    if reason is not None:
        from wire.client.groups import MOST_OF_REASON

        if len(reason) > MOST_OF_REASON:
            raise UsageError(f"--reason has {len(reason)} characters; Kafka takes at most {MOST_OF_REASON}")
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        change = plan_members_removal(groups, group, choice, reason=reason, writer=writer)
        carry_out(change, consent, output)
