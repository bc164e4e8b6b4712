"""The assignors that members list, where their configuration files tell: a describe shows only the group's choice.

It decides how many bounces there are: Java's default since 3.0, range and cooperative-sticky, is the list that the
first of two bounces would bring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from groups.model import Group, GroupType, Member
from migration.client_config import ClientConfig
from migration.clients import MemberClient

JAVAS_DEFAULT = ("range", "cooperative-sticky")
"""ConsumerConfig of kafka-clients since 3.0."""
_SINCE = (3, 0)


def with_told_assignors(
    group: Group, clients: Mapping[str | None, MemberClient], configs: Sequence[ClientConfig]
) -> Group:
    """The group with its members' lists, where files tell them and the source did not."""
    if group.type is not GroupType.CLASSIC or not configs:
        return group
    members = (_told(group, member, clients.get(member.id), configs) for member in group.members)
    return replace(group, members=tuple(members))


def _told(
    group: Group, member: Member, client: MemberClient | None, configs: Sequence[ClientConfig]
) -> Member:
    if member.protocols is not None or client is None or client.library is None:
        return member
    listed = _listed(member, client, configs)
    # A list without the assignor in use is not what this member runs with.
    return replace(member, protocols=listed) if listed and group.protocol in listed else member


def _listed(member: Member, client: MemberClient, configs: Sequence[ClientConfig]) -> tuple[str, ...] | None:
    """The file of the member itself beats that of its library, and that the one of all."""
    names = (member.id, member.instance, member.client.id)
    library = client.library.name if client.library else None
    mine = [config for config in configs if config.member is not None and config.member in names]
    mine = mine or [config for config in configs if config.is_for_library and config.library == library]
    mine = mine or [
        config
        for config in configs
        if config.member is None and not config.is_for_library and config.library in (None, library)
    ]
    lists = {config.assignors or _default(client) for config in mine}
    return lists.pop() if len(lists) == 1 else None


def _default(client: MemberClient) -> tuple[str, ...] | None:
    """What a member lists whose file lists nothing."""
    if client.library is None or client.library.name != "java" or client.version is None:
        return None
    return JAVAS_DEFAULT if client.version >= _SINCE else None
