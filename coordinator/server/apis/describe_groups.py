"""DescribeGroups v0–v6: authorized operations v3, instance ids v4, errors for groups that are not there v6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.describe_groups import Described, DescribeGroups, DescribeGroupsAnswer
from coordinator.server.apis.fields import Each, group_operations
from coordinator.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    described: DescribeGroupsAnswer = await exchange.ask(
        DescribeGroups(groups=tuple(dict.fromkeys(request.groups)), version=exchange.version)
    )
    by_name = {one.id: one for one in described.groups}
    operations = group_operations(request)
    return {"groups": Each(lambda name: _fields(by_name[name], operations), request.groups)}


def _fields(described: Described, operations: int) -> Mapping[str, Any]:
    group = described.group
    return {
        "error_code": described.error,
        "error_message": described.message,
        "group_id": described.id,
        "group_state": "" if group is None else group.state.value,
        "protocol_type": "" if group is None else group.protocol_type or "",
        "protocol_data": "" if group is None else group.protocol or "",
        "members": [
            {
                "member_id": one.member,
                "group_instance_id": one.instance,
                "client_id": one.client_id,
                "client_host": one.host,
                "member_metadata": one.subscription,
                "member_assignment": one.assignment,
            }
            for one in described.members
        ],
        "authorized_operations": operations,
    }
