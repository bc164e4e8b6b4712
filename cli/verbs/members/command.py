"""`kohort members remove`."""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated

import typer

from cli.consent import ClusterConsent
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
        str | None, option("--reason", "Reason for the broker's log; at most 255 characters.", "TEXT")
    ] = None,
    consent: ClusterConsent,
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
    from cli.verbs.members.action import remove_members

    remove_members(group, asdict(members), reason, consent, source, output)
