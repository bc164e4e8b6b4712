"""DescribeGroups v0–v6: authorized operations v3, instance ids v4, errors for groups that are not there v6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.describe_groups import DescribedGroup, DescribeGroups, DescribeGroupsAnswer
from coordinator.server.apis.fields import Each, group_operations
from coordinator.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    described: DescribeGroupsAnswer = await exchange.ask(
        DescribeGroups(groups=tuple(dict.fromkeys(request.groups)), version=exchange.version)
    )
    by_name = {one.group: one for one in described.groups}
    operations = group_operations(request)
    return {"groups": Each(lambda name: _fields(by_name[name], operations), request.groups)}


def _fields(group: DescribedGroup, operations: int) -> Mapping[str, Any]:
    return {
        "error_code": group.error,
        "error_message": group.message,
        "group_id": group.group,
        "group_state": group.state,
        "protocol_type": group.protocol_type,
        "protocol_data": group.protocol,
        "members": [
            {
                "member_id": one.member,
                "group_instance_id": one.instance,
                "client_id": one.client_id,
                "client_host": one.host,
                "member_metadata": one.metadata,
                "member_assignment": one.assignment,
            }
            for one in group.members
        ],
        "authorized_operations": operations,
    }
